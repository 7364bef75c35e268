"""Argument lists and command strings of a document: their words, how one is taken out, how one is put in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from swa_lint.geometry import Const, Knob, Location, Unknown, Value
from swa_lint.sources.facts import Hop, Insertion
from swa_lint.sources.launch import Arg, Inline
from swa_lint.sources.tree import Items, Node, Scalar

# `$(X)` as Kubernetes expands it, `${X}`, `${X:-default}` and `$X` as compose and shells do.
_REFERENCE = re.compile(r"\$\((\w+)\)|\$\{(\w+)(?::?[-=]([^}]*))?\}|\$(\w+)")
_FLAG_IN_ITEM = re.compile(r"--[\w-]+(\s+\S|=.*\s--\w)")
_SPACE = re.compile(r"(?:\s|\\\r?\n)+")


@dataclass(frozen=True)
class Variable:
    """An environment variable of a container: its value and where that is written; `removal` takes it out."""

    name: str
    value: str
    scalar: Scalar
    where: Location
    removal: Location | None = None


Resolve = Callable[[str], "Value | None"]


@dataclass
class Names:
    """What the references in an argv mean: variables, and expressions of a template by their own rule."""

    variables: dict[str, Variable] = field(default_factory=dict)
    template: Resolve | None = None

    def value(self, text: str) -> tuple[str, Value, tuple[Hop, ...]]:
        """`text` with what is known filled in, its value, and the places that it came through."""
        if self.template is not None and (value := self.template(text)) is not None:
            return text, value, ()
        found = _REFERENCE.fullmatch(text)
        if found:
            name = found[1] or found[2] or found[4]
            if name not in self.variables:
                default = Const(found[3]) if found[3] else None
                return text, Knob(name, default), ()
        missing = False
        hops: list[Hop] = []

        def put(match: re.Match[str]) -> str:
            nonlocal missing
            variable = self.variables.get(match[1] or match[2] or match[4])
            if variable is None:
                missing = True
                return match[0]
            hops.append(Hop(variable.where, f"{variable.name} is set here"))
            return variable.value

        filled = _REFERENCE.sub(put, text) if "$" in text else text
        return filled, Unknown(text) if missing else Const(filled), tuple(hops)


@dataclass(frozen=True)
class Word:
    """One argv word with its place: the node that holds it and the offsets of its text there.

    `owner` is the list that it is an item of; `index` its item there; `part` its range in the scalar's value where the
    scalar holds several words.
    """

    arg: Arg
    scalar: Scalar
    owner: Items | None
    index: int
    part: tuple[int, int] | None = None


def words_of(node: Node, names: Names) -> list[Word]:
    """The words of a list (an item that holds a flag and its value is split) or of a command string."""
    if isinstance(node, Scalar):
        return _string_words(node, names, None, 0)
    if not isinstance(node, Items):
        return []
    found: list[Word] = []
    for index, item in enumerate(node.items):
        if isinstance(item, Items):
            found += words_of(item, names) if all(isinstance(inner, Scalar) for inner in item.items) else []
        elif isinstance(item, Scalar):
            if _FLAG_IN_ITEM.match(item.value):
                found += _string_words(item, names, node, index)
            else:
                found.append(Word(_arg(item, 0, len(item.value), item.value, names), item, node, index))
    return found


def _string_words(scalar: Scalar, names: Names, owner: Items | None, index: int) -> list[Word]:
    pieces = split_words(scalar.value)
    return [Word(_arg(scalar, *piece, names), scalar, owner, index, piece[:2]) for piece in pieces]


def _arg(scalar: Scalar, start: int, end: int, text: str, names: Names) -> Arg:
    """The word in ``scalar.value[start:end]`` (quotes of a command string included); `text` is the word unquoted."""
    raw = scalar.value[start:end]
    inner = _unquoted(raw, text)
    where = _location(scalar, start + inner, end - inner)
    filled, value, via = names.value(text)
    inline = None
    flag, equals, tail = text.partition("=")
    if equals and flag.startswith("--"):
        tail_filled, tail_value, via = names.value(tail)
        at = raw.find("=") + 1
        quotes = _unquoted(raw[at:], tail) if not inner else 0
        spot = _location(scalar, start + at + quotes, end - quotes - inner)
        inline = Inline(tail_value, spot, _written(scalar, start + at + quotes, end - quotes - inner))
        filled = f"{flag}={tail_filled}"
    return Arg(filled, value, where, _written(scalar, start + inner, end - inner), inline, via=via)


def _unquoted(raw: str, text: str) -> int:
    """How many characters of quoting stand on either side of `text` in `raw`."""
    return 1 if len(raw) >= 2 and raw[0] in "\"'" and raw[0] == raw[-1] and raw[1:-1] == text else 0


def _location(scalar: Scalar, start: int, end: int) -> Location:
    return scalar.source.location(*scalar.range(start, end))


def _written(scalar: Scalar, start: int, end: int) -> str:
    first, last = scalar.range(start, end)
    return scalar.source.text[first:last]


def split_words(text: str) -> list[tuple[int, int, str]]:
    """The words of a command string as (start, end, word); quotes and backslashes as in a shell, nothing expanded."""
    found: list[tuple[int, int, str]] = []
    pos = 0
    while True:
        if blank := _SPACE.match(text, pos):
            pos = blank.end()
        if pos >= len(text):
            return found
        start = pos
        word = ""
        while pos < len(text) and not _SPACE.match(text, pos):
            char = text[pos]
            if char in "\"'":
                stop = _closing(text, pos)
                inside = text[pos + 1 : stop]
                word += re.sub(r'\\(["\\$`])', r"\1", inside) if char == '"' else inside
                pos = stop + 1
            elif char == "\\" and pos + 1 < len(text):
                word += text[pos + 1]
                pos += 2
            else:
                word += char
                pos += 1
        pos = min(pos, len(text))
        found.append((start, pos, word))


def _closing(text: str, pos: int) -> int:
    """Where the quote that opens at `pos` closes; the text's end when it does not."""
    quote = text[pos]
    at = pos + 1
    while at < len(text) and text[at] != quote:
        at += 2 if quote == '"' and text[at] == "\\" else 1
    return min(at, len(text))


