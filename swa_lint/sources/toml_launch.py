"""TOML launch files: argument lists, commands and per-role tables, with the offsets of every value."""

from __future__ import annotations

import pathlib
import re
import sys

from swa_lint.sources.engines import engine_of_text
from swa_lint.sources.facts import FileFacts, Problem
from swa_lint.sources.manifest import Context, Manifest, relevant
from swa_lint.sources.tree import Items, Mapping, Node, Scalar, Source

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"""(?!")|\'\'\'.*?\'\'\'(?!\')|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_BARE = re.compile(r"[^\s,\]}#]+(?: \d\d:[^\s,\]}#]+)?")
_MAX_CHARACTERS = 1_000_000
_PLACE = re.compile(r"line (\d+), column (\d+)")


class _Malformed(Exception):
    pass


def read(path: str, text: str, *, root: pathlib.Path | None = None) -> FileFacts:
    """The launches of a TOML file; empty at once for one that names neither SGLang nor its own flags."""
    if not relevant(text):
        return FileFacts(path)
    source = Source(path, text, assign=" = ")
    if len(text) > _MAX_CHARACTERS:
        where = source.location(0, 0)
        message = f"skipped: more than {_MAX_CHARACTERS // 1000} kB of TOML"
        return FileFacts(path, problems=(Problem(where, message, skipped=True),))
    try:
        tomllib.loads(text)
        tree = _Reader(source).document()
    except (tomllib.TOMLDecodeError, RecursionError, _Malformed, ValueError) as error:
        return FileFacts(path, problems=(_problem(source, str(error)),))
    manifest = Manifest(source, "toml", root)
    engine = engine_of_text("/".join(path.split("/")[-3:])) or engine_of_text(text)
    manifest.walk(tree, Context(engine=engine))
    return manifest.facts()


def _problem(source: Source, message: str) -> Problem:
    offset = len(source.text) if "end of document" in message else 0
    if found := _PLACE.search(message):
        for _ in range(int(found[1]) - 1):
            offset = source.next_line(offset)
        offset = min(offset + int(found[2]) - 1, len(source.text))
    return Problem(source.location(offset, offset), f"it does not parse: {message}")


class _Reader:
    """Reads a text that `tomllib` has accepted already, so that it need not look for errors."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._text = source.text
        self._pos = 0

    def document(self) -> Mapping:
        root = Mapping(self._source, 0, len(self._text))
        table = root
        while True:
            self._skip(_BLANK)
            if self._pos >= len(self._text):
                return root
            if self._text[self._pos] == "[":
                table = self._header(root)
            else:
                self._entry(table)
                table.end = max(table.end, self._pos)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self._text, self._pos)
        if found is not None:
            self._pos = found.end()

    def _header(self, root: Mapping) -> Mapping:
        start = self._pos
        array = self._text.startswith("[[", start)
        self._pos += 2 if array else 1
        keys = self._keys()
        self._pos = self._text.index("]", self._pos) + (2 if array else 1)
        parent = self._descend(root, keys[:-1])
        table = Mapping(self._source, start, self._pos)
        known = parent.get(keys[-1].value)
        if array and isinstance(known, Items):
            known.items.append(table)
        elif array:
            parent.entries.append((keys[-1], Items(self._source, start, self._pos, items=[table])))
        elif isinstance(known, Mapping):
            return known
        else:
            parent.entries.append((keys[-1], table))
        return table

    def _descend(self, table: Mapping, keys: list[Scalar]) -> Mapping:
        for key in keys:
            known = table.get(key.value)
            if isinstance(known, Items) and known.items:
                known = known.items[-1]
            if not isinstance(known, Mapping):
                known = Mapping(self._source, key.start, key.end)
                table.entries.append((key, known))
            table = known
        return table

    def _keys(self) -> list[Scalar]:
        keys = []
        while True:
            self._skip(_SPACE)
            found = _KEY.match(self._text, self._pos)
            if found is None:
                raise _Malformed(f"no key at offset {self._pos}")
            raw = found[0]
            style = raw[0] if raw[0] in "\"'" else "plain"
            value = raw[1:-1] if style != "plain" else raw
            keys.append(Scalar(self._source, found.start(), found.end(), value, style))
            self._pos = found.end()
            self._skip(_SPACE)
            if not self._text.startswith(".", self._pos):
                return keys
            self._pos += 1

    def _entry(self, table: Mapping) -> None:
        keys = self._keys()
        self._pos += 1
        self._skip(_SPACE)
        self._descend(table, keys[:-1]).entries.append((keys[-1], self._value(0)))

    def _value(self, depth: int) -> Node:
        text, start = self._text, self._pos
        if depth > 100:
            raise _Malformed("nested too deeply")
        if text.startswith("[", start):
            return self._array(start, depth)
        if text.startswith("{", start):
            return self._inline_table(start)
        if found := _STRING.match(text, start):
            self._pos = found.end()
            return self._string(found)
        found = _BARE.match(text, start)
        if found is None:
            raise _Malformed(f"no value at offset {start}")
        self._pos = found.end()
        return Scalar(self._source, start, self._pos, found[0])

    def _string(self, found: re.Match[str]) -> Scalar:
        value = tomllib.loads(f"x = {found[0]}")["x"]
        style = found[0][:3] if found[0][:3] in ('"""', "'''") else found[0][0]
        return Scalar(self._source, found.start(), found.end(), value, style)

    def _array(self, start: int, depth: int) -> Items:
        items = Items(self._source, start, start, flow=True)
        self._pos += 1
        while True:
            self._skip(_BLANK)
            if self._text.startswith("]", self._pos):
                self._pos += 1
                items.end = self._pos
                return items
            items.items.append(self._value(depth + 1))
            self._skip(_BLANK)
            if self._text.startswith(",", self._pos):
                self._pos += 1

    def _inline_table(self, start: int) -> Mapping:
        table = Mapping(self._source, start, start, flow=True)
        self._pos += 1
        while True:
            self._skip(_BLANK)
            if self._text.startswith("}", self._pos):
                self._pos += 1
                table.end = self._pos
                return table
            self._entry(table)
            self._skip(_BLANK)
            if self._text.startswith(",", self._pos):
                self._pos += 1
