"""The Python source: which functions matter, and what values reach the draft's geometry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from swa_lint.geometry import Location
from swa_lint.sglang import own_words
from swa_lint.sources.facts import FileFacts, Problem
from swa_lint.sources.python.parsing import parse, without_collector
from swa_lint.sources.python.relevance import mentions_geometry, should_parse

if TYPE_CHECKING:
    from swa_lint.sources.python.modules import Library, Module

_libraries: dict[Path | None, Library] = {}
own_words.on_change(_libraries.clear)


def read(path: str, text: str, *, root: Path | None = None) -> FileFacts:
    """The facts of a Python file; `path` is relative to `root`, below which its imports are followed.

    A file that may matter and does not parse gives one Problem at the line of the error.
    """
    if not mentions_geometry(text.encode(errors="surrogatepass")):
        return FileFacts(path)
    with without_collector():
        return _read(path, text, root)


def _read(path: str, text: str, root: Path | None) -> FileFacts:
    try:
        module, library = open_module(path, text, root)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return FileFacts(path, problems=(_problem(path, error),))
    # The engine is imported late: an editor's flake8 loads it only for files that need it.
    from swa_lint.sources.python.analysis import analyse

    pairs, launches = analyse(module, library)
    depends = tuple(sorted(map(library.relative, library.read_files)))
    return FileFacts(path, pairs=pairs, launches=launches, depends=depends)


def open_module(path: str, text: str, root: Path | None) -> tuple[Module, Library]:
    """A file's module and the library that follows its imports; raises what `ast.parse` does."""
    from swa_lint.sources.python.modules import Library, Module

    file = (root / path) if root is not None else None
    module = Module(path, path.removesuffix(".py").replace("/", "."), text, parse(text), file)
    library = _libraries.setdefault(root, Library(root))
    library.start(module)
    return module, library


def _problem(path: str, error: Exception) -> Problem:
    line = getattr(error, "lineno", None) or 1
    column = getattr(error, "offset", None) or 1
    message = getattr(error, "msg", None) or str(error) or type(error).__name__
    return Problem(Location(path, line, max(column, 1), line, max(column, 1) + 1), f"cannot be parsed: {message}")


__all__ = ["mentions_geometry", "read", "should_parse"]
