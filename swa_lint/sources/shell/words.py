"""What a shell word becomes: pieces with values and places, fields after word splitting, argv words for a launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from swa_lint.geometry import Const, Derived, Location, Unknown, Value
from swa_lint.sources.facts import Hop
from swa_lint.sources.launch import Arg, Inline
from swa_lint.sources.shell.source import Source


@dataclass(frozen=True)
class Origin:
    """The assignment that gave a variable its value: the whole of it, its right side, and that as written."""

    where: Location
    value_where: Location
    written: str


@dataclass(frozen=True)
class Piece:
    """Part of a word. `value` is None for literal text; else `text` is what stands in the source.

    `start` and `end` are offsets in `source`. `split`: blanks in `text` separate words. `many`: stands for any number
    of words. `via` is as in `Arg`, `bound` the argument of a call it came by.
    """

    text: str
    source: Source = field(repr=False)
    start: int
    end: int
    value: Value | None = None
    split: bool = False
    many: bool = False
    via: tuple[Hop, ...] = ()
    bound: Origin | None = None
    origin: Origin | None = None

    @property
    def exact(self) -> bool:
        return self.end - self.start == len(self.text)


Scalar = tuple[Piece, ...]


@dataclass(frozen=True)
class Field:
    """One word after expansion and splitting; `start`..`end` is its range in `source`, quotes included."""

    pieces: Scalar
    source: Source = field(repr=False)
    start: int
    end: int

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def written(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def where(self) -> Location:
        return self.source.where(self.start, self.end)

    @property
    def origin(self) -> Origin | None:
        return self.pieces[0].origin if len(self.pieces) == 1 else None


def value_of(pieces: Scalar) -> Value:
    """The value that `pieces` make together."""
    if all(piece.value is None for piece in pieces):
        return Const("".join(piece.text for piece in pieces))
    if len(pieces) == 1:
        return pieces[0].value or Const(pieces[0].text)
    if any(isinstance(piece.value, Unknown) for piece in pieces):
        return Unknown("".join(piece.text for piece in pieces))
    return Derived("".join(piece.text if piece.value is None else f"${{{piece.value}}}" for piece in pieces))


def literal_of(pieces: Scalar) -> str | None:
    """The text of `pieces` when all of it is known."""
    return "".join(piece.text for piece in pieces) if all(piece.value is None for piece in pieces) else None


def split_fields(pieces: Iterable[Piece], whole: tuple[Source, int, int], *, keep_empty: bool) -> Iterator[Field]:
    """Split pieces at blanks where the shell would; a word that stays one takes the range of `whole`."""
    fields: list[list[Piece]] = [[]]
    for piece in pieces:
        if not piece.split or piece.value is not None:
            fields[-1].append(piece)
            continue
        for index, part in enumerate(_blank_parts(piece)):
            if index:
                fields.append([])
            if part.text:
                fields[-1].append(part)
    found = [tuple(parts) for parts in fields if parts]
    source, start, end = whole
    quoted_value = keep_empty and found and not found[0][0].text.startswith("-")
    if len(found) <= 1 and (quoted_value or not (found and _elsewhere(found[0], whole))):
        if found or keep_empty:
            yield Field(found[0] if found else (), source, start, end)
        return
    for parts in found:
        first, last = parts[0], parts[-1]
        if last.source is first.source and last.end >= first.start:
            yield Field(parts, first.source, first.start, last.end)
        else:
            yield Field(parts, first.source, first.start, first.end)


def _elsewhere(pieces: Scalar, whole: tuple[Source, int, int]) -> bool:
    """Whether a single word stands outside the range of its use: the text of a variable that holds flags."""
    source, start, end = whole
    return all(p.source is not source or p.start < start or p.end > end for p in pieces)


def _blank_parts(piece: Piece) -> Iterator[Piece]:
    position = 0
    text = piece.text
    while True:
        stop = next((i for i in range(position, len(text)) if text[i] in " \t\n"), len(text))
        if piece.exact:
            yield replace(piece, text=text[position:stop], start=piece.start + position, end=piece.start + stop)
        else:
            yield replace(piece, text=text[position:stop])
        if stop == len(text):
            return
        position = stop + 1


def argument(word: Field) -> Arg:
    """The argv word of a field."""
    via = tuple(hop for piece in word.pieces for hop in piece.via)
    given = next((piece.bound for piece in word.pieces if piece.bound), None)
    inline = _inline(word)
    if inline is not None and given is not None:
        inline = Inline(inline.value, given.value_where, given.written)
    return Arg(
        text=word.text,
        value=value_of(word.pieces),
        where=word.where,
        written=word.written if given is None else given.written,
        inline=inline,
        bound=None if given is None else given.where,
        via=tuple(dict.fromkeys(via)),
        splice=any(piece.many for piece in word.pieces),
    )


def _inline(word: Field) -> Inline | None:
    """The VALUE of ``--flag=VALUE`` with its place; None when the word has no such form."""
    if not word.text.startswith("--") or "=" not in word.text:
        return None
    for piece in word.pieces:
        head, equals, tail = piece.text.partition("=")
        if piece.value is None and equals:
            break
    else:
        return None
    rest = word.pieces[word.pieces.index(piece) + 1 :]
    if tail:
        rest = (replace(piece, text=tail, start=piece.end - len(tail)), *rest)
    value = value_of(rest)
    if not piece.exact:
        return Inline(value, None, "".join(p.text for p in rest))
    start = piece.start + len(head) + 1
    end = word.end - 1 if word.written[:1] in ("'", '"') and word.written[-1:] == word.written[:1] else word.end
    if end < start or piece.source is not word.source:
        return Inline(value, None, "".join(p.text for p in rest))
    return Inline(value, word.source.where(start, end), word.source.text[start:end])
