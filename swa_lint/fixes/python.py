"""Take bindings out of Python source by exact edits: every byte outside an edit stays as it is.

`ast` finds the statement that a range lies in; LibCST parses that statement alone (of a compound statement only the
header), because commas, comments and layout are what `ast` does not keep.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from swa_lint.finding import Drop, Replace
from swa_lint.fixes.items import Region, drop_items
from swa_lint.fixes.lines import Edit, PythonLines, parse

_CLAUSE = re.compile(r"(?<=[\r\n])[ \t\f]*(?:else|elif)\b")
# Calls whose result is all they give, so that a test made of them can go with the branch it guards.
_PURE_CALLS = {"isinstance", "hasattr", "getattr", "len", "bool", "vars", "os.getenv", "os.environ.get"}
_PURE_NODES = (
    *(ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call),
    *(ast.Subscript, ast.boolop, ast.unaryop, ast.cmpop, ast.expr_context, ast.Tuple, ast.List),
)


def check_parses(text: str) -> bool:
    """Whether `text` is valid Python for the running interpreter."""
    return parse(text) is not None


def drop_edits(path: str, text: str, drops: Sequence[Drop]) -> list[Replace]:
    """The edits of `text` (the file `path`, decoded, without a BOM) that remove the bindings in `drops`.

    Edits are in order and do not overlap. A range that is no removable binding gives no edit, nor does a file that
    does not parse.
    """
    tree = parse(text)
    if tree is None:
        return []
    lines = PythonLines(text)
    source = _Source(text, lines, tree)
    gone: set[ast.stmt] = set()
    edits: list[Edit] = []
    inside: dict[ast.stmt, list[tuple[int, int]]] = {}
    for drop in drops:
        span = lines.span(drop.where)
        if span is None:
            continue
        statements = source.statements_at(*span)
        if statements:
            gone.update(statement for statement in statements if _can_go(statement))
        elif holder := source.holder_of(*span):
            inside.setdefault(holder, []).append(span)
    for holder, spans in inside.items():
        region = source.region_of(holder, spans)
        found = drop_items(region, lines, spans)
        if found.idle and is_pure(_receiver(holder)):
            gone.add(holder)
        else:
            edits += found.edits
    edits += source.statement_edits(gone)
    return [Replace(lines.location(path, edit.start, edit.end), edit.text) for edit in _outermost(edits)]


def _outermost(edits: Sequence[Edit]) -> Iterator[Edit]:
    """`edits` in order, without those that lie in another."""
    end = -1
    for edit in sorted(set(edits), key=lambda edit: (edit.start, -edit.end)):
        if edit.start >= end:
            yield edit
            end = edit.end


def _can_go(statement: ast.stmt) -> bool:
    """Whether nothing but the binding is lost: one target, no unpacking, no walrus on the way."""
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(statement)):
        return False
    if isinstance(statement, ast.Assign):
        return len(statement.targets) == 1 and not isinstance(statement.targets[0], (ast.Tuple, ast.List))
    return isinstance(statement, (ast.AnnAssign, ast.AugAssign, ast.Expr))


def _receiver(statement: ast.stmt) -> ast.expr | None:
    """What the statement updates: `x` in ``x.update(...)`` and in ``x += ...``."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func = statement.value.func
        return func.value if isinstance(func, ast.Attribute) else None
    return None


def is_pure(expression: ast.expr | None) -> bool:
    """Whether evaluating `expression` does nothing that the program could miss."""
    return expression is not None and all(
        isinstance(node, _PURE_NODES) and (not isinstance(node, ast.Call) or ast.unparse(node.func) in _PURE_CALLS)
        for node in ast.walk(expression)
    )


