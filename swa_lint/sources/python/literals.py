"""Where the characters of a string literal stand in the source: quotes, escapes, implicit joins and f-string fields."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from swa_lint.geometry import Location
from swa_lint.sources.python.modules import Span
from swa_lint.sources.python.values import Piece

_BETWEEN = re.compile(r"(?:[ \t\f\r\n\\()]|#[^\n]*)+")
_OPEN = re.compile(r"(?P<prefix>[a-zA-Z]{0,2})(?P<quote>'''|\"\"\"|'|\")")
_ESCAPE = re.compile(
    r"\\(?:\r?\n|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|[\\'\"abfnrtv])"
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass
class Layout:
    """Offsets in a literal's text: of its characters (fields left out), and of the expression of each field."""

    characters: list[tuple[int, int]] = field(default_factory=list)
    fields: list[tuple[int, int]] = field(default_factory=list)


@lru_cache(maxsize=512)
def layout(text: str) -> Layout | None:
    """The layout of a string literal's source text, or None where it is not understood."""
    found = Layout()
    at = 0
    while at < len(text):
        between = _BETWEEN.match(text, at)
        if between is not None:
            at = between.end()
            continue
        opening = _OPEN.match(text, at)
        end = _literal(text, opening, found) if opening is not None else None
        if end is None:
            return None
        at = end
    return found


def _literal(text: str, opening: re.Match[str], found: Layout) -> int | None:
    """Add one literal; returns where it ends."""
    quote, prefix = opening["quote"], opening["prefix"].lower()
    at = opening.end()
    while at < len(text):
        if text.startswith(quote, at):
            return at + len(quote)
        if "f" in prefix and text[at] in "{}":
            doubled = text[at : at + 2] in ("{{", "}}")
            end = at + 2 if doubled else _field(text, at, found)
            if end is None:
                return None
            if doubled:
                found.characters.append((at, end))
            at = end
            continue
        escape = _ESCAPE.match(text, at) if text[at] == "\\" and "r" not in prefix else None
        end = escape.end() if escape is not None else at + 1
        if escape is None or not escape.group().endswith("\n"):
            found.characters.append((at, end))
        at = end
    return None


def _field(text: str, start: int, found: Layout) -> int | None:
    """Add the expression of one ``{...}``; returns where it ends."""
    closing, quote, stop = ["}"], "", None
    for at in range(start + 1, len(text)):
        char = text[at]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"" and stop is None:
            quote = char
        elif char in _PAIRS:
            closing.append(_PAIRS[char])
        elif char == closing[-1]:
            closing.pop()
            if not closing:
                found.fields.append((start + 1, at if stop is None else stop))
                return at + 1
        elif stop is None and len(closing) == 1 and (char == ":" or (char == "!" and text[at + 1 : at + 2] != "=")):
            stop = at
    return None


def place(where: Span, start: int, end: int) -> Location:
    """The range between two offsets of the text of `where`."""
    whole = where.location
    lines = where.module.text_of(where)

    def point(offset: int) -> tuple[int, int]:
        row = lines.count("\n", 0, offset)
        return whole.line + row, offset - lines.rfind("\n", 0, offset) if row else whole.column + offset

    return Location(whole.path, *point(start), *point(end))


def place_of(piece: Piece, start: int = 0, end: int | None = None) -> Location | None:
    """Where `piece.text[start:end]` stands; the whole field for a value of an f-string; None for a value from elsewhere."""
    if piece.where is None:
        return None
    found = layout(piece.where.module.text_of(piece.where))
    if piece.value is not None:
        if found is None or piece.start >= len(found.fields):
            return piece.where.location
        return place(piece.where, *found.fields[piece.start])
    first, last = piece.start + start, piece.start + (len(piece.text) if end is None else end)
    if found is None or last > len(found.characters) or first >= last:
        return piece.where.location
    return place(piece.where, found.characters[first][0], found.characters[last - 1][1])


def cut(pieces: tuple[Piece, ...], start: int, end: int) -> tuple[Piece, ...]:
    """The part of a string between two offsets; a value is taken whole or not at all."""
    found, at = [], 0
    for piece in pieces:
        left, right = max(start - at, 0), min(end - at, len(piece.text))
        at += len(piece.text)
        if left < right:
            whole = piece.value is not None
            found.append(piece if whole else Piece(piece.text[left:right], piece.where, piece.start + left))
    return tuple(found)
