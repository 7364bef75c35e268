"""Trees of YAML, JSON and TOML documents: plain nodes that know where they stand in their file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from swa_lint.geometry import Location
from swa_lint.sources.positions import Positions

_NEWLINE = re.compile(r"\r?\n")


class Source:
    """A text with its path; turns offsets into locations."""

    def __init__(self, path: str, text: str, parsed: str | None = None, assign: str = ": ") -> None:
        """`parsed` is what the parser saw: as long as `text`, template expressions covered up.

        `assign` is what stands between a key and its value.
        """
        self.path = path
        self.assign = assign
        self.text = text
        self.parsed = text if parsed is None else parsed

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self.path, self.text)

    def location(self, start: int, end: int) -> Location:
        """The range of the offsets `start` (inclusive) to `end` (exclusive)."""
        return self._positions.where(start, max(start, end))

    def line_start(self, offset: int) -> int:
        """The offset at which the line of `offset` begins."""
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """The offset at which the line of `offset` ends, its line break excluded."""
        found = _NEWLINE.search(self.text, offset)
        return found.start() if found else len(self.text)

    def next_line(self, offset: int) -> int:
        """The offset at which the line after that of `offset` begins (the text's end when there is none)."""
        found = _NEWLINE.search(self.text, offset)
        return found.end() if found else len(self.text)


@dataclass(eq=False)
class Scalar:
    """A scalar; `start` and `end` cover it with quotes or block header, `style` says how it is written.

    Styles: ``plain``, ``'``, ``"``, ``|`` and ``>`` as in YAML, ``\"\"\"`` and ``'''`` as in TOML.
    `spans` are the source ranges of the value's characters, or None where they cannot be told.
    """

    source: Source
    start: int
    end: int
    value: str
    style: str = "plain"

    @cached_property
    def spans(self) -> list[tuple[int, int]] | None:
        return character_spans(self.source.parsed, self.start, self.end, self.value, self.style)

    def range(self, start: int, end: int) -> tuple[int, int]:
        """The source offsets of ``value[start:end]``; the whole scalar where they cannot be told."""
        if self.spans is None or not self.value:
            return self.start, self.end
        if start >= end:
            at = self.spans[start][0] if start < len(self.spans) else self.spans[-1][1]
            return at, at
        return self.spans[start][0], self.spans[end - 1][1]

    @property
    def inner(self) -> Location:
        """The value's own text, without quotes."""
        return self.source.location(*self.range(0, len(self.value)))

    @property
    def where(self) -> Location:
        return self.source.location(self.start, self.end)


@dataclass(eq=False)
class Items:
    """A sequence; `flow`: in brackets."""

    source: Source
    start: int
    end: int
    flow: bool = False
    items: list[Node] = field(default_factory=list)

    @property
    def where(self) -> Location:
        return self.source.location(self.start, self.end)


@dataclass(eq=False)
class Mapping:
    """A mapping with merged keys already in place; `flow`: in braces."""

    source: Source
    start: int
    end: int
    flow: bool = False
    entries: list[tuple[Scalar, Node]] = field(default_factory=list)

    @property
    def where(self) -> Location:
        return self.source.location(self.start, self.end)

    def get(self, *names: str) -> Node | None:
        """The value of the last key that is one of `names`."""
        return next((value for key, value in reversed(self.entries) if key.value in names), None)

    def mapping(self, *names: str) -> Mapping | None:
        """The value of a key when it is a mapping."""
        value = self.get(*names)
        return value if isinstance(value, Mapping) else None

    def text(self, *names: str) -> str:
        """The value of a key when it is a scalar, else an empty string."""
        value = self.get(*names)
        return value.value if isinstance(value, Scalar) else ""


Node: TypeAlias = "Scalar | Items | Mapping"


@dataclass(frozen=True)
class _Unit:
    char: str
    start: int
    end: int


def character_spans(text: str, start: int, end: int, value: str, style: str) -> list[tuple[int, int]] | None:
    """The source range of each character of a scalar's `value`; None when value and source do not fit together.

    Folding changes white space only, so runs of other characters are matched one by one and the white space between
    them is laid onto what stands there in the source.
    """
    units = list(_units(text, start, end, style))
    found: list[tuple[int, int]] = []
    runs = _runs(units)
    at = 0
    pos = 0
    while pos < len(value):
        blank = value[pos].isspace()
        stop = pos
        while stop < len(value) and value[stop].isspace() == blank:
            stop += 1
        run = runs[at] if at < len(runs) else []
        if blank:
            matching = bool(run) and run[0].char.isspace()
            edge = run[0].start if run else (units[-1].end if units else start)
            found += _blank_spans(value[pos:stop], run if matching else [], edge)
            at += matching
        else:
            if run and run[0].char.isspace():
                at += 1
                run = runs[at] if at < len(runs) else []
            if "".join(unit.char for unit in run) != value[pos:stop]:
                return None
            found += [(unit.start, unit.end) for unit in run]
            at += 1
        pos = stop
    return found


def _blank_spans(value: str, run: Sequence[_Unit], edge: int) -> list[tuple[int, int]]:
    """White space of a value on that of the source: up to the last line break from the left, the rest from the right."""
    if not run:
        return [(edge, edge)] * len(value)
    if len(run) == len(value):
        return [(unit.start, unit.end) for unit in run]
    head = value.rfind("\n") + 1
    breaks = [unit for unit in run if unit.char in "\r\n"] or list(run)
    found = []
    for index in range(head):
        unit = breaks[min(index, len(breaks) - 1)]
        found.append((unit.start, unit.end))
    tail = len(value) - head
    for index in range(tail):
        unit = run[max(0, len(run) - tail + index)] if head else run[min(index, len(run) - 1)]
        found.append((unit.start, unit.end))
    if not head and found:
        found[-1] = (found[-1][0], run[-1].end)
    return found


def _runs(units: Sequence[_Unit]) -> list[list[_Unit]]:
    runs: list[list[_Unit]] = []
    for unit in units:
        if runs and runs[-1][0].char.isspace() == unit.char.isspace():
            runs[-1].append(unit)
        else:
            runs.append([unit])
    return runs


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}
_ESCAPES |= {"N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"}
_HEX = {"x": 2, "u": 4, "U": 8}


