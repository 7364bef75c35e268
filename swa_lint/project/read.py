"""One file, read once: its facts and its noqa comments. This is what a worker process does."""

from __future__ import annotations

import hashlib
import os
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from swa_lint.project.kinds import Kind, kind_of_script, may_matter, read_facts
from swa_lint.project.noqa import Noqa, Suppression, mentions_noqa, suppressions
from swa_lint.project.syntax import problem_at, python_problem
from swa_lint.project.text import Undecodable, decode
from swa_lint.sources.facts import FileFacts, Problem
from swa_lint.sources.python import should_parse

MAX_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True)
class SourceFile:
    """A file to read: its path relative to the working directory (with ``/``), and its kind."""

    path: str
    kind: Kind


@dataclass(frozen=True)
class FileRecord:
    """What a run knows about a file."""

    facts: FileFacts
    suppressions: tuple[Suppression, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the file says nothing at all, as most files do."""
        return self == FileRecord(FileFacts(self.facts.path))


def digest(data: bytes) -> bytes:
    """The hash that stands for a file's content."""
    return hashlib.sha256(data).digest()


def read_file(root: str, source: SourceFile) -> tuple[bytes, FileRecord]:
    """A file's digest and record. A file that cannot be read becomes a problem of its record, never an exception."""
    full = os.path.join(root, source.path)
    try:
        size = os.stat(full).st_size
        if size > MAX_BYTES:
            limit = MAX_BYTES // 2**20
            return b"", _failed(source.path, 1, f"skipped: {size // 2**20} MB, more than {limit} MB", skipped=True)
        with open(full, "rb") as stream:
            data = stream.read()
    except OSError as error:
        return b"", _failed(source.path, 1, f"it cannot be read: {error.strerror or error}")
    return digest(data), read_data(root, source, data)


def read_data(root: str, source: SourceFile, data: bytes) -> FileRecord:
    """The record of a file with the content `data`."""
    path, kind = source.path, source.kind
    if kind is Kind.SCRIPT:
        found = kind_of_script(data)
        if found is None:
            return FileRecord(FileFacts(path))
        kind = found
    python = kind is Kind.PYTHON
    matters, noqa = may_matter(kind, data), mentions_noqa(data)
    if python and not matters and should_parse(data) and (problem := python_problem(path, data)):
        return FileRecord(FileFacts(path, problems=(problem,)))
    if not matters and noqa is not Noqa.OURS:
        return FileRecord(FileFacts(path))
    if not python and b"\0" in data:
        return _failed(path, 1, "skipped: a binary file", skipped=True)
    try:
        text = decode(data, python=python).text
    except Undecodable as error:
        return _failed(path, error.line, f"it cannot be decoded: {error}") if matters else FileRecord(FileFacts(path))
    facts = _facts(kind, path, text, Path(root)) if matters else FileFacts(path)
    if python and facts.problems and (problem := python_problem(path, data)):
        return FileRecord(FileFacts(path, problems=(problem,)))
    wanted = noqa is Noqa.OURS or (noqa is Noqa.SOME and facts != FileFacts(path))
    return FileRecord(facts, suppressions(path, text, kind) if wanted else ())


def read_suppressions(source: SourceFile, data: bytes) -> tuple[Suppression, ...]:
    """The noqa comments of a file that said nothing else, and in which something is found all the same."""
    try:
        text = decode(data, python=source.kind is Kind.PYTHON).text
    except Undecodable:
        return ()
    return suppressions(source.path, text, source.kind) if mentions_noqa(data) is not Noqa.NONE else ()


def _facts(kind: Kind, path: str, text: str, root: Path) -> FileFacts:
    try:
        return read_facts(kind, path, text, root)
    except Exception as error:  # one file must not end the run
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        return _failed(path, 1, f"it cannot be analysed, a bug of swa-lint: {type(error).__name__} at {place}").facts


def _failed(path: str, line: int, message: str, *, skipped: bool = False) -> FileRecord:
    return FileRecord(FileFacts(path, problems=(problem_at(path, line, message, skipped=skipped),)))


def crashed(path: str) -> FileRecord:
    """The record of a file that took its worker process down."""
    problems: tuple[Problem, ...] = (problem_at(path, 1, "it cannot be analysed: the process that read it died"),)
    return FileRecord(FileFacts(path, problems=problems))


def read_chunk(
    root: str, chunk: Sequence[tuple[SourceFile, bytes | None]]
) -> list[tuple[bytes, FileRecord | None] | None]:
    """The digests and records of several files, in order; None for a record that says nothing.

    Beside each file stands the digest it had before; where it still has that, the whole result is None.
    """
    results: list[tuple[bytes, FileRecord | None] | None] = []
    for source, known in chunk:
        if known is not None and _digest_of(os.path.join(root, source.path)) == known:
            results.append(None)
            continue
        key, record = read_file(root, source)
        results.append((key, None if record.is_empty else record))
    return results


def _digest_of(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return digest(stream.read())
    except OSError:
        return None
