"""Edits to files: from remedies to ranges, from ranges to bytes, and onto the disk without a moment of half a file."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swa_lint.finding import Drop, Finding, Replace
from swa_lint.project.kinds import is_python
from swa_lint.project.text import Decoded, Lines, Undecodable, decode

Span = tuple[int, int, str]
MEANWHILE = "the file has changed meanwhile"


class Documents:
    """The texts that edits are for, decoded once each; `content` gives a file's bytes, or None where it has none."""

    def __init__(self, content: Callable[[str], bytes | None]) -> None:
        self._content = content
        self._decoded: dict[str, Decoded | None] = {}
        self._lines: dict[str, Lines] = {}

    def decoded(self, path: str) -> Decoded | None:
        """The file's text and encoding, or None where it cannot be read."""
        if path not in self._decoded:
            data = self._content(path)
            try:
                self._decoded[path] = None if data is None else decode(data, python=is_python(path, data))
            except Undecodable:
                self._decoded[path] = None
        return self._decoded[path]

    def lines(self, path: str) -> Lines | None:
        """The file's lines, or None where it cannot be read."""
        if path not in self._lines:
            decoded = self.decoded(path)
            if decoded is None:
                return None
            self._lines[path] = Lines(decoded.text)
        return self._lines[path]

    def edits(self, finding: Finding) -> tuple[Replace, ...]:
        """The edits that carry out a finding's remedy; empty when there are none, or they cannot be made."""
        changes = finding.remedy.changes if finding.remedy else ()
        edits = [change for change in changes if isinstance(change, Replace)]
        drops: dict[str, list[Drop]] = defaultdict(list)
        for change in changes:
            if isinstance(change, Drop):
                drops[change.where.path].append(change)
        for path, group in drops.items():
            decoded = self.decoded(path)
            made = [] if decoded is None else _drop_edits(path, decoded.text, group)
            if not made:
                return ()
            edits += made
        return tuple(edits) if all(self.span(edit) is not None for edit in edits) else ()

    def span(self, edit: Replace) -> Span | None:
        """The offsets of an edit in its file's text, or None where the text has no such place."""
        lines = self.lines(edit.where.path)
        if lines is None:
            return None
        try:
            start = lines.offset(edit.where.line, edit.where.column)
            end = lines.offset(edit.where.end_line, edit.where.end_column)
        except ValueError:
            return None
        return (start, end, edit.text) if start <= end else None

    def apply(self, edits: Iterable[Replace]) -> dict[str, bytes]:
        """The new content of each file that `edits`, which must not overlap, change.

        New lines end as the file's do. Raises UnicodeEncodeError where a file's encoding lacks a character.
        """
        spans: dict[str, set[Span]] = defaultdict(set)
        for edit in edits:
            span = self.span(edit)
            assert span is not None
            spans[edit.where.path].add(span)
        changed = {}
        for path, group in spans.items():
            decoded = self.decoded(path)
            assert decoded is not None
            changed[path] = decoded.encode(_replaced(decoded.text, sorted(group)))
        return changed


def compatible(span: Span, others: Iterable[Span]) -> bool:
    """Whether an edit can be made together with others: it touches none of them, or is one of them."""
    start, end, _ = span
    for other in others:
        if other == span:
            continue
        if start == other[0] or (start < other[1] and other[0] < end):
            return False
    return True


def _replaced(text: str, spans: Sequence[Span]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    parts, at = [], 0
    for start, end, new in spans:
        parts += [text[at:start], new.replace("\r\n", "\n").replace("\n", newline)]
        at = end
    return "".join(parts) + text[at:]


def _drop_edits(path: str, text: str, drops: Sequence[Drop]) -> list[Replace]:
    from swa_lint.fixes.python import drop_edits

    return drop_edits(path, text, drops)


@dataclass(frozen=True)
class Content:
    """What a file is to hold, and what it holds now (None: it does not exist)."""

    data: bytes
    before: bytes | None


def write_all(root: Path, contents: Mapping[str, Content]) -> dict[str, str]:
    """Write files below `root`, all of them or none; returns why not, by file, and nothing where all are written.

    A file is replaced as a whole, its mode kept, and a symbolic link's target is written.
    """
    staged: list[_Staged] = []
    failed: dict[str, str] = {}
    try:
        for path, content in contents.items():
            with _failure_noted(path, failed):
                staged.append(_Staged(root, path, content))
                staged[-1].fill()
        for file in staged:
            with _failure_noted(file.path, failed):
                file.check()
        for file in staged if not failed else ():
            with _failure_noted(file.path, failed):
                os.replace(file.temporary, file.target)
    finally:
        for file in staged:
            with contextlib.suppress(OSError):
                os.unlink(file.temporary)
    return failed


class _CannotWrite(Exception):
    """A file that must not be written; the message says why."""


@contextlib.contextmanager
def _failure_noted(path: str, failed: dict[str, str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        failed[path] = f"{path}: not changed: {error.strerror or error}"
    except _CannotWrite as error:
        failed[path] = f"{path}: not changed: {error}"


class _Staged:
    """A file's new content, complete beside the file."""

    def __init__(self, root: Path, path: str, content: Content) -> None:
        self.path = path
        self.content = content
        self.target = Path(os.path.realpath(root / path))
        self._mode = _new_mode() if content.before is None else stat.S_IMODE(self.target.stat().st_mode)
        if content.before is not None and not os.access(self.target, os.W_OK):  # a rename would not ask
            raise _CannotWrite("the file is read-only")
        self._handle, self.temporary = tempfile.mkstemp(dir=self.target.parent, prefix=f".{self.target.name}.")

    def fill(self) -> None:
        with open(self._handle, "wb") as stream:
            stream.write(self.content.data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(self.temporary, self._mode)

    def check(self) -> None:
        """Raise unless the file is what it was when it was read."""
        now = self.target.read_bytes() if self.content.before is not None or self.target.exists() else None
        if now != self.content.before:
            raise _CannotWrite(MEANWHILE)


def _new_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
