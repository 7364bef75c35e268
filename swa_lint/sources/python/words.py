"""The words of a launch, from abstract values: their text, their value, and the places that a finding can sit at."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from swa_lint.geometry import Const, Location, Unknown, Value
from swa_lint.sources.facts import Hop, Insertion, Setting
from swa_lint.sources.launch import Arg, Inline
from swa_lint.sources.python.literals import cut, place_of
from swa_lint.sources.python.modules import Span
from swa_lint.sources.python.strings import Strings
from swa_lint.sources.python.values import Expr, Lit, Piece, Val

ValueOf = Callable[[Val], Value]

_AFTER = re.compile(r"(?:\s|#[^\n]*(?:\n|$))*(?P<next>.?)", re.DOTALL)
_ITEM = re.compile(r"\s*(?P<quote>['\"])(?P<lead>-*)[\w-]+(?P=quote)\s*:\s*(?P<text>['\"])?")


@dataclass(frozen=True)
class Word:
    """An argv word: `source` is the value that its setting gets, the word's own or the one after ``=``."""

    arg: Arg
    val: Val
    source: Val
    pieces: tuple[Piece, ...]


def hops(val: Val) -> tuple[Hop, ...]:
    """The places that a value passed."""
    return tuple(Hop(span.location, message) for span, message in val.hops)


def text_at(span: Span | None, fallback: str = "") -> str:
    """The source text of a range."""
    return fallback if span is None else span.module.text_of(span)


def word_of(run: Strings, val: Val, value_of: ValueOf, nowhere: Location) -> Word:
    """The word that a value is; `nowhere` stands for a place that is not known."""
    where = _where(run, val) or nowhere
    if isinstance(val.core, Expr) and val.core.text.startswith("*"):
        return Word(Arg(val.core.text, Unknown(val.core.text), where, splice=True), val, val, ())
    pieces = run.pieces(val)
    text = "".join(piece.text for piece in pieces)
    flag, equals, tail = text.partition("=")
    bound = val.where.location if val.given and val.where is not None else None
    if not (equals and flag.startswith("--")):
        written = text_at(val.expr if val.given else val.where, text)
        return Word(Arg(text, value_of(val), where, written, None, bound, hops(val)), val, val, pieces)
    rest = cut(pieces, len(flag) + 1, len(text))
    only = rest[0].value if len(rest) == 1 else None
    if only is None:
        known = all(piece.value is None for piece in rest)
        place = place_of(rest[0]) if len(rest) == 1 else None
        inline = Inline(Const(tail) if known else Unknown(tail), place, tail)
        return Word(Arg(text, value_of(val), where, None, inline, bound, hops(val)), val, val, pieces)
    place = place_of(rest[0]) or (only.expr.location if only.expr is not None else None)
    inline = Inline(value_of(only), place, _written(rest[0], only, tail))
    if only.given and only.where is not None:
        bound = only.where.location
    return Word(Arg(text, value_of(val), where, None, inline, bound, hops(only)), val, only, pieces)


def _written(piece: Piece, val: Val, fallback: str) -> str:
    """The text of a formatted value as it stands in its f-string, or where it came from."""
    place = place_of(piece)
    if place is None or piece.where is None:
        return text_at(val.expr, fallback)
    line = piece.where.module.lines[place.line - 1]
    return line[place.column - 1 : place.end_column - 1] if place.line == place.end_line else fallback


def _where(run: Strings, val: Val) -> Location | None:
    if val.where is not None:
        return val.where.location
    places = [place_of(piece) for piece in val.pieces]
    first, last = (places[0], places[-1]) if places else (None, None)
    if first is not None and last is not None and first.path == last.path:
        if (last.end_line, last.end_column) < (first.line, first.column):
            return first
        return Location(first.path, first.line, first.column, last.end_line, last.end_column)
    return val.expr.location if val.expr is not None else None


