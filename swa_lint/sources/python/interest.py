"""Which functions are worth following when they are called, as a look at their text tells."""

from __future__ import annotations

import ast
import enum
import re
from weakref import WeakKeyDictionary

from swa_lint.sources.python.modules import Module

MAX_LINES = 250
SMALL = 12  # lines: a body so short costs nothing, and may pass on what it is given

# Geometry, or a copy of what carries it.
_GEOMETRY = re.compile(
    r"page[_-]?size|window|override|is_draft(?!_extend)|Pool\(|--|launch|setattr|vars\(|__dict__|"
    r"deepcopy|_copy|(?<![.\w])(?:copy|replace)\(|copy\.|\.copy\(\)|\.replace\(\w*args"
)
# A test that ends the way on which two things differ, or a mapping that takes over another.
_CHECK = re.compile(r"\braise\b|\bassert\b|update\(")


class Interest(enum.Enum):
    """Why to follow a call: for nothing, for what it may check if it is given geometry, for what it does."""

    NONE = enum.auto()
    CHECK = enum.auto()
    GEOMETRY = enum.auto()


_known: WeakKeyDictionary[ast.AST, Interest] = WeakKeyDictionary()


def interest_of(node: ast.AST, module: Module) -> Interest:
    """The interest that a function of a module has; found once."""
    found = _known.get(node)
    if found is None:
        found = _known[node] = _read(node, module)
    return found


def _read(node: ast.AST, module: Module) -> Interest:
    first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    if last - first > MAX_LINES:
        return Interest.NONE
    text = "\n".join(module.lines[first - 1 : last])
    told = last - first <= SMALL or _GEOMETRY.search(text) is not None
    if not told and not _CHECK.search(text):
        return Interest.NONE
    if any("contextmanager" in ast.unparse(d) for d in getattr(node, "decorator_list", [])):
        return Interest.NONE
    if "yield" in text and any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(node)):
        return Interest.NONE
    return Interest.GEOMETRY if told else Interest.CHECK
