"""Whether two texts differ in comments only, as the parser of their language sees them."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from swa_lint.fixes.lines import parse
from swa_lint.geometry import Location
from swa_lint.project.kinds import Kind
from swa_lint.sources.shell.source import Source
from swa_lint.sources.yaml.templates import cover

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def same_meaning(kind: Kind, before: str, after: str) -> bool:
    """Whether `after` says what `before` says; False where that cannot be told.

    A comment in a script that YAML holds as a literal block is a comment too. Dockerfiles have no parser here: a line of
    its own that begins with ``#`` is a comment wherever it stands.
    """
    compare = _COMPARERS.get(kind)
    return compare is None or compare(before, after)


def _python(before: str, after: str) -> bool:
    trees = parse(before), parse(after)
    return None not in trees and ast.dump(trees[0]) == ast.dump(trees[1])  # type: ignore[arg-type]


def _shell(before: str, after: str) -> bool:
    return list(_nodes(before)) == list(_nodes(after))


def _nodes(text: str) -> Iterator[tuple[int, str, str]]:
    """The nodes of a script's parse tree, comments left out: depth, kind and, of leaves, text."""
    source = Source(text.replace("\r\n", "\n"), lambda start, end: Location("", 1, 1, 1, 1))
    stack = [(0, source.tree.root_node)]
    while stack:
        depth, node = stack.pop()
        if node.type == "comment":
            continue
        yield depth, node.type, "" if node.children else source.written(node)
        stack.extend((depth + 1, child) for child in reversed(node.children))


def _yaml(before: str, after: str) -> bool:
    try:
        one, two = _events(before), _events(after)
    except (YAMLError, RecursionError, ValueError):
        return False
    return len(one) == len(two) and all(a == b or _same_script(a, b) for a, b in zip(one, two, strict=True))


def _events(text: str) -> list[tuple[Any, ...]]:
    parsed = cover("", text.replace("\r\n", "\n")).source.parsed
    names = ("value", "style", "anchor", "tag")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        events = YAML(typ="safe", pure=True).parse(parsed)
        return [(type(event), *(str(getattr(event, name, None)) for name in names)) for event in events]


def _same_script(one: tuple[Any, ...], two: tuple[Any, ...]) -> bool:
    (_, text, style, *_), (_, other, *_) = one, two
    return bool(style == "|" and (one[0], *one[2:]) == (two[0], *two[2:]) and _shell(text, other))


def _toml(before: str, after: str) -> bool:
    try:
        return bool(tomllib.loads(before) == tomllib.loads(after))
    except tomllib.TOMLDecodeError:
        return False


_COMPARERS: dict[Kind, Callable[[str, str], bool]] = {
    Kind.PYTHON: _python,
    Kind.SHELL: _shell,
    Kind.YAML: _yaml,
    Kind.TOML: _toml,
}
