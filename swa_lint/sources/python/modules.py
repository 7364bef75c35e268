"""Python modules as the dataflow sees them: parsed once, with their definitions, imports and source positions."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from swa_lint.geometry import Location
from swa_lint.sources.python.parsing import parse
from swa_lint.sources.python.relevance import launches

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(eq=False)
class Module:
    """One parsed file: `name` is its dotted name below the root, `path` as reported."""

    path: str
    name: str
    text: str
    tree: ast.Module
    file: Path | None = None
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        # ast counts lines as the tokenizer does: by \n, \r\n and \r alone.
        self.lines = self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @cached_property
    def launches(self) -> bool:
        """Whether its text says anything of launches."""
        return launches(self.text)

    def column(self, line: int, offset: int) -> int:
        """The 1-based column in characters of a 0-based UTF-8 byte offset."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")) + 1

    def source(self, node: ast.AST) -> str:
        """The exact text of a node."""
        return self.text_of(span(self, node))

    def text_of(self, place: Span) -> str:
        """The exact text of a range."""
        lines = self.lines[place.line - 1 : place.end_line]
        if len(lines) == 1:
            return lines[0].encode()[place.offset : place.end_offset].decode(errors="ignore")
        first = lines[0].encode()[place.offset :].decode(errors="ignore")
        last = lines[-1].encode()[: place.end_offset].decode(errors="ignore") if lines else ""
        return "\n".join([first, *lines[1:-1], last])


class Span(NamedTuple):
    """A range of a module, as ast gives it; becomes a Location only when something is reported."""

    module: Module
    line: int
    offset: int
    end_line: int
    end_offset: int

    @property
    def location(self) -> Location:
        column = self.module.column
        return Location(
            self.module.path,
            self.line,
            column(self.line, self.offset),
            self.end_line,
            column(self.end_line, self.end_offset),
        )


def span(module: Module, first: ast.AST, last: ast.AST | None = None) -> Span:
    """The range from the start of `first` to the end of `last` (or of `first`)."""
    last = last or first
    return Span(
        module,
        first.lineno,  # type: ignore[attr-defined]
        first.col_offset,  # type: ignore[attr-defined]
        last.end_lineno,  # type: ignore[attr-defined]
        last.end_col_offset,  # type: ignore[attr-defined]
    )


# An imported file without one of these words can neither carry geometry nor copy what does.
_MAY_MATTER = re.compile(rb"page[_-]size|window|override|is_draft|deepcopy|replace\(|setattr|KVPool|launch|PAGE")

_MAX_KEPT = 20_000_000  # characters of the modules kept; their trees take some thirty times as much memory


@dataclass(eq=False)
class Library:
    """Finds and parses modules below a root; each version of a file is parsed once in a process.

    `read_files` are those that the analysis under way has looked at; `start` begins a new one. Paths are strings here: an
    analysis asks for hundreds of modules, most of them not in the project.
    """

    root: Path | None
    read_files: set[str] = field(default_factory=set)
    _parsed: dict[str, tuple[tuple[int, int], Module | None]] = field(default_factory=dict)
    _found: dict[tuple[str, str, int], Module | None] = field(default_factory=dict)
    _names: dict[str, frozenset[str]] = field(default_factory=dict)
    _own: dict[str, Module] = field(default_factory=dict)
    _size: int = 0

    def start(self, module: Module) -> None:
        """Begin the analysis of a module whose text may be newer than its file."""
        if self._size > _MAX_KEPT:
            self._parsed, self._size = {}, 0
        self.read_files, self._found, self._names = set(), {}, {}
        self._own = {str(module.file): module} if module.file is not None else {}

    @property
    def loaded(self) -> list[Module]:
        """The modules that this analysis has imported."""
        return [m for m in self._found.values() if m is not None]

    def load(self, name: str, importer: Module, level: int) -> Module | None:
        """The module that `from <level dots><name> import ...` in `importer` means, or None when it is not here."""
        if self.root is None or importer.file is None:
            return None
        folder = os.path.dirname(importer.file)
        key = (folder, name, level)
        if key not in self._found:
            self._found[key] = None
            self._found[key] = self._find(name, folder, level)
        return self._found[key]

    def _find(self, name: str, folder: str, level: int) -> Module | None:
        parts = name.split(".") if name else []
        for base in self._folders(folder, level):
            if parts and not self._listing(base) & {parts[0], f"{parts[0]}.py"}:
                continue
            stem = os.path.join(base, *parts)
            for candidate in (f"{stem}.py" if parts else "", os.path.join(stem, "__init__.py")):
                if candidate and os.path.isfile(candidate):
                    return self._parse(candidate)
        return None

    def _listing(self, folder: str) -> frozenset[str]:
        if folder not in self._names:
            try:
                self._names[folder] = frozenset(os.listdir(folder))
            except OSError:
                self._names[folder] = frozenset()
        return self._names[folder]

    def _folders(self, folder: str, level: int) -> Iterator[str]:
        """Where an import looks: the importer's folder (scripts), those above it up to the root, a src layout."""
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            yield folder
            return
        root = str(self.root)
        while True:
            yield folder
            above = os.path.dirname(folder)
            if folder in (root, above):
                break
            folder = above
        yield os.path.join(root, "src")

    def _parse(self, path: str) -> Module | None:
        if path in self._own:
            return self._own[path]
        self.read_files.add(path)
        try:
            status = os.stat(path)
            version = (status.st_mtime_ns, status.st_size)
            if path in self._parsed and self._parsed[path][0] == version:
                return self._parsed[path][1]
            self._parsed[path] = (version, None)
            with open(path, "rb") as stream:
                data = stream.read()
            if not _MAY_MATTER.search(data):
                return None
            text = data.decode("utf-8-sig")
            tree = parse(text)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        reported = self.relative(path)
        module = Module(reported, reported.removesuffix(".py").replace("/", "."), text, tree, Path(path))
        self._parsed[path] = (version, module)
        self._size += len(text)
        return module

    def relative(self, path: str) -> str:
        """A file's path as reported: below the root, with ``/``."""
        assert self.root is not None
        file = Path(path)
        return file.relative_to(self.root).as_posix() if file.is_relative_to(self.root) else path
