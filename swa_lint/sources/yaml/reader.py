"""YAML text to trees: documents one by one, aliases as shared nodes, merge keys resolved, offsets exact."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from swa_lint.sources.facts import Problem
from swa_lint.sources.tree import Items, Mapping, Node, Scalar, Source

_DOCUMENT = re.compile(r"^(?:---|\.\.\.)(?=\s|$)", re.MULTILINE)
# Between `---`, its document's properties and a node's own text: anchors and tags.
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")
_FIRST_LINE = re.compile(r"^( *)\S", re.MULTILINE)
_MAX_DEPTH = 200
# The scanner's time grows with the square of the depth of open brackets.
_DEEP = re.compile(r"(?:[\[{]\s*){200}")


class Unreadable(Exception):
    """A document that is no YAML; `offset` is where the parser gave up."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def split(text: str) -> list[tuple[int, str]]:
    """The documents of a stream, each with its offset."""
    cuts = [0, *(found.start() for found in _DOCUMENT.finditer(text) if found.start())]
    return [(start, text[start:stop]) for start, stop in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def parse(source: Source, offset: int, chunk: str) -> Node | None:
    """The tree of one document that stands at `offset` of `source`; None for an empty one. Raises Unreadable."""
    if found := _DEEP.search(chunk):
        raise Unreadable("nested too deeply", offset + found.start())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            node = _composed(chunk)
            return None if node is None else _Converter(source, offset).convert(node, 0)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = mark.index if mark is not None else 0
        raise Unreadable(str(error.problem or error.context or "not YAML"), offset + min(at, len(chunk))) from None
    except YAMLError as error:
        at = getattr(error, "position", 0)
        raise Unreadable(getattr(error, "reason", "not YAML"), offset + (at if isinstance(at, int) else 0)) from None
    except RecursionError:
        raise Unreadable("nested too deeply", offset) from None
    except Exception as error:  # ruamel raises more than its own errors on absurd input; none may end a run
        raise Unreadable(f"not YAML ({type(error).__name__})", offset) from None


@lru_cache(maxsize=256)
def _composed(chunk: str) -> Any:
    """A document's nodes, which are only read; an editor's change leaves a manifest's other documents as they were."""
    return YAML(typ="safe", pure=True).compose(chunk)


def problem(source: Source, offset: int, message: str, *, skipped: bool = False) -> Problem:
    """A problem at one offset."""
    return Problem(source.location(offset, offset), message, skipped=skipped)


class _Converter:
    """One document's nodes; an alias gives the very node of its anchor."""

    def __init__(self, source: Source, offset: int) -> None:
        self._source = source
        self._offset = offset
        self._done: dict[int, Node] = {}

    def convert(self, node: Any, depth: int) -> Node:
        if id(node) in self._done:
            return self._done[id(node)]
        if depth > _MAX_DEPTH:
            raise RecursionError
        start = node.start_mark.index + self._offset
        if found := _PROPERTIES.match(self._source.parsed, start):
            start = found.end()
        end = node.end_mark.index + self._offset
        flow = bool(getattr(node, "flow_style", False))
        if isinstance(node.value, str):
            return self._keep(node, self._scalar(node, start, end))
        if node.id == "sequence":
            items = self._keep(node, Items(self._source, start, end, flow))
            assert isinstance(items, Items)
            items.items = [self.convert(item, depth + 1) for item in node.value]
            if not flow and items.items:
                items.end = _own_end(items.items, items)
            return items
        mapping = self._keep(node, Mapping(self._source, start, end, flow))
        assert isinstance(mapping, Mapping)
        self._fill(mapping, node, depth)
        return mapping

    def _keep(self, node: Any, made: Node) -> Node:
        self._done[id(node)] = made
        return made

    def _scalar(self, node: Any, start: int, end: int) -> Scalar:
        style = node.style or "plain"
        raw = self._source.parsed[start:end]
        if style in ("|", ">"):
            raw = _without_comments(raw)
        if style in ("|", ">", "plain"):
            end = start + len(raw.rstrip())
        return Scalar(self._source, start, end, node.value, style)

    def _fill(self, mapping: Mapping, node: Any, depth: int) -> None:
        merged: dict[str, tuple[Scalar, Node]] = {}
        own: dict[str, tuple[Scalar, Node]] = {}
        last: list[Node] = []
        for key_node, value_node in node.value:
            key = self.convert(key_node, depth + 1)
            value = self.convert(value_node, depth + 1)
            last += [key, value]
            if not isinstance(key, Scalar):
                continue
            if key.value == "<<":
                for base in value.items if isinstance(value, Items) else [value]:
                    if isinstance(base, Mapping):
                        for entry in base.entries:
                            merged.setdefault(entry[0].value, entry)
            else:
                own[key.value] = (key, value)
        mapping.entries = list((merged | own).values())
        if not mapping.flow and last:
            mapping.end = _own_end(last, mapping)


def _without_comments(block: str) -> str:
    """A block scalar's source without comments that follow it, which stand further left than its lines."""
    header, _, body = block.partition("\n")
    first = _FIRST_LINE.search(body)
    indent = len(first[1]) if first else 0
    while (body := body.rstrip()) and (last := body.rpartition("\n")[2]) and len(last) - len(last.lstrip(" ")) < indent:
        if not last.lstrip().startswith("#"):
            break
        body = body[: len(body) - len(last)]
    return f"{header}\n{body}"


def _own_end(parts: list[Node], whole: Node) -> int:
    """The end of a block collection: that of its last part in its own text, aliased ones left out."""
    ends = [part.end for part in parts if whole.start <= part.start and part.end <= whole.end]
    return max(ends, default=whole.end)
