"""From character offsets in a text to lines and columns in the file that the text stands in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from swa_lint.geometry import Location


class Positions:
    """Maps offsets in `text`; `origins` gives line and column (from 1) of each of its lines, for a text cut out of a file.

    Without `origins` the text is the whole file. Lines end at ``\\n`` only, as editors and parsers count them.
    """

    def __init__(self, path: str, text: str, origins: Sequence[tuple[int, int]] | None = None) -> None:
        self.path = path
        self._starts = [0]
        for index, char in enumerate(text):
            if char == "\n":
                self._starts.append(index + 1)
        self._origins = origins

    def point(self, offset: int) -> tuple[int, int]:
        """Line and column of the character at `offset`, from 1."""
        row = bisect_right(self._starts, offset) - 1
        inside = offset - self._starts[row]
        if self._origins is None:
            return row + 1, inside + 1
        line, column = self._origins[min(row, len(self._origins) - 1)]
        return line + max(0, row - len(self._origins) + 1), column + inside

    def where(self, start: int, end: int) -> Location:
        """The range of `text[start:end]` in the file."""
        return Location(self.path, *self.point(start), *self.point(end))