class Removals:
    """The ranges that take words out of their lists or strings again."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._at = {id(word.arg): position for position, word in enumerate(words)}
        self._words = words

    def __call__(self, flag: Arg, value: Arg | None) -> Location | None:
        first = self._words[self._at[id(flag)]]
        last = first if value is None else self._words[self._at[id(value)]]
        if first.owner is not last.owner:
            return None
        if first.scalar is last.scalar and first.part and last.part:
            return self._from_string(first, last)
        if first.owner is None or first.part or last.part:
            return None
        return item_removal(first.owner, first.index, last.index)

    def _from_string(self, first: Word, last: Word) -> Location | None:
        assert first.part is not None and last.part is not None
        scalar = first.scalar
        at, until = self._words.index(first), self._words.index(last)
        others = [w for w in self._words if w.scalar is scalar and w is not first and w is not last]
        if not others and first.owner is not None:
            return item_removal(first.owner, first.index, first.index)
        if scalar.spans is None:
            return None
        if at and self._words[at - 1].scalar is scalar and (before := self._words[at - 1].part):
            return _location(scalar, before[1], last.part[1])
        if until + 1 < len(self._words) and self._words[until + 1].scalar is scalar:
            after = self._words[until + 1].part
            return _location(scalar, first.part[0], after[0]) if after else None
        return None


def item_removal(items: Items, first: int, last: int) -> Location | None:
    """The range whose deletion takes the items `first` to `last` out; None where it would leave no list or no lines."""
    source = items.source
    nodes = items.items
    if any(node.source is not source or not items.start <= node.start <= items.end for node in nodes):
        return None
    if len(nodes) == last - first + 1:
        return source.location(nodes[first].start, nodes[last].end) if items.flow else None
    if items.flow:
        if first:
            return source.location(nodes[first - 1].end, nodes[last].end)
        return source.location(nodes[first].start, nodes[last + 1].start)
    return line_removal(nodes[first], nodes[last], re.compile(r"[ ]*-[ ]+"))


def line_removal(first: Node, last: Node, lead: re.Pattern[str]) -> Location | None:
    """Whole lines from `first` to `last`; None where another node shares them (`lead`: what may stand before)."""
    source = first.source
    start, end = source.line_start(first.start), source.line_end(last.end)
    rest = source.text[last.end : end].strip()
    if not lead.fullmatch(source.text[start : first.start]) or (rest and not rest.startswith("#")):
        return None
    stop = source.next_line(end)
    if stop == end and start:
        before = source.text[:start].removesuffix("\n").removesuffix("\r")
        return source.location(len(before), stop)
    return source.location(start, stop)


def insertion(words: Sequence[Word], part: Node | None) -> Insertion | None:
    """How one more flag is added behind the last word of `part`, in the style of the words around it."""
    if isinstance(part, Scalar) and part.spans:
        tail = len(part.value.rstrip())
        at = part.range(tail, tail)[0] if not tail else part.range(0, tail)[1]
        return Insertion(part.source.location(at, at), " {flag} {value}")
    if not isinstance(part, Items) or not part.items:
        return None
    last = part.items[-1]
    if last.source is not part.source or not part.start <= last.start <= part.end or not isinstance(last, Scalar):
        return None
    joined = _joined(words)
    return _flow_insertion(part, last, joined) if part.flow else _block_insertion(part, last, joined)


def _joined(words: Sequence[Word]) -> bool:
    """Whether flags are written ``--flag=value``: what most of the neighbours do."""
    flags = [word.arg.text for word in words if word.arg.text.startswith("--")]
    return sum("=" in flag for flag in flags) * 2 > len(flags)


def _flow_insertion(part: Items, last: Scalar, joined: bool) -> Insertion:
    source = part.source
    quote = last.style if last.style in ("'", '"') else ""
    lead = source.text[source.line_start(last.start) : last.start]
    between = ", " if lead.strip() or part.start >= source.line_start(last.start) else f",\n{lead}"
    flag, value = f"{quote}{{flag}}{quote}", f"{quote or chr(34)}{{value}}{quote or chr(34)}"
    body = f"{quote}{{flag}}={{value}}{quote}" if joined else f"{flag}{between}{value}"
    return Insertion(source.location(last.end, last.end), between + body)


def _block_insertion(part: Items, last: Scalar, joined: bool) -> Insertion | None:
    source = part.source
    dash = re.match(r"[ ]*(?:-[ ]+)*?(?=-[ ]+$)", source.text[source.line_start(last.start) : last.start])
    if dash is None:
        return None
    lead = "\n" + " " * len(dash[0]) + "- "
    quote = last.style if last.style in ("'", '"') else ""
    at = last.end if last.style in ("|", ">") else source.line_end(last.end)
    # Kubernetes takes strings only, and a bare number is none.
    flag, value = f"{quote}{{flag}}{quote}", f"{quote or chr(34)}{{value}}{quote or chr(34)}"
    body = f"{quote}{{flag}}={{value}}{quote}" if joined else f"{flag}{lead}{value}"
    return Insertion(source.location(at, at), lead + body)