def refined(setting: Setting, words: Sequence[Word]) -> tuple[Setting, Val | None]:
    """A setting with the exact place of its value, and the value that it came from."""
    for word in words:
        if word.arg.bound is not None and word.arg.bound == setting.where:
            val = word.source
            where = val.expr.location if val.expr is not None else None
            # An entry of a table can go; an argument that a function takes cannot.
            cut_at = setting.where if val.given < 0 else None
            return replace(
                setting, value_where=where, text=text_at(val.expr, setting.text), removal=cut_at, via=hops(val)
            ), val
        inline = word.arg.inline.where if word.arg.inline is not None else word.arg.where
        if word.arg.bound is None and inline is not None and inline == setting.value_where:
            return setting, word.source
    return setting, None


def removal(words: Sequence[Word], flag: Arg, value: Arg | None) -> Location | None:
    """What goes with a flag: its items of a list, or its part of a command line with the blank before it."""
    by_arg = {id(word.arg): word for word in words}
    first, last = by_arg[id(flag)], by_arg[id(flag if value is None else value)]
    start, end = first.arg.where, last.arg.where
    if first.val.where is not None and last.val.where is not None:
        return Location(start.path, start.line, start.column, end.end_line, end.end_column)
    if not first.pieces or not last.pieces:
        return None
    head, tail = first.pieces[0], last.pieces[-1]
    if head.value is not None or tail.value is not None or head.where is None or head.where != tail.where:
        return None
    lead = 1 if head.start else 0
    return place_of(Piece(" " * (tail.start + len(tail.text) - head.start + lead), head.where, head.start - lead))


def insertions(words: Sequence[Word], *, passed: bool) -> list[Insertion]:
    """Where one more flag can go in, the best place first; `passed`: the words are arguments of one call."""
    found = []
    for index in range(len(words) - 1, -1, -1):
        following = words[index + 1].arg.text if index + 1 < len(words) else "--"
        before = words[index - 1] if index else words[index]
        if following.startswith("--") or words[index + 1].arg.splice:
            point = _insertion(words[index], before, passed=passed)
            if point is not None:
                found.append(point)
    return found


def _insertion(word: Word, before: Word, *, passed: bool) -> Insertion | None:
    val = word.val
    if val.where is None:
        place = place_of(word.pieces[-1]) if word.pieces else None
        last = word.pieces[-1] if word.pieces else None
        if place is None or last is None or last.where is None or last.value is not None:
            return None
        return Insertion(_end(place), " {flag} {value}")
    source = _after(val.where)
    if val.given < 0:
        item = _ITEM.match(text_at(val.where))
        if item is None or source not in (",", "}"):
            return None
        quote, value = item["quote"], '"{value}"' if item["text"] else "{value}"
        return Insertion(_end(val.where.location), f", {quote}{item['lead']}page-size{quote}: {value}")
    many = passed or (val.given > 0 and before.val.given == val.given and before.arg.text.startswith("--"))
    if val.given > 0 and not many:
        return None
    if source == "]" or (source == "," and text_at(val.where)[:1] != "*") or (source == ")" and many):
        return Insertion(_end(val.where.location), ', "{flag}", "{value}"')
    return None


def _end(place: Location) -> Location:
    return Location(place.path, place.end_line, place.end_column, place.end_line, place.end_column)


def _after(span: Span) -> str:
    """The next character of code after a range."""
    lines = span.module.lines[span.end_line - 1 : span.end_line + 3]
    rest = "\n".join([lines[0].encode()[span.end_offset :].decode(errors="ignore"), *lines[1:]])
    match = _AFTER.match(rest)
    return match["next"] if match is not None else ""


def environment(name: str, val: Val, value: Value) -> Setting | None:
    """A setting that an environment variable makes, given its field's `name`."""
    if val.where is None:
        return None
    where = val.where.location
    expr = val.expr.location if val.expr is not None else None
    if isinstance(val.core, Lit) and val.core.value is None:
        return None
    return Setting(name, value, where, text_at(val.expr), expr, where if val.given <= 0 else None, hops(val))
