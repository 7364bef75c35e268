"""JSON launch files: argument lists, commands and per-role objects, with the offsets of every value."""

from __future__ import annotations

import json
import pathlib
import re
from json.decoder import scanstring  # type: ignore[attr-defined]

from swa_lint.geometry import Location
from swa_lint.sources.engines import engine_of_text
from swa_lint.sources.facts import FileFacts, Problem
from swa_lint.sources.manifest import Context, Manifest, relevant
from swa_lint.sources.tree import Items, Mapping, Node, Scalar, Source

_BLANK = re.compile(r"[ \t\r\n]*")
_LITERAL = re.compile(r"[-+\w.]+")
_MAX_CHARACTERS = 4_000_000
_MAX_DEPTH = 100


class _Malformed(Exception):
    def __init__(self, offset: int) -> None:
        super().__init__("it does not parse as JSON")
        self.offset = offset


def read(path: str, text: str, *, root: pathlib.Path | None = None) -> FileFacts:
    """The launches of a JSON file; empty at once for one that names neither SGLang nor its own flags.

    JSON with comments or other extensions, and what is too large or too deep, is skipped with a note.
    """
    if not relevant(text):
        return FileFacts(path)
    source = Source(path, text)
    if len(text) > _MAX_CHARACTERS:
        return _problem(path, source.location(0, 0), f"skipped: more than {_MAX_CHARACTERS // 1_000_000} MB of JSON")
    try:
        tree = parse(source)
    except _Malformed as error:
        at = source.location(error.offset, error.offset)
        return _problem(path, at, str(error), skipped=bool(re.search(r"^\s*//|/\*", text, re.MULTILINE)))
    manifest = Manifest(source, "json", root)
    engine = engine_of_text("/".join(path.split("/")[-3:])) or engine_of_text(text)
    manifest.walk(tree, Context(engine=engine))
    return manifest.facts()


def _problem(path: str, where: Location, message: str, *, skipped: bool = True) -> FileFacts:
    return FileFacts(path, problems=(Problem(where, message, skipped=skipped),))


def parse(source: Source) -> Node:
    """The tree of a whole JSON text."""
    node, end = _value(source, _skip(source.text, 0), 0)
    if _skip(source.text, end) != len(source.text):
        raise _Malformed(end)
    return node


def _skip(text: str, pos: int) -> int:
    found = _BLANK.match(text, pos)
    assert found is not None
    return found.end()


def _value(source: Source, pos: int, depth: int) -> tuple[Node, int]:
    text = source.text
    char = text[pos : pos + 1]
    if depth > _MAX_DEPTH:
        raise _Malformed(pos)
    if char == "{":
        return _object(source, pos, depth)
    if char == "[":
        return _array(source, pos, depth)
    if char == '"':
        return _string(source, pos)
    found = _LITERAL.match(text, pos)
    if not found:
        raise _Malformed(pos)
    return Scalar(source, pos, found.end(), found[0]), found.end()


def _string(source: Source, pos: int) -> tuple[Scalar, int]:
    try:
        value, end = scanstring(source.text, pos + 1, True)
    except (json.JSONDecodeError, ValueError):
        raise _Malformed(pos) from None
    return Scalar(source, pos, end, value, '"'), end


def _array(source: Source, start: int, depth: int) -> tuple[Items, int]:
    items = Items(source, start, start, flow=True)
    pos = _skip(source.text, start + 1)
    while not source.text.startswith("]", pos):
        if items.items:
            pos = _comma(source.text, pos)
        item, pos = _value(source, pos, depth + 1)
        items.items.append(item)
        pos = _skip(source.text, pos)
    items.end = pos + 1
    return items, items.end


def _object(source: Source, start: int, depth: int) -> tuple[Mapping, int]:
    mapping = Mapping(source, start, start, flow=True)
    pos = _skip(source.text, start + 1)
    while not source.text.startswith("}", pos):
        if mapping.entries:
            pos = _comma(source.text, pos)
        if not source.text.startswith('"', pos):
            raise _Malformed(pos)
        key, pos = _string(source, pos)
        pos = _skip(source.text, pos)
        if not source.text.startswith(":", pos):
            raise _Malformed(pos)
        value, pos = _value(source, _skip(source.text, pos + 1), depth + 1)
        mapping.entries.append((key, value))
        pos = _skip(source.text, pos)
    mapping.end = pos + 1
    return mapping, mapping.end


def _comma(text: str, pos: int) -> int:
    if not text.startswith(",", pos):
        raise _Malformed(pos)
    return _skip(text, pos + 1)
