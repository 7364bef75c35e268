"""Offsets, lines and columns of one Python text, as `ast` counts them."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from swa_lint.geometry import Location
from swa_lint.project.text import Lines

_JOINED = re.compile(r"[ \t\f]*;(?:[ \t\f]|\\(?:\r\n?|\n))*")
_REST_OF_LINE = re.compile(r"[ \t\f]*;?[ \t\f]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")


@dataclass(frozen=True)
class Edit:
    """Put `text` in the place of the characters from `start` to `end`."""

    start: int
    end: int
    text: str


def parse(text: str) -> ast.Module | None:
    """The syntax tree of `text`, or None where it is not Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


class PythonLines(Lines):
    """The lines of a Python text: places as `ast` counts them, and where statements may be cut."""

    def ast_offset(self, line: int, byte_column: int) -> int:
        """The offset of a position of `ast`: lines from 1, columns from 0 in UTF-8 bytes."""
        start = self.offset(line, 1)
        prefix = self.text[start : start + byte_column]
        return start + (byte_column if prefix.isascii() else len(prefix.encode()[:byte_column].decode()))

    def span(self, where: Location) -> tuple[int, int] | None:
        """Start and end offset of a location, or None where the text has no such place."""
        try:
            start = self.offset(where.line, where.column)
            end = self.offset(where.end_line, where.end_column)
        except ValueError:
            return None
        return (start, end) if start <= end else None

    def location(self, path: str, start: int, end: int) -> Location:
        """The location in the file `path` of a range of offsets."""
        return Location(path, *self.position(start), *self.position(end))

    def line_start(self, offset: int) -> int:
        """Where the line of `offset` begins."""
        return offset - self.position(offset)[1] + 1

    def line_end(self, offset: int) -> int:
        """Where the line after that of `offset` begins, or the end of the text."""
        line = self.position(offset)[0]
        return self.offset(line + 1, 1) if line < len(self) else len(self.text)

    def code_end(self, offset: int) -> int | None:
        """The end of the line of `offset` (before its newline) where only a comment follows, else None."""
        match = _REST_OF_LINE.match(self.text, offset)
        return match.end() if match else None

    def is_joined(self, end: int, start: int) -> bool:
        """Whether a semicolon alone stands between a statement's end and the next one's start."""
        return _JOINED.fullmatch(self.text, end, start) is not None
