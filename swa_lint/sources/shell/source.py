"""Shell text with its parse tree and its place in a file; a text may also be put together from parts of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import tree_sitter
import tree_sitter_bash

from swa_lint.geometry import Location

Where = Callable[[int, int], Location]


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class Source:
    """A shell text. `where(start, end)` turns character offsets into a range of the file."""

    def __init__(self, text: str, where: Where) -> None:
        self.text = text
        self.where = where
        data = text.encode("utf-8", "surrogatepass")
        self.tree = _parser().parse(data)
        # Byte offset -> character offset, only where they differ.
        self._chars: list[int] | None = None
        if len(data) != len(text):
            self._chars = [index for index, char in enumerate(text) for _ in char.encode("utf-8", "surrogatepass")]
            self._chars.append(len(text))

    def start(self, node: tree_sitter.Node) -> int:
        return node.start_byte if self._chars is None else self._chars[node.start_byte]

    def end(self, node: tree_sitter.Node) -> int:
        return node.end_byte if self._chars is None else self._chars[node.end_byte]

    def written(self, node: tree_sitter.Node) -> str:
        """The text of `node`."""
        return self.text[self.start(node) : self.end(node)]

    def location(self, node: tree_sitter.Node) -> Location:
        return self.where(self.start(node), self.end(node))

    def one_place(self, start: int, end: int) -> bool:
        """Whether `text[start:end]` stands in the file as it is, so that it can be edited there."""
        return True


@dataclass(frozen=True)
class Part:
    """`text`, taken from `source` between `start` and `end`; `text` is shorter than its range where escapes were undone."""

    text: str
    source: Source
    start: int
    end: int

    @property
    def exact(self) -> bool:
        return self.source.text[self.start : self.end] == self.text


class Joined(Source):
    """A shell text made of parts of other texts (the string of ``bash -c "..."``, a here-document)."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = [part for part in parts if part.text]
        self._offsets: list[int] = []
        length = 0
        for part in self._parts:
            self._offsets.append(length)
            length += len(part.text)
        super().__init__("".join(part.text for part in self._parts), self._find)

    def _part(self, offset: int) -> tuple[int, Part]:
        index = max(i for i, start in enumerate(self._offsets) if start <= offset)
        return self._offsets[index], self._parts[index]

    def _find(self, start: int, end: int) -> Location:
        base, first = self._part(start)
        left = first.start + start - base if first.exact else first.start
        last_base, last = self._part(max(start, end - 1))
        right = last.start + end - last_base if last.exact else last.end
        if last.source is not first.source or right < left:
            right = first.end
        return first.source.where(left, right)

    def one_place(self, start: int, end: int) -> bool:
        if not self._parts:
            return False
        base, first = self._part(start)
        last_base, last = self._part(max(start, end - 1))
        if not (first.exact and last.exact) or first.source is not last.source:
            return False
        left, right = first.start + start - base, last.start + end - last_base
        return first.source.text[left:right] == self.text[start:end] and first.source.one_place(left, right)
