"""Operators: arithmetic that folds, keeps its base, or derives from it; text that is put together."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from swa_lint.sources.python.access import Access
from swa_lint.sources.python.base import Frame
from swa_lint.sources.python.heap import path_of
from swa_lint.sources.python.values import Core, Expr, Lit, Option, Phi, Ref, State, Text, Val

ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
NEUTRAL: dict[type[ast.operator], int] = {
    ast.Add: 0,
    ast.Sub: 0,
    ast.Mult: 1,
    ast.FloorDiv: 1,
    ast.LShift: 0,
    ast.RShift: 0,
}
MAX_TEXT = 200  # characters of an expression worth following


class Operators(Access):
    """Evaluates operators and strings."""

    def _eval_JoinedStr(self, frame: Frame, state: State, node: ast.JoinedStr) -> Val:
        parts: list[Core | str] = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(str(part.value))
            elif isinstance(part, ast.FormattedValue):
                parts.append(self.evaluate(frame, state, part.value).core)
        return self.text(parts)

    def text(self, parts: list[Core | str]) -> Val:
        """A string of known and unknown parts, folded when all are known."""
        flat: list[Core | str] = []
        for part in parts:
            inner = part.parts if isinstance(part, Text) else (part,)
            for piece in inner[:64]:
                known = str(piece.value) if isinstance(piece, Lit) else piece if isinstance(piece, str) else None
                if known is not None and flat and isinstance(flat[-1], str):
                    flat[-1] += known
                else:
                    flat.append(piece if known is None else known)
        if all(isinstance(p, str) for p in flat):
            return Val(Lit.of("".join(str(p) for p in flat)))
        return Val(Text(tuple(flat)))

    def _eval_UnaryOp(self, frame: Frame, state: State, node: ast.UnaryOp) -> Val:
        value = self.evaluate(frame, state, node.operand)
        if isinstance(value.core, Lit) and isinstance(value.core.value, (int, float)):
            if isinstance(node.op, ast.USub):
                return Val(Lit.of(-value.core.value))
            if isinstance(node.op, ast.Not):
                return Val(Lit.of(not value.core.value))
        return Val(Expr(ast.unparse(node), value.core, True, (value.core,)))

    def _eval_BinOp(self, frame: Frame, state: State, node: ast.BinOp) -> Val:
        left = self.evaluate(frame, state, node.left)
        right = self.evaluate(frame, state, node.right)
        return self.binary(frame, state, node, node.op, left, right)

    def binary(self, frame: Frame, state: State, node: ast.AST, op: ast.operator, left: Val, right: Val) -> Val:
        if isinstance(left.core, Phi) or isinstance(right.core, Phi):
            return self.spread(
                state, left, lambda a: self.spread(state, right, lambda b: self._binary(frame, state, node, op, a, b))
            )
        return self._binary(frame, state, node, op, left, right)

    def _binary(self, frame: Frame, state: State, node: ast.AST, op: ast.operator, left: Val, right: Val) -> Val:
        a, b = left.core, right.core
        if isinstance(a, Lit) and isinstance(b, Lit) and type(op) in ARITHMETIC:
            try:
                result = ARITHMETIC[type(op)](a.value, b.value)
            except Exception:  # the operands decide what can go wrong
                return self.heap.symbol(frame.module.source(node)[:80])
            if isinstance(result, (int, float, bool)) or (isinstance(result, str) and len(result) < 4096):
                return Val(Lit.of(result))
        mine, theirs = self.sequence(state, left), self.sequence(state, right)
        if isinstance(op, ast.Add) and mine is not None and theirs is not None:
            return self.make_list(state, mine + theirs)
        if isinstance(op, ast.BitOr) and isinstance(a, Ref) and isinstance(b, Ref):
            ref = self.heap.mapping(state, None)
            self.update(state, ref, left)
            self.update(state, ref, right)
            return Val(ref)
        if isinstance(op, ast.Add) and any(
            isinstance(c, Text) or (isinstance(c, Lit) and isinstance(c.value, str)) for c in (a, b)
        ):
            return self.text([a, b])
        if isinstance(op, ast.Mod) and isinstance(a, Lit) and isinstance(a.value, str):
            parts = theirs if theirs is not None else [right]
            return self._percent(a.value, [p.core for p in parts])
        return self._derived(frame, node, op, a, b)

    def _percent(self, template: str, cores: list[Core]) -> Val:
        pieces: list[Core | str] = []
        rest = template
        for core in cores:
            head, sign, tail = rest.partition("%")
            if not sign or not tail:
                break
            pieces += [head, core]
            rest = tail[1:]
        return self.text([*pieces, rest])

    def _derived(self, frame: Frame, node: ast.AST, op: ast.operator, a: Core, b: Core) -> Val:
        """Arithmetic that cannot be folded: the same as its base (`x * 1`), provably other (`x // 2`), or unknown."""
        text = f"{path_of(self.heap, a)} {_SIGNS.get(type(op), '?')} {path_of(self.heap, b)}"
        if len(text) > MAX_TEXT:
            return self._opaque(frame, node)  # type: ignore[arg-type]
        for base, factor, commutes in ((a, b, True), (b, a, isinstance(op, (ast.Add, ast.Mult)))):
            if (
                not commutes
                or not isinstance(factor, Lit)
                or isinstance(factor.value, (str, bool))
                or factor.value is None
            ):
                continue
            if NEUTRAL.get(type(op)) == factor.value:
                return Val(base)
            if isinstance(base, Expr) and base.base is not None and isinstance(base.base, (Ref, Option)):
                undone = _undone(base, op, factor.value)
                if undone is not None:
                    return Val(undone)
            return Val(Expr(text, base, type(op) in NEUTRAL, (a, b)))
        if (
            isinstance(op, ast.FloorDiv)
            and isinstance(a, Expr)
            and b in a.parts
            and a.text.endswith(f"* {path_of(self.heap, b)}")
        ):
            return Val(a.parts[0])
        return Val(Expr(text, a if isinstance(a, (Ref, Option)) else b, False, (a, b)))


def _undone(inner: Expr, op: ast.operator, factor: float) -> Core | None:
    """`x * 2 // 2` is x: the base, when this step takes back the one before."""
    if isinstance(op, ast.FloorDiv) and inner.text.endswith(f" * {factor}"):
        return inner.base
    if isinstance(op, ast.Sub) and inner.text.endswith(f" + {factor}"):
        return inner.base
    if isinstance(op, ast.Add) and inner.text.endswith(f" - {factor}"):
        return inner.base
    return None


_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Div: "/",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.Pow: "**",
}
