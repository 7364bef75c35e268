"""What the last run read, by content: one file for each working directory, so that a warm run loads it at once.

An entry holds while the file, and every other file that was read to understand it, has the same content. A file whose
size, times and inode are those of the last run, and were already old then, is taken to have the same content.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from swa_lint import __version__
from swa_lint.project.read import FileRecord, digest
from swa_lint.sglang.own_words import Words

_RACY_NS = 2_000_000_000

Stamp = tuple[int, int, int, int]


@dataclass(frozen=True)
class Entry:
    """One file: its digest, its stamp where that can be trusted, its record (pickled; None where it says nothing)."""

    digest: bytes
    stamp: Stamp | None
    record: bytes | None
    depends: tuple[tuple[str, bytes], ...] = ()


class Cache:
    """The entries of one working directory, read with a code base's own `words`; `folder` None keeps nothing on disk."""

    def __init__(self, root: Path, folder: Path | None, words: Words | None = None) -> None:
        self.root = root
        self._file = None if folder is None else cache_file(root, folder)
        self._tool = _tool(words or {})
        self._entries = _load(self._file, self._tool)
        self._digests: dict[str, bytes] = {}
        self._changed = False
        self._now = time.time_ns()

    def entries(self) -> Iterable[Entry]:
        """The entries, whether or not they still hold."""
        return self._entries.values()

    def lookup(self, path: str) -> tuple[Entry | None, bool]:
        """The entry of a file, where its dependencies still hold, and whether the file itself is known unchanged."""
        entry = self._entries.get(path)
        if entry is None or any(self.digest_of(other) != key for other, key in entry.depends):
            return None, False
        return entry, entry.stamp is not None and entry.stamp == _stamp(self._full(path))

    def store(self, path: str, key: bytes, record: FileRecord | None) -> None:
        """Keep what was read; `record` None where the file says nothing."""
        if not key:  # it could not be read: look again next time
            self._changed |= self._entries.pop(path, None) is not None
            return
        depends = () if record is None else tuple((other, self.digest_of(other)) for other in record.facts.depends)
        data = None if record is None else pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
        self._entries[path] = Entry(key, self._trusted_stamp(path), data, depends)
        self._changed = True

    def refresh(self, path: str, entry: Entry) -> None:
        """Note that a file whose stamp had changed has its old content."""
        stamp = self._trusted_stamp(path)
        if stamp != entry.stamp:
            self._entries[path] = Entry(entry.digest, stamp, entry.record, entry.depends)
            self._changed = True

    def save(self) -> None:
        """Write the entries, all or nothing; a cache that cannot be written is only slower."""
        if self._file is None or not self._changed:
            return
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._file.parent, prefix=self._file.stem)
            try:
                with open(handle, "wb") as stream:
                    pickle.dump((self._tool, self._live()), stream, pickle.HIGHEST_PROTOCOL)
                os.replace(name, self._file)
            except BaseException:
                os.unlink(name)
                raise

    def _live(self) -> dict[str, Entry]:
        return {path: entry for path, entry in self._entries.items() if os.path.lexists(self._full(path))}

    def _full(self, path: str) -> str:
        return os.path.join(self.root, path)

    def _trusted_stamp(self, path: str) -> Stamp | None:
        """The stamp, unless the file changed so lately that it could change again within the clock's grain."""
        stamp = _stamp(self._full(path))
        return stamp if stamp and max(stamp[0], stamp[1]) < self._now - _RACY_NS else None

    def look_again(self) -> None:
        """Forget what other files were seen to hold: they may have changed since."""
        self._digests.clear()

    def digest_of(self, path: str) -> bytes:
        """The digest of a file's content as it is now; empty when it is not there."""
        known = self._digests.get(path)
        if known is None:
            known = self._digests[path] = self._compute(path)
        return known

    def _compute(self, path: str) -> bytes:
        entry = self._entries.get(path)
        if entry is not None and entry.stamp is not None and entry.stamp == _stamp(self._full(path)):
            return entry.digest
        try:
            return digest(Path(self._full(path)).read_bytes())
        except OSError:
            return b""


def unpack(entry: Entry) -> FileRecord | None:
    """The record of an entry, or None where the file says nothing."""
    if entry.record is None:
        return None
    record = pickle.loads(entry.record)
    assert isinstance(record, FileRecord)
    return record


def cache_file(root: Path, folder: Path) -> Path:
    """The file in `folder` that keeps what was read of the working directory `root`."""
    return folder / f"{hashlib.sha256(os.fsencode(root)).hexdigest()[:32]}.pickle"


def default_folder() -> Path:
    """Where caches lie when no folder is named."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("swa-lint"))


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _load(file: Path | None, tool: str) -> dict[str, Entry]:
    if file is None:
        return {}
    try:
        with open(file, "rb") as stream:
            made_by, entries = pickle.load(stream)
    except Exception:  # not there, damaged, or written by a version whose classes are gone: start afresh
        return {}
    return dict(entries) if made_by == tool and isinstance(entries, dict) else {}


def _tool(words: Words) -> str:
    """What read the files: the program's version and sources, the Python whose grammar it used, and `words`."""
    package = Path(__file__).resolve().parent.parent
    sources = sorted((str(file), os.stat(file).st_mtime_ns) for file in package.rglob("*.py"))
    key = repr((__version__, sys.version_info[:3], sources, sorted(words.items())))
    return hashlib.sha256(key.encode()).hexdigest()
