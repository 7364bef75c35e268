"""Places in a text, between our counting (lines and columns from 1, in characters) and the protocol's.

The protocol counts from 0, and columns in the units that client and server agreed on: UTF-16 unless both know better.
Its lines end as ours do, at ``\\n``, ``\\r\\n`` and ``\\r``. An editor may keep a byte order mark in its text; ours never do.
"""

from __future__ import annotations

from lsprotocol import types
from pygls.workspace import PositionCodec

from swa_lint.geometry import Location
from swa_lint.project.text import Lines

_BOM = "\ufeff"


class Positions:
    """Converts places in one text as an editor holds it."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self._lines = Lines(text)
        self._codec = codec
        self._mark = text.startswith(_BOM)

    def position(self, line: int, column: int) -> types.Position:
        """The protocol's position of a line and column; one past a line's end is the line's end."""
        before = self._lines.line(line)[: column - 1 + self._marks(line)]
        return types.Position(max(line - 1, 0), self._codec.client_num_units(before))

    def range(self, where: Location) -> types.Range:
        """The protocol's range of a location."""
        return types.Range(
            self.position(where.line, where.column),
            self.position(where.end_line, where.end_column),
        )

    def place(self, position: types.Position) -> tuple[int, int]:
        """Line and column of a protocol's position; inside of a character is before it, past a line's end is its end."""
        line = position.line + 1
        text = self._lines.line(line)
        column, units = 0, 0
        for char in text:
            units += self._codec.client_num_units(char)
            if units > position.character:
                break
            column += 1
        return line, max(1, column + 1 - self._marks(line))

    def _marks(self, line: int) -> int:
        """The characters before column 1 that are no part of our text."""
        return 1 if self._mark and line == 1 else 0
