"""Statements: how a body changes what holds on its paths."""

from __future__ import annotations

import ast

from swa_lint.sources.python.base import MAX_UNROLL, Frame
from swa_lint.sources.python.conditions import Test
from swa_lint.sources.python.heap import item, key_of, path_of
from swa_lint.sources.python.scopes import Scope, bind_imports
from swa_lint.sources.python.stores import Stores
from swa_lint.sources.python.values import (
    Cond,
    Ext,
    Func,
    Klass,
    Lit,
    Phi,
    Ref,
    State,
    Val,
    alternatives,
    contradictory,
)

_ENDS = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit", "pytest.skip", "pytest.fail"})
_ENDING = frozenset(name.rpartition(".")[2] for name in _ENDS)


class Statements(Stores):
    """Executes statements."""

    def block(self, frame: Frame, state: State, body: list[ast.stmt]) -> None:
        for node in body:
            if not state.live:
                return
            self.tick()
            frame.statement = node
            handler = getattr(self, f"_exec_{type(node).__name__}", None)
            if handler is not None:
                handler(frame, state, node)

    # -- bindings ---

    def _exec_Assign(self, frame: Frame, state: State, node: ast.Assign) -> None:
        value = self.evaluate(frame, state, node.value)
        for target in node.targets:
            self.store(frame, state, target, value, node, node.value)

    def _exec_AnnAssign(self, frame: Frame, state: State, node: ast.AnnAssign) -> None:
        if node.value is not None:
            value = self.evaluate(frame, state, node.value)
            self.annotate(frame, value, node.annotation)
            self.store(frame, state, node.target, value, node, node.value)

    def _exec_AugAssign(self, frame: Frame, state: State, node: ast.AugAssign) -> None:
        load = ast.copy_location(_as_load(node.target), node.target)
        before, value = self.evaluate(frame, state, load), self.evaluate(frame, state, node.value)
        if (
            isinstance(before.core, Ref)
            and before.core.oid in state.seqs
            and self.heap.things[before.core.oid].kind == "list"
        ) and isinstance(node.op, ast.Add):
            self.extend(frame, state, before.core, value)
            return
        if (
            isinstance(node.op, ast.BitOr)
            and isinstance(before.core, Ref)
            and self.heap.things[before.core.oid].kind == "dict"
        ):
            self.update(state, before.core, value)
            return
        result = self.binary(frame, state, node, node.op, before, value)
        self.store(frame, state, node.target, result, node, node.value)

    def _exec_Expr(self, frame: Frame, state: State, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        self.evaluate(frame, state, node.value)
        if isinstance(node.value, ast.Call):
            callee = node.value.func
            if isinstance(callee, ast.Name) or (
                isinstance(callee, ast.Attribute) and callee.attr in _ENDING and isinstance(callee.value, ast.Name)
            ):
                core = self.evaluate(frame, state, callee).core
                if isinstance(core, Ext) and core.name in _ENDS:
                    state.live = False

    def _exec_Delete(self, frame: Frame, state: State, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                state.env.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                base, key = (
                    self.evaluate(frame, state, target.value).core,
                    self.evaluate(frame, state, target.slice).core,
                )
                if isinstance(base, Ref) and isinstance(key, Lit):
                    state.slots.pop((base.oid, item(key.value)), None)
                    state.seqs[base.oid] = tuple(k for k in state.seqs.get(base.oid, ()) if k.core != key)

    def _exec_FunctionDef(self, frame: Frame, state: State, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        closure = {**(frame.closure or {}), **state.env} if frame.name != "<module>" else None
        func = Val(Func(node, frame.module, None, frame.owner, closure))
        state.env[node.name] = func
        if closure is not None:
            closure[node.name] = func

    _exec_AsyncFunctionDef = _exec_FunctionDef

    def _exec_ClassDef(self, frame: Frame, state: State, node: ast.ClassDef) -> None:
        state.env[node.name] = Val(Klass(node, frame.module))

    def _exec_Import(self, frame: Frame, state: State, node: ast.Import | ast.ImportFrom) -> None:
        scope = Scope()
        bind_imports(scope, node)
        for name in scope.imports:
            state.env[name] = self.imported(frame.module, scope, name)

    _exec_ImportFrom = _exec_Import

    # -- control flow ---

    def _exec_Return(self, frame: Frame, state: State, node: ast.Return) -> None:
        value = self.evaluate(frame, state, node.value) if node.value is not None else Val(Lit.of(None))
        if node.value is not None and not isinstance(value.core, Ref):
            value = value.bound(self.span(frame, node), self.span(frame, node.value))
        frame.returns.append((state.fork(), value))
        state.live = False

    def _exec_Raise(self, frame: Frame, state: State, node: ast.Raise) -> None:
        state.live = False

    def _exec_Assert(self, frame: Frame, state: State, node: ast.Assert) -> None:
        self.assume(state, node.test, self.test(frame, state, node.test), True)

    def assume(self, state: State, node: ast.expr, test: Test, passed: bool) -> None:
        """Go on where a test passed (or failed); a path that contradicts itself ends."""
        if test.truth is (not passed):
            state.live = False
            return
        conds, equal = (test.yes, test.equal_yes) if passed else (test.no, test.equal_no)
        state.path += tuple(c for c in conds if c not in state.path)
        state.equal |= set(equal)
        if contradictory(state.path):
            state.live = False
        self._narrow(state, node, passed)

    def _narrow(self, state: State, node: ast.expr, passed: bool) -> None:
        """`if x is not None` and `if x` leave only the alternatives of x that fit."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) and passed:
            for operand in node.values:
                self._narrow(state, operand, True)
            return
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._narrow(state, node.operand, not passed)
            return
        keep_none = False
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.comparators[0], ast.Constant):
            if node.comparators[0].value is not None:
                return
            keep_none = isinstance(node.ops[0], (ast.Is, ast.Eq)) == passed
            node = node.left
        elif not passed:
            return
        node = node.target if isinstance(node, ast.NamedExpr) else node
        if not isinstance(node, ast.Name) or node.id not in state.env:
            return
        value = state.env[node.id]
        if isinstance(value.core, Phi):
            none = Lit.of(None)
            left = [v for v in alternatives(value, state.path) if (v.core == none) == keep_none]
            if left:
                state.env[node.id] = left[0] if len(left) == 1 else Val(Phi(tuple(left)))

    def _exec_If(self, frame: Frame, state: State, node: ast.If) -> None:
        test = self.test(frame, state, node.test)
        if test.truth is not None:
            self.block(frame, state, node.body if test.truth else node.orelse)
            return
        other = state.fork()
        self.assume(state, node.test, test, True)
        self.block(frame, state, node.body)
        self.assume(other, node.test, test, False)
        self.block(frame, other, node.orelse)
        self.heap.join(state, other)

    def _exec_Match(self, frame: Frame, state: State, node: ast.Match) -> None:
        subject = self.evaluate(frame, state, node.subject)
        done: list[State] = []
        for case in node.cases:
            branch = state.fork()
            wildcard = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
            if isinstance(case.pattern, ast.MatchValue):
                compare = ast.Compare(node.subject, [ast.Eq()], [case.pattern.value])
                ast.copy_location(compare, case.pattern)
                test = self.test(frame, branch, compare)
                self.assume(branch, compare, test, True)
                self.assume(state, compare, test, False)
            elif not wildcard:
                key = ("case", key_of(subject.core), case.pattern)
                branch.path += (Cond(key, True),)
                state.path += (Cond(key, False),)
            else:
                state.live = False
            self.block(frame, branch, case.body)
            done.append(branch)
        for branch in done:
            self.heap.join(state, branch)

    def _exec_For(self, frame: Frame, state: State, node: ast.For | ast.AsyncFor) -> None:
        iterable = self.evaluate(frame, state, node.iter)
        items = self.sequence(state, iterable)
        breaks: list[State] = []
        if items is not None and len(items) <= MAX_UNROLL:
            for element in items:
                if not state.live:
                    break
                self.assign(frame, state, node.target, element)
                self._iterate(frame, state, node.body, breaks)
        else:
            before = state.fork()
            self.assign(frame, state, node.target, self.heap.fresh(f"{path_of(self.heap, iterable.core)}[*]", None))
            self._iterate(frame, state, node.body, breaks)
            self.heap.join(state, before)
        self.block(frame, state, node.orelse)
        for other in breaks:
            self.heap.join(state, other)

    _exec_AsyncFor = _exec_For

    def _exec_While(self, frame: Frame, state: State, node: ast.While) -> None:
        before, breaks = state.fork(), []  # type: State, list[State]
        test = self.test(frame, state, node.test)
        self.assume(state, node.test, test, True)
        self._iterate(frame, state, node.body, breaks)
        if test.truth is True:
            state.live = False
        else:
            self.heap.join(state, before)
        for other in breaks:
            self.heap.join(state, other)

    def _iterate(self, frame: Frame, state: State, body: list[ast.stmt], breaks: list[State]) -> None:
        """One pass through a loop's body; `continue` comes back at its end, `break` after the loop."""
        outer = self.loops
        self.loops = (breaks, [])
        try:
            self.block(frame, state, body)
            for other in self.loops[1]:
                self.heap.join(state, other)
        finally:
            self.loops = outer

    loops: tuple[list[State], list[State]] = ([], [])

    def _exec_Break(self, frame: Frame, state: State, node: ast.Break) -> None:
        self.loops[0].append(state.fork())
        state.live = False

    def _exec_Continue(self, frame: Frame, state: State, node: ast.Continue) -> None:
        self.loops[1].append(state.fork())
        state.live = False

    def _exec_Try(self, frame: Frame, state: State, node: ast.Try) -> None:
        before = state.fork()
        self.block(frame, state, node.body)
        self.block(frame, state, node.orelse)
        for handler in node.handlers:
            branch = before.fork()
            branch.path += (Cond(("except", handler), True),)
            self.block(frame, branch, handler.body)
            self.heap.join(state, branch)
        self.block(frame, state, node.finalbody)

    _exec_TryStar = _exec_Try

    def _exec_With(self, frame: Frame, state: State, node: ast.With | ast.AsyncWith) -> None:
        expects = frame.expects_error
        for entry in node.items:
            value = self.evaluate(frame, state, entry.context_expr)
            text = ast.unparse(entry.context_expr).partition("(")[0]
            if text.endswith((".raises", "assertRaises", "assertRaisesRegex")) or text == "raises":
                frame.expects_error = True
            if entry.optional_vars is not None:
                self.assign(frame, state, entry.optional_vars, value)
        inner = state if not frame.expects_error or expects else state.fork()
        self.block(frame, inner, node.body)
        if inner is not state:
            inner.live = True
            state.slots, state.seqs = inner.slots, inner.seqs
        frame.expects_error = expects

    _exec_AsyncWith = _exec_With


def _as_load(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name):
        return ast.Name(node.id, ast.Load())
    if isinstance(node, ast.Attribute):
        return ast.Attribute(node.value, node.attr, ast.Load())
    return ast.Subscript(node.value, node.slice, ast.Load()) if isinstance(node, ast.Subscript) else node