def _blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    """The statement lists directly under `statement`, those of `except` and `case` included."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list) and block:
            yield block
    for name in ("handlers", "cases"):
        for clause in getattr(statement, name, []):
            yield clause.body


class _Source:
    """A parsed file: where its statements are, and how whole statements come out."""

    def __init__(self, text: str, lines: PythonLines, tree: ast.Module) -> None:
        self.text = text
        self.lines = lines
        self.tree = tree

    def start(self, statement: ast.stmt) -> int:
        """Where `statement` begins, its first decorator included."""
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        if decorators:
            return self.text.index("@", self.lines.offset(decorators[0].lineno, 1))
        return self.lines.ast_offset(statement.lineno, statement.col_offset)

    def end(self, statement: ast.stmt) -> int:
        assert statement.end_lineno is not None and statement.end_col_offset is not None
        return self.lines.ast_offset(statement.end_lineno, statement.end_col_offset)

    def _around(self, node: ast.AST, start: int, end: int) -> ast.stmt | None:
        """The statement directly under `node` that a range lies in."""
        statements = (statement for block in _blocks(node) for statement in block)
        return next((s for s in statements if self.start(s) <= start and end <= self.end(s)), None)

    def holder_of(self, start: int, end: int) -> ast.stmt | None:
        """The innermost statement around a range."""
        holder, node = None, self._around(self.tree, start, end)
        while node is not None:
            holder, node = node, self._around(node, start, end)
        return holder

    def statements_at(self, start: int, end: int) -> list[ast.stmt]:
        """The consecutive statements of one block that a range covers exactly, or none."""
        node: ast.AST | None = self.tree
        while node is not None:
            for block in _blocks(node):
                covered = [s for s in block if start <= self.start(s) and self.end(s) <= end]
                if covered and self.start(covered[0]) == start and self.end(covered[-1]) == end:
                    return covered
            node = self._around(node, start, end)
        return []

    def region_of(self, holder: ast.stmt, spans: Sequence[tuple[int, int]]) -> Region:
        """What LibCST has to parse to see `spans` in `holder`, with what makes that a module of its own."""
        start, end = self.start(holder), self.end(holder)
        body = next(_blocks(holder), None)
        if body is None:
            return Region(self.text, start, end)
        suffix = ""
        if all(stop <= self.start(body[0]) for _, stop in spans):
            end, suffix = self.start(body[0]), "pass"
        indent = self.text[self.lines.line_start(start) : start]
        if self.text.startswith("elif", start):
            start += len("el")
        return Region(self.text, start, end, f"if 1:\n{indent}" if indent else "", suffix)

    def statement_edits(self, gone: set[ast.stmt]) -> Iterator[Edit]:
        """The edits that take out the statements in `gone`, and with them the branches that they leave empty."""
        if gone:
            yield from self._cut_lines(self.tree.body, gone)

    def _vanishes(self, statement: ast.stmt, gone: set[ast.stmt]) -> bool:
        """Whether nothing of `statement` is left to keep: itself dropped, or an `if` left without content."""
        if not isinstance(statement, ast.If):
            return statement in gone
        return all(self._vanishes(s, gone) for s in statement.body + statement.orelse) and is_pure(statement.test)

    def _cut_inside(self, statement: ast.stmt, gone: set[ast.stmt]) -> Iterator[Edit]:
        for block in _blocks(statement):
            if not all(self._vanishes(inner, gone) for inner in block):
                yield from self._cut_lines(block, gone)
            elif isinstance(statement, ast.If) and block is statement.orelse:
                yield self._cut_else(statement)
            else:
                yield self._put_pass(block)

    def _cut_lines(self, block: list[ast.stmt], gone: set[ast.stmt]) -> Iterator[Edit]:
        """Cut from a block that keeps something; semicolons make several statements one line."""
        line: list[ast.stmt] = []
        for index, statement in enumerate(block):
            line.append(statement)
            if index + 1 < len(block) and self.lines.is_joined(self.end(statement), self.start(block[index + 1])):
                continue
            removed = [self._vanishes(s, gone) for s in line]
            if all(removed):
                yield Edit(self.lines.line_start(self.start(line[0])), self._lines_end(statement), "")
            elif any(removed):
                yield from self._cut_joined(line, removed)
            else:
                yield from self._cut_inside(statement, gone)
            line = []

    def _cut_joined(self, line: list[ast.stmt], removed: list[bool]) -> Iterator[Edit]:
        """Cut some of the statements of one line, each with the semicolon after it, the last with the one before."""
        for index, statement in enumerate(line):
            if removed[index] and not all(removed[index:]):
                yield Edit(self.start(statement), self.start(line[index + 1]), "")
            elif removed[index]:
                yield Edit(self.end(line[index - 1]), self.end(statement), "")

    def _cut_else(self, statement: ast.If) -> Edit:
        """Cut the `elif` or `else` clause of `statement`."""
        clause = _CLAUSE.search(self.text, self.end(statement.body[-1]))
        assert clause is not None, "an `if` with an orelse has a clause"
        return Edit(clause.start(), self._lines_end(statement.orelse[-1]), "")

    def _put_pass(self, block: list[ast.stmt]) -> Edit:
        start, end = self.start(block[0]), self.end(block[-1])
        own_line = not self.text[self.lines.line_start(start) : start].strip()
        return Edit(start, (self.lines.code_end(end) if own_line else None) or end, "pass")

    def _lines_end(self, statement: ast.stmt) -> int:
        """Where the line after `statement` begins."""
        return self.lines.line_end(self.end(statement))
