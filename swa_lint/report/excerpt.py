"""Source lines with a range underlined, as terminals show them."""

from __future__ import annotations

import unicodedata

from swa_lint.geometry import Location
from swa_lint.project.text import Lines

_TAB = "    "


def visible(text: str) -> str:
    """Text with tabs as spaces, and characters that would move the cursor or change colours as question marks."""
    return "".join(char if char.isprintable() else "?" for char in text.replace("\t", _TAB))


def underlined(lines: Lines, where: Location) -> tuple[str, str]:
    """The first line of a range, and the marks to print beneath it."""
    line = lines.line(where.line)
    last = where.end_column - 1 if where.end_line == where.line else len(line.rstrip())
    before, marked = line[: where.column - 1], line[where.column - 1 : last]
    return visible(line.rstrip()), " " * _width(visible(before)) + "^" * max(1, _width(visible(marked)))


def _width(text: str) -> int:
    """The number of terminal cells that a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
