"""Page sizes written out in a YAML document, and the anchor that another part of it could read them from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from swa_lint.geometry import Location
from swa_lint.sources.facts import Launch, Naming, Setting
from swa_lint.sources.tree import Items, Node, Scalar

_NAMES = ("page_size", "kv_page_size", "pd_page_size")
_ANCHOR = re.compile(r"&([^\s,\[\]{}]+)[ \t]+$")


def with_naming(launches: Sequence[Launch], documents: Sequence[Node]) -> list[Launch]:
    """The launches, with an anchor for each page size that is a scalar of its own in one of the documents."""
    if len([s for launch in launches for s in launch.settings if s.name == "page_size"]) < 2:
        return list(launches)
    found = {place: naming for document in documents for place, naming in _numbers(document)}
    return [replace(launch, settings=tuple(_named(s, found) for s in launch.settings)) for launch in launches]


def _named(setting: Setting, found: dict[Location, Naming]) -> Setting:
    place = setting.value_where
    if setting.name != "page_size" or place is None or place not in found:
        return setting
    return replace(setting, naming=found[place])


def _numbers(document: Node) -> Iterator[tuple[Location, Naming]]:
    """The numbers of a document by their places, and how each is shared: anchors hold within one document only."""
    source = document.source
    name = next((name for name in _NAMES if f"&{name}" not in source.text), None)
    for scalar in _scalars(document):
        if not re.fullmatch(r"\d+", scalar.value) or scalar.style not in ("plain", "'", '"') or scalar.spans is None:
            continue
        before = source.text[source.line_start(scalar.start) : scalar.start]
        anchored = _ANCHOR.search(before)
        called = anchored[1] if anchored else name
        if called is None or (re.search(r"[&!]\S*\s+$", before) and not anchored):
            continue
        start, end = scalar.range(0, len(scalar.value))
        quotes = source.text[scalar.start : start], source.text[end : scalar.end]
        define = "" if anchored else f"&{called} {quotes[0]}{{value}}{quotes[1]}"
        scope = f"{source.path}@{document.start}"
        yield scalar.inner, Naming(scope, called, scalar.where, define, scalar.where, "*{name}")


def _scalars(document: Node) -> Iterator[Scalar]:
    """The scalar values of a document, each once however many aliases it has."""
    stack, seen = [document], set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Scalar):
            yield node
        else:
            stack += node.items if isinstance(node, Items) else [value for _, value in node.entries]
