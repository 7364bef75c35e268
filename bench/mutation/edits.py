"""Text edits, and the mutants that they make."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from mutation.source import Source


@dataclass(frozen=True)
class Change:
    """`text` in the place of the characters from `start` to `end` of the original."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Mutant:
    """One edited file of a release. `users` are files that import what was edited, to be checked too."""

    version: str
    path: str
    operator: str
    form: str
    changes: tuple[Change, ...]
    equivalent: bool = False
    users: tuple[str, ...] = ()

    def apply(self, text: str) -> str:
        """The mutated text; raises SyntaxError where the edit does not parse."""
        for change in sorted(self.changes, key=lambda c: c.start, reverse=True):
            text = text[: change.start] + change.text + text[change.end :]
        ast.parse(text)
        return text

    def lines(self, text: str) -> set[int]:
        """The lines of the mutated text that the edits cover."""
        covered: set[int] = set()
        shift = 0
        for change in sorted(self.changes, key=lambda c: c.start):
            first = text.count("\n", 0, change.start) + 1 + shift
            covered.update(range(first, first + change.text.count("\n") + 1))
            shift += change.text.count("\n") - text.count("\n", change.start, change.end)
        return covered


def replace(source: Source, node: ast.expr | ast.stmt | ast.keyword, text: str) -> Change:
    """Other text for a node."""
    return Change(*source.span(node), text)


def lines_before(source: Source, node: ast.AST, *lines: str) -> Change:
    """Lines before the statement that a node is part of, as far indented."""
    statement = source.statement(node)
    start = source.offset(statement.lineno, 0)
    return Change(start, start, _block(statement, lines))


def lines_after(source: Source, node: ast.AST, *lines: str) -> Change:
    """Lines after the statement that a node is part of, as far indented."""
    statement = source.statement(node)
    end = source.text.index("\n", source.span(statement)[1]) + 1
    return Change(end, end, _block(statement, lines))


def top_level_before(source: Source, node: ast.AST, *lines: str) -> Change:
    """Lines before the module-level statement around a node, decorators included."""
    while source.parents[node] is not source.tree:
        node = source.parents[node]
    assert isinstance(node, ast.stmt)
    decorators = getattr(node, "decorator_list", [])
    start = source.offset(min([node.lineno, *(d.lineno for d in decorators)]), 0)
    return Change(start, start, "".join(f"{line}\n" for line in lines) + "\n\n")


def imported(source: Source, module: str) -> tuple[Change, ...]:
    """`import module` before the first import of the file, unless the file has it."""
    imports = [n for n in source.tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    if any(isinstance(n, ast.Import) and any(a.name == module and a.asname is None for a in n.names) for n in imports):
        return ()
    first = next(n for n in imports if not (isinstance(n, ast.ImportFrom) and n.module == "__future__"))
    start = source.offset(first.lineno, 0)
    return (Change(start, start, f"import {module}\n"),)


def _block(statement: ast.stmt, lines: tuple[str, ...]) -> str:
    return "".join(" " * statement.col_offset + line + "\n" for line in lines)
