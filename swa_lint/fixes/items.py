"""Take items (arguments, dict, list, set and tuple elements) out of one statement, whatever its layout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from swa_lint.fixes.lines import Edit, PythonLines

_Item: TypeAlias = "cst.Arg | cst.BaseElement | cst.BaseDictElement"

_TO_COMMA = re.compile(r"(?:[ \t\f\r\n\\]|#[^\r\n]*)*,")
_BLANKS = " \t\f\r\n\\"
# Methods that do nothing without a field to set; `override` also takes a constant that names its source.
_UPDATERS = {"update", "override", "extend", "append"}


@dataclass(frozen=True)
class Region:
    """A part of a text that is a module of its own between `prefix` and `suffix`."""

    text: str
    start: int
    end: int
    prefix: str = ""
    suffix: str = ""

    @property
    def source(self) -> str:
        return self.prefix + self.text[self.start : self.end] + self.suffix


@dataclass(frozen=True)
class Dropped:
    """What dropping items comes to: the edits, and whether the statement has nothing left to do."""

    edits: tuple[Edit, ...] = ()
    idle: bool = False


@dataclass
class _Container:
    """A call or display, its items with their ranges, and the indexes of those to drop."""

    node: cst.CSTNode
    items: Sequence[_Item]
    spans: list[tuple[int, int]]
    dropped: set[int] = field(default_factory=set)

    @property
    def is_emptied(self) -> bool:
        return len(self.dropped) == len(self.items)

    def runs(self) -> Iterator[tuple[int, int]]:
        """First and last index of each run of neighbours to drop."""
        for index in sorted(self.dropped):
            if index - 1 not in self.dropped:
                last = index
                while last + 1 in self.dropped:
                    last += 1
                yield index, last


def drop_items(region: Region, lines: PythonLines, spans: Sequence[tuple[int, int]]) -> Dropped:
    """Drop the items, or runs of neighbouring items of one container, that `spans` cover exactly.

    `lines` are those of the whole text, which spans and edits refer to.
    """
    try:
        module = cst.parse_module(region.source)
    except (cst.ParserSyntaxError, RecursionError):
        return Dropped()
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    finder = _Finder(region, wrapper.resolve(PositionProvider), spans)
    module.visit(finder)
    edits = tuple(edit for found in finder.found.values() for edit in _Cutter(found, lines).edits())
    return Dropped(edits, bool(edits) and _is_idle(module, finder.found))


class _Finder(cst.CSTVisitor):
    """Finds the containers that hold the spans, innermost first."""

    def __init__(self, region: Region, ranges: Mapping[cst.CSTNode, object], spans: Sequence[tuple[int, int]]) -> None:
        super().__init__()
        self.found: dict[cst.CSTNode, _Container] = {}
        self._region = region
        self._ranges = ranges
        self._spans = list(spans)
        self._lines = PythonLines(region.source)

    def _span(self, node: cst.CSTNode) -> tuple[int, int]:
        found = self._ranges[node]
        assert isinstance(found, CodeRange)
        start, end = (self._lines.offset(at.line, at.column + 1) for at in (found.start, found.end))
        shift = self._region.start - len(self._region.prefix)
        return start + shift, end + shift

    def leave_Call(self, original_node: cst.Call) -> None:
        self._search(original_node, original_node.args)

    def leave_Dict(self, original_node: cst.Dict) -> None:
        self._search(original_node, original_node.elements)

    def leave_Set(self, original_node: cst.Set) -> None:
        self._search(original_node, original_node.elements)

    def leave_List(self, original_node: cst.List) -> None:
        self._search(original_node, original_node.elements)

    def leave_Tuple(self, original_node: cst.Tuple) -> None:
        self._search(original_node, original_node.elements)

    def _search(self, node: cst.CSTNode, items: Sequence[_Item]) -> None:
        container = _Container(node, items, [self._span(item) for item in items])
        for span in self._spans[:]:
            first = next((i for i, own in enumerate(container.spans) if self._is_start(own, span)), None)
            last = next((i for i, own in enumerate(container.spans) if self._is_end(own, span)), None)
            if first is not None and last is not None and first <= last:
                self._spans.remove(span)
                if _can_go(items[first : last + 1]):
                    container.dropped.update(range(first, last + 1))
        for index, item in enumerate(items):
            unpacked = _unpacked(item)
            if unpacked is not None and _is_emptied(self.found.get(unpacked)):
                del self.found[unpacked]
                container.dropped.add(index)
        if container.dropped:
            self.found[node] = container

    def _is_start(self, item: tuple[int, int], span: tuple[int, int]) -> bool:
        """Whether `span` starts where `item` does, parentheses around it aside."""
        inside = item[0] <= span[0] < item[1]
        return inside and not self._region.text[item[0] : span[0]].strip("(" + _BLANKS)

    def _is_end(self, item: tuple[int, int], span: tuple[int, int]) -> bool:
        inside = item[0] < span[1] <= item[1]
        return inside and not self._region.text[span[1] : item[1]].strip(")" + _BLANKS)


def _can_go(run: Sequence[_Item]) -> bool:
    """Whether the items can go without a name bound in them, or the place of other arguments, being lost."""
    if any(isinstance(node, cst.NamedExpr) for item in run for node in _walk(item)):
        return False
    arguments = [item for item in run if isinstance(item, cst.Arg)]
    if all(argument.keyword for argument in arguments):
        return True
    # Positional arguments are words of a command line: `create_subprocess_exec("python", "--page-size", "32")`.
    first = arguments[0].value
    return isinstance(first, cst.SimpleString) and first.raw_value.startswith("-")


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    # libcst.matchers would do, but importing it takes longer than a warm run.
    yield node
    for child in node.children:
        yield from _walk(child)


def _unpacked(item: _Item) -> cst.BaseExpression | None:
    """The expression that the item unpacks."""
    if isinstance(item, (cst.StarredElement, cst.StarredDictElement)) or (isinstance(item, cst.Arg) and item.star):
        return item.value
    return None


def _is_emptied(container: _Container | None) -> bool:
    """Whether the container is an empty display (or ``dict()``) without the dropped items."""
    if container is None or not container.is_emptied:
        return False
    node = container.node
    return not isinstance(node, cst.Call) or (isinstance(node.func, cst.Name) and node.func.value == "dict")


def _is_idle(module: cst.Module, found: Mapping[cst.CSTNode, _Container]) -> bool:
    """Whether the one statement of `module` updates something with nothing: ``x.update()``, ``argv += []``."""
    line = module.body[0]
    statement = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    if isinstance(statement, cst.AugAssign):
        return _is_emptied(found.get(statement.value))
    if not isinstance(statement, cst.Expr) or not isinstance(statement.value, cst.Call):
        return False
    call = statement.value
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in _UPDATERS:
        return False
    dropped = found[call].dropped if call in found else set()
    return all(
        index in dropped
        or _is_emptied(found.get(argument.value))
        or (
            call.func.attr.value == "override" and not argument.keyword and isinstance(argument.value, cst.SimpleString)
        )
        for index, argument in enumerate(call.args)
    )


class _Cutter:
    """Cuts the dropped items of one container out of the text."""

    def __init__(self, container: _Container, lines: PythonLines) -> None:
        self._container = container
        self._lines = lines
        self._text = lines.text

    def edits(self) -> Iterator[Edit]:
        container = self._container
        emptied = self._emptied() if container.is_emptied else None
        if emptied is not None:
            yield emptied
            return
        for first, last in container.runs():
            yield self._cut(first, last)
        if self._leaves_single() and len(container.items) - 1 not in container.dropped:
            end = container.spans[-1][1]
            if self._comma_end(len(container.items) - 1) is None:
                yield Edit(end, end, ",")

    def _leaves_single(self) -> bool:
        """Whether a tuple of one is left, which needs its comma."""
        container = self._container
        return isinstance(container.node, cst.Tuple) and len(container.items) - len(container.dropped) == 1

    def _comma_end(self, index: int) -> int | None:
        """Where the comma after an item ends, or None where it has none."""
        if not isinstance(self._container.items[index].comma, cst.Comma):
            return None
        match = _TO_COMMA.match(self._text, self._container.spans[index][1])
        return match.end() if match else None

    def _emptied(self) -> Edit | None:
        """The edit that leaves an empty container, or None where comments of their own lines are in it."""
        node, spans = self._container.node, self._container.spans
        start, end = spans[0][0], self._comma_end(len(spans) - 1) or spans[-1][1]
        if isinstance(node, cst.Tuple) and not node.lpar:
            return Edit(start, end, "()")
        while self._text[start - 1] in _BLANKS:
            start -= 1
        end = self._lines.code_end(end) or end
        while self._text[end] in _BLANKS:
            end += 1
        if self._text[start - 1] not in "([{" or self._text[end] not in ")]}":
            return None
        return Edit(start - 1, end + 1, "set()") if isinstance(node, cst.Set) else Edit(start, end, "")

    def _cut(self, first: int, last: int) -> Edit:
        """Cut neighbours: their own lines, or their part of a line with one of the commas beside it."""
        spans = self._container.spans
        start, end = spans[first][0], self._comma_end(last) or spans[last][1]
        line, after = self._lines.line_start(start), self._lines.code_end(end)
        if after is not None and not self._text[line:start].strip() and not self._is_continued(line):
            return Edit(line, self._lines.line_end(after), "")
        if last + 1 < len(spans):
            return self._cut_before(first, start, end, spans[last + 1][0])
        previous = spans[first - 1][1] if first else start
        if "#" in self._text[previous:start]:
            return Edit(start, end, "")
        if self._leaves_single():
            return Edit(self._comma_end(first - 1) or previous, end, "")
        return Edit(previous, spans[last][1] if first else end, "")

    def _cut_before(self, first: int, start: int, end: int, following: int) -> Edit:
        """Cut items that share their line and that another item follows."""
        gap = self._text[end:following]
        if "\n" not in gap and "\r" not in gap:
            return Edit(start, following, "")
        previous = self._comma_end(first - 1) if first else None
        if previous is not None and "#" not in self._text[previous:start]:
            return Edit(previous, end, "")
        return Edit(start, (self._lines.code_end(end) or end) if "#" in gap else following, "")

    def _is_continued(self, line: int) -> bool:
        """Whether a backslash joins the line to the one before."""
        return self._text[:line].rstrip("\r\n").endswith("\\") if line else False