def _units(text: str, start: int, end: int, style: str) -> Iterator[_Unit]:
    """The characters that a scalar's source stands for, before folding."""
    if style in ("|", ">"):
        break_ = _NEWLINE.search(text, start, end)
        start = break_.end() if break_ else end
    elif style != "plain":
        start, end = start + len(style), end - len(style)
    pos = start
    while pos < end:
        char = text[pos]
        if style == "'" and text.startswith("''", pos) and pos + 1 < end:
            yield _Unit("'", pos, pos + 2)
            pos += 2
        elif char == "\\" and style in ('"', '"""') and pos + 1 < end:
            unit = _escape(text, pos, end)
            if unit.char:
                yield unit
            pos = unit.end
        else:
            yield _Unit(char, pos, pos + 1)
            pos += 1


def _escape(text: str, pos: int, end: int) -> _Unit:
    """The escape at `pos`; its character is empty for an escaped line break."""
    char = text[pos + 1]
    if char in "\r\n":
        stop = pos + 1
        while stop < end and text[stop].isspace():
            stop += 1
        return _Unit("", pos, stop)
    if char in _HEX:
        stop = pos + 2 + _HEX[char]
        code = _hex(text[pos + 2 : stop])
        if 0xD800 <= code < 0xDC00 and text.startswith("\\u", stop):
            low = _hex(text[stop + 2 : stop + 6])
            return _Unit(chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) & 0x1FFFFF), pos, stop + 6)
        return _Unit(chr(code) if code < 0x110000 else "?", pos, min(stop, end))
    return _Unit(_ESCAPES.get(char, char), pos, pos + 2)


def _hex(digits: str) -> int:
    try:
        return int(digits, 16)
    except ValueError:
        return 0x110000
