"""A Python file of a release with what mutation asks of it: text ranges, enclosing nodes, roles."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar, cast

_FLAG = re.compile(r"^(self\.)?is_draft_(worker|model)$")
Function = ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.AST)


class Reach(enum.Flag):
    """Which roles run a piece of code."""

    TARGET = enum.auto()
    DRAFT = enum.auto()
    BOTH = TARGET | DRAFT


class Source:
    """One file. Offsets count characters of `text`."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.tree = ast.parse(text)
        self._reach: dict[tuple[ast.ClassDef, str], Reach] = {}

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in ast.walk(self.tree):
            found.setdefault(type(node), []).append(node)
        return found

    def all(self, kind: type[Node]) -> list[Node]:
        """Every node of exactly this kind, in the order of `ast.walk`."""
        return cast("list[Node]", self._by_kind.get(kind, []))

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self.text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    def offset(self, line: int, column: int) -> int:
        """The character offset of a position that `ast` gives: line from 1, column in UTF-8 bytes from 0."""
        start = self._line_starts[line - 1]
        row = self.text[start : self._line_starts[line]]
        return start + len(row.encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Start and end offset of a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def code(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def enclosing(self, node: ast.AST, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """The nodes of these kinds around a node, the innermost first."""
        while (node := self.parents.get(node, self.tree)) is not self.tree:
            if isinstance(node, kinds):
                yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node is part of."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def function(self, node: ast.AST) -> Function | None:
        """The innermost function around a node."""
        found = next(self.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda), None)
        return found if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) else None

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        """The class whose method a node is in."""
        function = self.function(node)
        holder = self.parents.get(function) if function is not None else None
        return holder if isinstance(holder, ast.ClassDef) else None

    def flag(self, node: ast.AST) -> str | None:
        """An expression that is true for the draft and can be read at a node, or None."""
        function = self.function(node)
        if function is None:
            return None
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        for name in names:
            if _FLAG.match(name):
                return name
        owner = self.owner(node)
        if owner is None or names[:1] != ["self"]:
            return None
        body = self.code(owner)
        return next((f"self.{n}" for n in ("is_draft_worker", "is_draft_model") if f"self.{n}" in body), None)

    # -- roles ---

    def reach(self, node: ast.AST) -> Reach:
        """Which roles reach a node, by the tests around and before it and by who calls its method in the class."""
        found = Reach.BOTH
        current: ast.AST = node
        while current is not self.tree:
            parent = self.parents[current]
            found &= self._branch(parent, current) & self._before(parent, current)
            if isinstance(parent, ast.ClassDef) and isinstance(current, Function):
                found &= self._called(parent, current.name)
            current = parent
        return found

    def _branch(self, parent: ast.AST, child: ast.AST) -> Reach:
        if not isinstance(parent, ast.If | ast.IfExp):
            return Reach.BOTH
        body = parent.body if isinstance(parent.body, list) else [parent.body]
        orelse = parent.orelse if isinstance(parent.orelse, list) else [parent.orelse]
        if child in body:
            return _when(parent.test, holds=True)
        return _when(parent.test, holds=False) if child in orelse else Reach.BOTH

    def _before(self, parent: ast.AST, child: ast.AST) -> Reach:
        found = Reach.BOTH
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if not isinstance(block, list) or child not in block:
                continue
            for earlier in block[: block.index(child)]:
                if isinstance(earlier, ast.Assert):
                    found &= _when(earlier.test, holds=True)
                elif isinstance(earlier, ast.If) and isinstance(earlier.body[-1], ast.Return | ast.Raise):
                    found &= _when(earlier.test, holds=False)
        return found

    @cached_property
    def _self_calls(self) -> dict[str, list[ast.Call]]:
        """Calls of `self.name(...)`, by name."""
        found: dict[str, list[ast.Call]] = {}
        for call in self.all(ast.Call):
            method = call.func
            if isinstance(method, ast.Attribute) and ast.unparse(method.value) == "self":
                found.setdefault(method.attr, []).append(call)
        return found

    def _called(self, owner: ast.ClassDef, name: str) -> Reach:
        """The roles that call a method within its class; all, where nothing there calls it."""
        key = (owner, name)
        if key not in self._reach:
            self._reach[key] = Reach.BOTH  # Recursive methods.
            calls = [call for call in self._self_calls.get(name, []) if self.owner(call) is owner]
            if calls:
                found = Reach(0)
                for call in calls:
                    found |= self.reach(call)
                self._reach[key] = found
        return self._reach[key]


def _when(test: ast.expr, *, holds: bool) -> Reach:
    """The roles that a test lets through when it holds, or when it does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _when(test.operand, holds=not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
        found = Reach.BOTH
        for value in test.values:
            found &= _when(value, holds=holds)
        return found
    if isinstance(test, ast.Name | ast.Attribute) and _FLAG.match(ast.unparse(test)):
        return Reach.DRAFT if holds else Reach.TARGET
    return Reach.BOTH
