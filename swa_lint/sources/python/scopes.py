"""The names a module binds, without running it: functions, classes, imports, assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from swa_lint.sources.python.modules import FunctionNode, Module


@dataclass(frozen=True)
class Import:
    """`from <level dots><module> import <attr>`, or `import <module>` when attr is None."""

    module: str
    attr: str | None
    level: int

    @property
    def full_name(self) -> str:
        return self.module if self.attr is None else f"{self.module}.{self.attr}" if self.module else self.attr


@dataclass(eq=False)
class Scope:
    """What a module binds at its top level.

    `body` are the statements that running it means, `mentions` those that name each global.
    """

    functions: dict[str, FunctionNode] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    imports: dict[str, Import] = field(default_factory=dict)
    stars: list[Import] = field(default_factory=list)
    assigned: set[str] = field(default_factory=set)
    body: list[ast.stmt] = field(default_factory=list)
    mentions: dict[str, list[ast.stmt]] = field(default_factory=dict)


_scopes: WeakKeyDictionary[Module, Scope] = WeakKeyDictionary()


def scope_of(module: Module) -> Scope:
    """The scope of a module, made once."""
    found = _scopes.get(module)
    if found is None:
        found = _scopes[module] = _read(module)
    return found


def _read(module: Module) -> Scope:
    scope = Scope()
    for node in _flat(module.tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scope.functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            scope.classes[node.name] = node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bind_imports(scope, node)
        else:
            for target in ast.walk(node):
                if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                    scope.assigned.add(target.id)
    scope.body = [
        node
        for node in module.tree.body
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))
    ]
    for node in scope.body:
        for name in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & scope.assigned:
            scope.mentions.setdefault(name, []).append(node)
    return scope


def bind_imports(scope: Scope, node: ast.Import | ast.ImportFrom) -> None:
    """Add the names of an import statement, wherever it stands."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            scope.imports[bound] = Import(alias.name if alias.asname else bound, None, 0)
        return
    for alias in node.names:
        found = Import(node.module or "", alias.name, node.level)
        if alias.name == "*":
            scope.stars.append(found)
        else:
            scope.imports[alias.asname or alias.name] = found


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Top-level statements, those under `if` and `try` included."""
    for node in body:
        if isinstance(node, ast.If):
            yield ast.Expr(node.test)
            yield from _flat(node.body)
            yield from _flat(node.orelse)
        elif isinstance(node, ast.Try):
            for part in (node.body, node.orelse, node.finalbody, *(h.body for h in node.handlers)):
                yield from _flat(part)
        else:
            yield node


_members: WeakKeyDictionary[ast.ClassDef, dict[str, ast.stmt]] = WeakKeyDictionary()


def members(node: ast.ClassDef) -> dict[str, ast.stmt]:
    """What a class body binds: methods, and assignments with a value; the last binding of a name counts."""
    found = _members.get(node)
    if found is None:
        names: dict[str, ast.stmt] = {}
        for child in node.body:
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                names[child.name] = child
            elif isinstance(child, ast.Assign):
                names.update({t.id: child for t in child.targets if isinstance(t, ast.Name)})
            elif isinstance(child, ast.AnnAssign) and child.value is not None and isinstance(child.target, ast.Name):
                names[child.target.id] = child
        found = _members[node] = names
    return found
