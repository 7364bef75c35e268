"""Edits to files: from remedies to ranges, from ranges to bytes, and onto the disk without a moment of half a file."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from swa_lint.finding import Drop, Finding, Replace
from swa_lint.project.kinds import is_python
from swa_lint.project.text import Decoded, Lines, Undecodable, decode

Span = tuple[int, int, str]


class CannotWrite(Exception):
    """A file that cannot be written; the message names it and says why."""


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


def write_atomically(path: Path, data: bytes, expected: bytes) -> None:
    """Replace a file's content, all or nothing, if it still is `expected`; a symbolic link's target is written.

    The file's mode is kept. Raises CannotWrite.
    """
    target = Path(os.path.realpath(path))
    temporary = None
    try:
        mode = target.stat().st_mode
        if not os.access(target, os.W_OK):  # the rename below would not ask
            raise CannotWrite(f"{path}: not fixed: the file is read-only")
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with open(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, stat.S_IMODE(mode))
        if target.read_bytes() != expected:
            raise CannotWrite(f"{path}: not fixed: the file has changed meanwhile")
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise CannotWrite(f"{path}: not fixed: {error.strerror or error}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
