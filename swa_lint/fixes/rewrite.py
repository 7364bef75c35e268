"""Replace values in Python source by an expression, each in the form that its place needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from swa_lint.finding import Replace
from swa_lint.fixes.lines import PythonLines
from swa_lint.fixes.python import is_pure
from swa_lint.geometry import Location

_Span = tuple[int, int]


class Rewriter:
    """Collects replacements in one file: a number becomes the expression, text of a number becomes text of it."""

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self._path = path
        self._text = text
        self._lines = PythonLines(text)
        self._nodes: dict[_Span, ast.expr] = {}
        self._strings: list[tuple[_Span, ast.expr]] = []
        self._augmented: dict[_Span, ast.AugAssign] = {}
        self._choices: list[ast.IfExp] = []
        self._bound: dict[str, list[ast.expr | None]] = {}
        self._found: dict[_Span, str] = {}
        self.names_replaced: set[str] = set()
        """Every name that a replaced value read."""
        for node in ast.walk(tree):
            self._index(node)

    def _index(self, node: ast.AST) -> None:
        if isinstance(node, ast.AugAssign):
            self._augmented[self._span(node.value)] = node
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._bound.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.arg):
            self._bound.setdefault(node.arg, []).append(None)
        if not isinstance(node, ast.expr):
            return
        span = self._span(node)
        self._nodes.setdefault(span, node)
        if isinstance(node, ast.IfExp):
            self._choices.append(node)
        if _is_literal_text(node):
            self._strings.append((span, node))

    def _span(self, node: ast.expr | ast.stmt) -> _Span:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self._lines.ast_offset(node.lineno, node.col_offset)
        return start, self._lines.ast_offset(node.end_lineno, node.end_col_offset)

    def replace(self, where: Location, expression: str, *, equal: bool = False) -> None:
        """Put `expression`, which gives an int, where a value (or a pair of a name and it) stands; other places are left.

        Where the two are `equal`, what reads the value from elsewhere stays: an attribute of another object, and a
        name that is bound once, whose own value is replaced.
        """
        span = self._lines.span(where)
        if span is None:
            return
        node = self._nodes.get(span)
        if node is None:
            self._replace_in_string(span, expression)
        elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
            self._put(self._span(node.elts[1]), node.elts[1], expression)
        elif span in self._augmented:
            statement = self._augmented[span]
            target = self._text[slice(*self._span(statement.target))]
            self._put(self._span(statement), statement.value, f"{target} = {expression}")
        elif equal and isinstance(node, ast.Name) and (value := self._only_value(node.id, expression)) is not None:
            self._put(self._span(value), value, expression)
        elif not (equal and isinstance(node, ast.Attribute)):
            self._put(span, node, f"str({expression})" if _is_text(node) else expression)

    def _only_value(self, name: str, expression: str) -> ast.expr | None:
        """The value of a name that the file binds once, to a number or to `expression` already."""
        values = self._bound.get(name, [])
        value = values[0] if len(values) == 1 else None
        is_number = isinstance(value, ast.Constant) and type(value.value) is int
        return value if is_number or (value is not None and ast.unparse(value) == expression) else None

    def _put(self, span: _Span, node: ast.expr, new: str) -> None:
        if self._text[slice(*span)] != new:
            self._note(node)
            self._found[span] = new

    def _note(self, node: ast.expr) -> None:
        self.names_replaced |= {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}

    def _replace_in_string(self, span: _Span, expression: str) -> None:
        """Put the expression into a string literal, which becomes an f-string."""
        for (start, end), node in self._strings:
            literal = self._text[start:end]
            if not (start < span[0] and span[1] < end) or not self._text[slice(*span)].isdigit():
                continue
            if isinstance(node, ast.JoinedStr):
                self._found[span] = f"{{{expression}}}"
            elif literal[0] in "\"'" and "{" not in literal and "}" not in literal:
                self._found[(start, end)] = f"f{self._text[start : span[0]]}{{{expression}}}{self._text[span[1] : end]}"
            return

    def edits(self) -> Iterator[Replace]:
        """The replacements in order; a choice between equal values becomes the value."""
        for choice in reversed(self._choices):
            arms = [self._span(choice.body), self._span(choice.orelse)]
            new = {self._found.get(arm, self._text[slice(*arm)]) for arm in arms}
            if len(new) == 1 and all(arm in self._found for arm in arms) and is_pure(choice.test):
                self._note(choice.test)
                self._found[self._span(choice)] = new.pop()
        end = -1
        for span in sorted(self._found, key=lambda span: (span[0], -span[1])):
            if span[0] >= end:
                yield Replace(self._lines.location(self._path, *span), self._found[span])
                end = span[1]


def _is_literal_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_text(node: ast.expr) -> bool:
    """Whether the value is text: a literal, or ``str(...)``."""
    is_str_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"
    return is_str_call or _is_literal_text(node)
