"""Questions about places: what stands around them, and what may be written or dropped there."""

from __future__ import annotations

import ast

from swa_lint.sources.python.modules import Module, Span, span
from swa_lint.sources.python.scopes import scope_of
from swa_lint.sources.python.values import (
    Val,
)


def also(value: Val, place: Span) -> list[tuple[Span, str]]:
    return [(s, "and here") for s in (value.where, value.origin) if s is not None and s != place]


def within(inner: Span, outer: Span) -> bool:
    return (
        inner.module is outer.module
        and (outer.line, outer.offset) <= (inner.line, inner.offset)
        and (inner.end_line, inner.end_offset) <= (outer.end_line, outer.end_offset)
    )


def function_at(place: Span) -> ast.AST | None:
    """The innermost function around a place."""
    found: ast.AST | None = None
    for node in ast.walk(place.module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= place.line <= (
            node.end_lineno or 0
        ):
            found = node
    return found


def droppable(place: Span) -> bool:
    """Whether a binding can go as a whole: not one target of several, nor a positional argument."""
    here = (place.line, place.offset, place.end_line, place.end_offset)
    for node in ast.walk(place.module.tree):
        if isinstance(node, ast.Assign) and _place(node) == here:
            return len(node.targets) == 1 and not isinstance(node.targets[0], (ast.Tuple, ast.List))
        if isinstance(node, ast.Call) and any(_place(arg) == here for arg in node.args):
            return False
    return True


def _place(node: ast.expr | ast.stmt) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def is_global_name(module: Module, name: str) -> bool:
    return name in scope_of(module).assigned


def conditional_of(one: Span | None, other: Span | None) -> Span | None:
    """The conditional expression whose two arms these are: both arms equal, it can be one of them."""
    if one is None or other is None or one.module is not other.module:
        return None
    arms = {one[1:], other[1:]}
    for node in ast.walk(one.module.tree):
        if isinstance(node, ast.IfExp) and {_place(node.body), _place(node.orelse)} == arms:
            return span(one.module, node)
    return None
