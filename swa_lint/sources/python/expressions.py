"""Expressions: from an ast node to an abstract value."""

from __future__ import annotations

import ast
from collections.abc import Callable

from swa_lint.sglang.names import FIELD_OF_NAME
from swa_lint.sources.python.base import MAX_UNROLL, Frame
from swa_lint.sources.python.heap import ABSENT, path_of
from swa_lint.sources.python.operators import Operators
from swa_lint.sources.python.values import Expr, Lit, Phi, State, Val, merge

ENTRY = -1  # `given` of a value that was bound to its field's name in a literal


class Expressions(Operators):
    """Evaluates expressions; calls are left to the layer above."""

    def evaluate(self, frame: Frame, state: State, node: ast.expr) -> Val:
        handler = getattr(self, f"_eval_{type(node).__name__}", None)
        if handler is None:
            return self._opaque(frame, node)
        value: Val = handler(frame, state, node)
        return value if value.expr is not None else value.at(self.span(frame, node))

    def _eval_Constant(self, frame: Frame, state: State, node: ast.Constant) -> Val:
        if isinstance(node.value, (int, float, str, bool, type(None))):
            return Val(Lit.of(node.value))
        return self._opaque(frame, node)

    def _eval_Name(self, frame: Frame, state: State, node: ast.Name) -> Val:
        value = self.lookup(frame, state, node.id)
        self.adopt(state)
        return value if value.given else value.at(self.span(frame, node))

    def _eval_NamedExpr(self, frame: Frame, state: State, node: ast.NamedExpr) -> Val:
        value = self.evaluate(frame, state, node.value).bound(self.span(frame, node), self.span(frame, node.value))
        self.name(value, node.target.id)
        state.env[node.target.id] = value
        return value

    # -- displays ---

    def _eval_List(self, frame: Frame, state: State, node: ast.List | ast.Tuple | ast.Set) -> Val:
        items: list[Val] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.evaluate(frame, state, element.value)
                known = self.sequence(state, inner)
                items.extend(
                    known if known is not None else [inner._replace(core=Expr(f"*{path_of(self.heap, inner.core)}"))]
                )
                continue
            value = self.evaluate(frame, state, element)
            place = self.span(frame, element)
            items.append(value.bound(place, place))
        first = items[0].core if len(items) == 2 else None
        if isinstance(first, Lit) and first.value in FIELD_OF_NAME:
            # A ("page_size", 1) pair binds the value to the field's name.
            items[1] = items[1]._replace(where=self.span(frame, node), given=ENTRY)
        return self.make_list(state, items)

    _eval_Tuple = _eval_List
    _eval_Set = _eval_List

    def _eval_Dict(self, frame: Frame, state: State, node: ast.Dict) -> Val:
        ref = self.heap.mapping(state, self.span(frame, node))
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.evaluate(frame, state, value)
            if key is None:
                self.update(state, ref, inner)
                continue
            name = self.evaluate(frame, state, key).core
            if isinstance(name, Lit):
                place = self.span(frame, key, value)
                self.name(inner, str(name.value))
                self.heap.set_item(state, ref.oid, name.value, inner.bound(place, self.span(frame, value)))
        return Val(ref)

    def _eval_ListComp(self, frame: Frame, state: State, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Val:
        inner = state.fork()
        items = self._comprehend(frame, inner, node.generators, lambda: [self.evaluate(frame, inner, node.elt)])
        if items is None:
            return self._opaque(frame, node)
        state.slots, state.seqs = inner.slots, inner.seqs
        return self.make_list(state, items)

    _eval_GeneratorExp = _eval_ListComp
    _eval_SetComp = _eval_ListComp

    def _eval_DictComp(self, frame: Frame, state: State, node: ast.DictComp) -> Val:
        inner = state.fork()

        def entry() -> list[Val]:
            key, value = self.evaluate(frame, inner, node.key), self.evaluate(frame, inner, node.value)
            place = self.span(frame, node.key, node.value)
            return [self.make_list(inner, [key, value if value.given or value.where else value.bound(place, None)])]

        items = self._comprehend(frame, inner, node.generators, entry)
        if items is None:
            return self._opaque(frame, node)
        state.slots, state.seqs = inner.slots, inner.seqs
        ref = self.heap.mapping(state, self.span(frame, node))
        for pair in items:
            key, value = self.sequence(state, pair) or [ABSENT, ABSENT]
            if isinstance(key.core, Lit):
                self.name(value, str(key.core.value))
                self.heap.set_item(state, ref.oid, key.core.value, value)
        return Val(ref)

    def _comprehend(
        self, frame: Frame, state: State, generators: list[ast.comprehension], result: Callable[[], list[Val]]
    ) -> list[Val] | None:
        """Run a comprehension over known sequences; None when one is not known."""
        if not generators:
            return result()
        first, *rest = generators
        items = self.sequence(state, self.evaluate(frame, state, first.iter))
        if items is None or len(items) > MAX_UNROLL:
            return None
        found: list[Val] = []
        for element in items:
            self.assign(frame, state, first.target, element)
            if all(self.test(frame, state, t).truth is not False for t in first.ifs):
                inner = self._comprehend(frame, state, rest, result)
                if inner is None:
                    return None
                found.extend(inner)
        return found

    def assign(self, frame: Frame, state: State, target: ast.expr, value: Val) -> None:
        """Bind a target without a place of its own (loops, comprehensions, unpacking)."""
        if isinstance(target, ast.Name):
            self.name(value, target.id)
            state.env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = self.sequence(state, value)
            for index, element in enumerate(target.elts):
                if isinstance(element, ast.Starred):
                    self.assign(frame, state, element.value, self.heap.fresh("*", None))
                elif items is not None and index < len(items) and len(items) >= len(target.elts):
                    self.assign(frame, state, element, items[index])
                else:
                    part = self.heap.symbol(f"{path_of(self.heap, value.core)}[{index}]")
                    self.assign(frame, state, element, part)

    # -- choices ---

    def _eval_IfExp(self, frame: Frame, state: State, node: ast.IfExp) -> Val:
        test = self.test(frame, state, node.test)
        if test.truth is not None:
            return self.evaluate(frame, state, node.body if test.truth else node.orelse)
        yes, no = state.fork(), state.fork()
        yes.path, no.path = state.path + test.yes, state.path + test.no
        a, b = self.evaluate(frame, yes, node.body), self.evaluate(frame, no, node.orelse)
        state.slots, state.seqs = {**yes.slots, **no.slots}, {**yes.seqs, **no.seqs}
        return merge(self._arm(frame, a, node.body), self._arm(frame, b, node.orelse), test.yes, test.no)

    def _arm(self, frame: Frame, value: Val, node: ast.expr) -> Val:
        """One side of a choice: where its value was bound before is only a hop, the choice is the place."""
        if value.given or value.where is None:
            return value.at(self.span(frame, node))
        hops = (*value.hops, (value.where, "value comes from here"))[:6]
        origin = value.origin or (value.where if isinstance(value.core, Phi) else None)
        return value._replace(where=None, expr=self.span(frame, node), hops=hops, origin=origin)

    def _eval_BoolOp(self, frame: Frame, state: State, node: ast.BoolOp) -> Val:
        values = [self._arm(frame, self.evaluate(frame, state, v), v) for v in node.values]
        result = values[-1]
        for index in range(len(values) - 2, -1, -1):
            test = self.test(frame, state, node.values[index])
            if test.truth is not None:
                takes_this = test.truth if isinstance(node.op, ast.Or) else not test.truth
                result = values[index] if takes_this else result
            elif isinstance(node.op, ast.Or):
                result = merge(values[index], result, test.yes, test.no)
            else:
                result = merge(result, values[index], test.yes, test.no)
        return result
