"""What the other files of a project say about one file, out of the cache that the last check left; it is only read."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from swa_lint.project.cache import Cache, cache_file, default_folder, unpack
from swa_lint.project.discovery import relative_path
from swa_lint.project.read import digest
from swa_lint.project.text import Undecodable, decode
from swa_lint.sglang.own_words import Words
from swa_lint.sources.facts import FileFacts

# An editor waits for this: the cache of some 10,000 files is read in 50 ms.
_MAX_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True)
class Said:
    """Facts of other files that name places in one file, which they call `path`; paths are relative to `root`."""

    root: Path
    path: str
    facts: tuple[FileFacts, ...]


@dataclass(frozen=True)
class _Index:
    cache: Cache
    by_place: dict[str, list[FileFacts]]


def said_elsewhere(file: Path, text: str, words: Words, folder: Path | None = None) -> Said | None:
    """What a cache of a folder above `file` holds about it; None where there is none, or `text` is not what was checked.

    Facts count only while every file that they come from is as it was.
    """
    kept = folder or default_folder()
    root = next((place for place in file.parents if cache_file(place, kept).is_file()), None)
    if root is None:
        return None
    stat = cache_file(root, kept).stat()
    if stat.st_size > _MAX_BYTES:
        return None
    index = _index(root, kept, stat.st_mtime_ns, tuple(sorted(words.items())))
    path = relative_path(os.fspath(file), root)
    if path not in index.by_place or (data := _saved(file, text)) is None:
        return None
    return Said(root, path, tuple(_holding(index, path, digest(data))))


def _saved(file: Path, text: str) -> bytes | None:
    """The bytes of a file whose text is `text` but for its line ends; None for another, as while it is being edited."""
    try:
        data = file.read_bytes()
        saved = decode(data, python=True).text
    except (OSError, Undecodable):
        return None
    return data if saved.splitlines() == text.removeprefix("\ufeff").splitlines() else None


@lru_cache(maxsize=4)
def _index(root: Path, folder: Path, changed: int, words: tuple[tuple[object, object], ...]) -> _Index:
    cache = Cache(root, folder, dict(words))  # type: ignore[arg-type]
    by_place: dict[str, list[FileFacts]] = defaultdict(list)
    for record in map(unpack, cache.entries()):
        if record is None:
            continue
        for path in set(_places(record.facts)) - {record.facts.path}:
            by_place[path].append(record.facts)
    return _Index(cache, by_place)


def _places(facts: FileFacts) -> Iterator[str]:
    """The files in which findings of these facts may sit."""
    for pair in facts.pairs:
        yield from (fact.where.path for fact in (pair.draft, pair.target) if fact is not None)
    for launch in facts.launches:
        yield from (setting.where.path for setting in launch.settings)


def _holding(index: _Index, path: str, key: bytes) -> Iterator[FileFacts]:
    """The facts about a file with the digest `key` that still hold."""
    index.cache.look_again()
    for facts in index.by_place[path]:
        entry, unchanged = index.cache.lookup(facts.path)
        if entry is None or (path, key) not in entry.depends:
            continue
        if unchanged or index.cache.digest_of(facts.path) == entry.digest:
            yield facts
