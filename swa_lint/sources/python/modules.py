"""Python modules as the dataflow sees them: parsed once, with their definitions, imports and source positions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from swa_lint.geometry import Location

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

    def column(self, line: int, offset: int) -> int:
        """The 1-based column in characters of a 0-based UTF-8 byte offset."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")) + 1

    def source(self, node: ast.AST) -> str:
        """The exact text of a node."""
        return ast.get_source_segment(self.text, node) or ""


@dataclass(frozen=True, slots=True)
class Span:
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


@dataclass(eq=False)
class Library:
    """Finds and parses modules below a root; each is parsed at most once. `read_files` are those it opened."""

    root: Path | None
    modules: dict[str, Module | None] = field(default_factory=dict)
    read_files: set[Path] = field(default_factory=set)

    def load(self, name: str, importer: Module, level: int) -> Module | None:
        """The module that `from <level dots><name> import ...` in `importer` means, or None when it is not here."""
        for folder in self._folders(importer, level):
            file = folder.joinpath(*name.split(".")) if name else folder
            for candidate in (file.with_suffix(".py") if name else None, file / "__init__.py"):
                if candidate is not None and candidate.is_file():
                    return self._parse(candidate)
        return None

    def _folders(self, importer: Module, level: int) -> Iterator[Path]:
        if self.root is None or importer.file is None:
            return
        if level:
            folder = importer.file.parent
            for _ in range(level - 1):
                folder = folder.parent
            yield folder
            return
        # The importer's folder first (scripts), then each folder above it up to the root, then a src layout.
        folder = importer.file.parent
        while True:
            yield folder
            if folder == self.root or folder == folder.parent:
                break
            folder = folder.parent
        yield self.root / "src"

    def _parse(self, file: Path) -> Module | None:
        key = str(file)
        if key not in self.modules:
            self.modules[key] = None
            self.read_files.add(file)
            try:
                text = file.read_text(encoding="utf-8-sig")
                tree = ast.parse(text)
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                return None
            try:
                path = file.relative_to(self.root).as_posix() if self.root else key
            except ValueError:
                path = key
            self.modules[key] = Module(path, ".".join(Path(path).with_suffix("").parts), text, tree, file)
        return self.modules[key]
