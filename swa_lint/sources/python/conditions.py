"""What passing or failing a test tells: draft or target, equal or not, None or set."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from swa_lint.sglang.names import draft_flag
from swa_lint.sources.python.base import Base, Frame
from swa_lint.sources.python.heap import key_of, path_of
from swa_lint.sources.python.values import Cond, Core, Lit, Ref, State, Val, alternatives

Equal = frozenset[object]


@dataclass(frozen=True)
class Test:
    """`truth` when it is certain; else what holds after it passed (`yes`) or failed (`no`), equalities apart."""

    truth: bool | None = None
    yes: tuple[Cond, ...] = ()
    no: tuple[Cond, ...] = ()
    equal_yes: tuple[Equal, ...] = ()
    equal_no: tuple[Equal, ...] = ()
    only_none: bool = False

    def negated(self) -> Test:
        truth = None if self.truth is None else not self.truth
        return Test(truth, self.no, self.yes, self.equal_no, self.equal_yes, self.only_none)


class Tests(Base):
    """Reads tests."""

    def test(self, frame: Frame, state: State, node: ast.expr) -> Test:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.test(frame, state, node.operand).negated()
        if isinstance(node, ast.BoolOp):
            return self._bool(frame, state, node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compare(frame, state, node)
        value = self.evaluate(frame, state, node)
        if (isinstance(node, ast.Name) and node.id == "TYPE_CHECKING") or (
            isinstance(node, ast.Attribute) and node.attr == "TYPE_CHECKING"
        ):
            return Test(False)
        return self._truth(frame, state, node, value)

    def _truth(self, frame: Frame, state: State, node: ast.expr, value: Val) -> Test:
        options = alternatives(value, state.path)
        if options and all(isinstance(v.core, Lit) for v in options) and not self._knob(frame, state, node):
            truths = {bool(v.core.value) for v in options if isinstance(v.core, Lit)}
            if len(truths) == 1:
                return Test(truths.pop())
        key = key_of(value.core if len(options) != 1 else options[0].core)
        is_draft = any(draft_flag(path_of(self.heap, v.core).rpartition(".")[2].strip("()")) for v in options)
        if not is_draft and isinstance(node, (ast.Name, ast.Attribute)):
            is_draft = draft_flag(node.id if isinstance(node, ast.Name) else node.attr)
        return self._known(
            state, Test(None, (Cond(key, True, is_draft),), (Cond(key, False, is_draft),), only_none=True)
        )

    @staticmethod
    def _known(state: State, test: Test) -> Test:
        """A test that the path has already decided is certain."""
        if test.yes and all(c in state.path for c in test.yes):
            return Test(True)
        if test.no and all(c in state.path for c in test.no):
            return Test(False)
        return test

    def _knob(self, frame: Frame, state: State, node: ast.expr) -> bool:
        """Module constants are knobs: somebody turns them, so a test on one can go either way."""
        return any(
            isinstance(n, ast.Name) and self.is_global(frame, state, n.id)
            for n in ast.walk(node)
            if not isinstance(n, ast.Constant)
        )

    def _bool(self, frame: Frame, state: State, node: ast.BoolOp) -> Test:
        conjunction = isinstance(node.op, ast.And)
        tests = []
        for operand in node.values:
            test = self.test(frame, state, operand)
            tests.append(test if conjunction else test.negated())
        # `or` is handled as the negation of an `and` of negations.
        if any(t.truth is False for t in tests):
            result = Test(False)
        elif all(t.truth for t in tests):
            result = Test(True)
        else:
            open_tests = [t for t in tests if t.truth is None]
            checks = [t for t in open_tests if not t.only_none]
            alone = open_tests[0] if len(open_tests) == 1 else None
            result = Test(
                None,
                tuple(c for t in open_tests for c in t.yes),
                alone.no if alone else (Cond(("and", node), False),),
                tuple(e for t in open_tests for e in t.equal_yes),
                # `x is not None and x != y` failed: x is unset, or equal.
                checks[0].equal_no if len(checks) == 1 else (),
                all(t.only_none for t in open_tests),
            )
        return result if conjunction else result.negated()

    def _compare(self, frame: Frame, state: State, node: ast.Compare) -> Test:
        left = self.evaluate(frame, state, node.left)
        right = self.evaluate(frame, state, node.comparators[0])
        op = node.ops[0]
        if isinstance(op, (ast.Eq, ast.NotEq)):
            self.note_compare(frame, state, node, left, right)
        if not isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
            return self._contains(node, left, right)
        result = self._same(frame, state, node, left, right)
        return result.negated() if isinstance(op, (ast.NotEq, ast.IsNot)) else result

    def _same(self, frame: Frame, state: State, node: ast.Compare, left: Val, right: Val) -> Test:
        a, b = left.core, right.core
        if isinstance(a, Lit) and isinstance(b, Lit) and not self._knob(frame, state, node):
            return Test(a.value == b.value)
        for one, other in ((a, b), (b, a)):
            if isinstance(other, Lit) and other.value is None:
                if isinstance(one, Ref) and self._made_here(one):
                    return Test(False)
                key: object = ("none", key_of(one))
                return self._known(state, Test(None, (Cond(key, True),), (Cond(key, False),), only_none=True))
            if isinstance(other, Lit) and isinstance(other.value, str):
                return self._role(state, one, other.value)
            if isinstance(other, Lit) and isinstance(other.value, bool):
                draft = draft_flag(path_of(self.heap, one).rpartition(".")[2])
                holds = other.value
                return self._known(
                    state, Test(None, (Cond(key_of(one), holds, draft),), (Cond(key_of(one), not holds, draft),))
                )
        equal = tuple(self._equalities(state, left, right))
        key = ("same", key_of(a), key_of(b))
        if path_of(self.heap, b).rpartition(".")[2] in ("DRAFT", "TARGET"):
            draft = path_of(self.heap, b).endswith("DRAFT")
            return Test(
                None, (Cond(("role", key_of(a)), draft, True),), (Cond(("role", key_of(a)), not draft, True),), equal
            )
        return Test(None, (Cond(key, True),), (Cond(key, False),), equal)

    def _made_here(self, ref: Ref) -> bool:
        """Whether an object is certain to exist: what another method makes may not be there yet, or is made in turn."""
        thing = self.heap.things[ref.oid]
        return thing.kind != "opaque" and thing.time > self.since

    def _role(self, state: State, core: Core, word: str) -> Test:
        """`role == "draft"`, `kind == "target"`: a test for the draft; other strings are tests like any."""
        if "draft" in word.lower() and word.replace("_", "").isalpha():  # other words name algorithms, not roles
            key: object = ("role", key_of(core))
            return self._known(state, Test(None, (Cond(key, True, True),), (Cond(key, False, True),)))
        if word in ("target", "main", "base"):
            key = ("role", key_of(core))
            return self._known(state, Test(None, (Cond(key, False, True),), (Cond(key, True, True),)))
        key = ("is", key_of(core), word)
        return self._known(state, Test(None, (Cond(key, True),), (Cond(key, False),)))

    def _contains(self, node: ast.Compare, left: Val, right: Val) -> Test:
        key = (type(node.ops[0]).__name__, key_of(left.core), key_of(right.core))
        return Test(None, (Cond(key, True),), (Cond(key, False),))

    def _equalities(self, state: State, left: Val, right: Val) -> list[Equal]:
        """What `left == right` says, item by item for sequences and mappings."""
        a, b = left.core, right.core
        if isinstance(a, Ref) and isinstance(b, Ref) and a.oid in state.seqs and b.oid in state.seqs:
            mine, theirs = state.seqs[a.oid], state.seqs[b.oid]
            if self.heap.things[a.oid].kind == "dict":
                pairs = [
                    (
                        self.heap.get(state, a.oid, f"[{k.core.value!r}]"),
                        self.heap.get(state, b.oid, f"[{k.core.value!r}]"),
                    )
                    for k in mine
                    if isinstance(k.core, Lit)
                ]
            else:
                pairs = list(zip(mine, theirs, strict=False))
            return [e for x, y in pairs for e in self._equalities(state, x, y)]
        xs, ys = alternatives(left, state.path), alternatives(right, state.path)
        return [frozenset((x.core, y.core)) for x in xs for y in ys if len(xs) == 1 or len(ys) == 1]
