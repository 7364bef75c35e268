"""Expressions: from an ast node to an abstract value."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from swa_lint.sglang.names import FIELD_OF_NAME
from swa_lint.sources.python.base import MAX_UNROLL, Frame
from swa_lint.sources.python.conditions import Tests
from swa_lint.sources.python.heap import ABSENT, item, path_of
from swa_lint.sources.python.scopes import members
from swa_lint.sources.python.values import (
    Core,
    Expr,
    Ext,
    Func,
    Klass,
    Lit,
    Namespace,
    Option,
    Phi,
    Ref,
    State,
    Text,
    Val,
    alternatives,
    merge,
)

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
ENTRY = -1  # `given` of a value that was bound to its field's name in a literal


class Expressions(Tests):
    """Evaluates expressions; calls are left to the layer above."""

    def evaluate(self, frame: Frame, state: State, node: ast.expr) -> Val:
        handler = getattr(self, f"_eval_{type(node).__name__}", None)
        if handler is None:
            return self._opaque(frame, node)
        value: Val = handler(frame, state, node)
        return value if value.expr is not None else value._replace(expr=self.span(frame, node))

    def _opaque(self, frame: Frame, node: ast.expr) -> Val:
        return self.heap.fresh(frame.module.source(node)[:80], self.span(frame, node))

    def _eval_Constant(self, frame: Frame, state: State, node: ast.Constant) -> Val:
        if isinstance(node.value, (int, float, str, bool, type(None))):
            return Val(Lit.of(node.value))
        return self._opaque(frame, node)

    def _eval_Name(self, frame: Frame, state: State, node: ast.Name) -> Val:
        value = self.lookup(frame, state, node.id)
        self.adopt(state)
        return value if value.given else value._replace(expr=self.span(frame, node))

    def _eval_NamedExpr(self, frame: Frame, state: State, node: ast.NamedExpr) -> Val:
        value = self.evaluate(frame, state, node.value).bound(self.span(frame, node), self.span(frame, node.value))
        self.name(value, node.target.id)
        state.env[node.target.id] = value
        return value

    def name(self, value: Val, name: str) -> None:
        """Remember what an object is called: names say whose it is."""
        for option in alternatives(value):
            if isinstance(option.core, Ref):
                self.heap.things[option.core.oid].names.add(name)

    # -- attributes and items ---

    def _eval_Attribute(self, frame: Frame, state: State, node: ast.Attribute) -> Val:
        base = self.evaluate(frame, state, node.value)
        value = self.spread(state, base, lambda v: self.attribute(frame, state, v, node.attr))
        return value if value.given else value._replace(expr=self.span(frame, node))

    def spread(self, state: State, value: Val, each: Callable[[Val], Val]) -> Val:
        """Apply a function to every alternative of a value, keeping its conditions."""
        if not isinstance(value.core, Phi):
            return each(value)
        found = []
        for option in alternatives(value, state.path):
            result = each(option)
            fresh = tuple(c for c in option.conds if c not in state.path and c not in result.conds)
            found.append(result._replace(conds=result.conds + fresh))
        if not found:
            return each(value.core.options[0])
        return found[0] if len(found) == 1 else Val(Phi(tuple(found)))

    def attribute(self, frame: Frame, state: State, base: Val, attr: str) -> Val:
        core = base.core
        if isinstance(core, Namespace):
            found = self.member(core.module, attr) or Val(Ext(f"{core.module.name}.{attr}"))
            self.adopt(state)
            return found
        if isinstance(core, Ext):
            return Val(Ext(f"{core.name}.{attr}"))
        if isinstance(core, Klass):
            member = self.class_attribute(core, attr, None)
            self.adopt(state)
            return member or self.heap.symbol(f"{core.node.name}.{attr}")
        if isinstance(core, Ref):
            return self._object_attribute(frame, state, core, base, attr)
        return self.heap.symbol(f"{path_of(self.heap, core)}.{attr}")

    def _object_attribute(self, frame: Frame, state: State, core: Ref, base: Val, attr: str) -> Val:
        thing = self.heap.things[core.oid]
        if attr == "__dict__":
            return base
        if (core.oid, attr) in state.slots or not isinstance(thing.cls, Klass):
            return self.heap.get(state, core.oid, attr)
        found = self.class_attribute(thing.cls, attr, base)
        self.adopt(state)
        if found is None:
            return self.heap.get(state, core.oid, attr)
        if isinstance(found.core, Func) and _is_property(found.core):
            return self.call_value(frame, state, found, [], [], found.core.node)  # type: ignore[arg-type]
        return found

    def class_attribute(self, klass: Klass, attr: str, instance: Val | None, hops: int = 0) -> Val | None:
        """A class's attribute, looked for in its bases too: a method (bound to `instance`) or a constant."""
        node = members(klass.node).get(attr)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            decorators = {ast.unparse(d) for d in node.decorator_list}
            bound = Val(klass) if "classmethod" in decorators else None if "staticmethod" in decorators else instance
            return Val(Func(node, klass.module, bound, klass))
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            return self.class_value(klass, node, node.value)
        if hops > 6:
            return None
        for base in self.bases(klass):
            if isinstance(base, Klass):
                found = self.class_attribute(base, attr, instance, hops + 1)
                if found is not None:
                    return found
        return None

    def class_value(self, klass: Klass, node: ast.Assign | ast.AnnAssign, source: ast.expr) -> Val:
        """A class-level value, made once among its module's globals."""
        if node not in self.class_values:
            frame = Frame(klass.module, klass.node.name)
            value = self.evaluate(frame, self.globals.setdefault(klass.module, State()), source)
            self.class_values[node] = value.bound(self.span(frame, node), self.span(frame, source))
            self.ran.add(node)
        return self.class_values[node]

    def bases(self, klass: Klass) -> list[Core]:
        frame = Frame(klass.module, klass.node.name)
        return [self.evaluate(frame, State(), base).core for base in klass.node.bases]

    def _eval_Subscript(self, frame: Frame, state: State, node: ast.Subscript) -> Val:
        base = self.evaluate(frame, state, node.value)
        if isinstance(node.slice, ast.Slice):
            return self._slice(frame, state, base, node.slice) or self._opaque(frame, node)
        key = self.evaluate(frame, state, node.slice)
        chosen = self._table(frame, state, base, key, node)
        if chosen is not None:
            return chosen
        return self.spread(state, base, lambda v: self.subscript(state, v, key))

    def _table(self, frame: Frame, state: State, base: Val, key: Val, node: ast.Subscript) -> Val | None:
        """`{True: a, False: b}[test]` and `(b, a)[test]` choose like a conditional expression."""
        if not isinstance(base.core, Ref) or isinstance(key.core, Lit) or len(state.seqs.get(base.core.oid, ())) != 2:
            return None
        kind = self.heap.things[base.core.oid].kind
        if kind == "dict":
            yes, no = (self.heap.get(state, base.core.oid, item(k)) for k in (True, False))
        else:
            no, yes = state.seqs[base.core.oid]
        test = self.test(frame, state, node.slice)
        if ABSENT.core in (yes.core, no.core) or test.truth is not None or not any(c.draft for c in test.yes):
            return None
        return merge(yes._replace(where=None), no._replace(where=None), test.yes, test.no)

    def subscript(self, state: State, base: Val, key: Val) -> Val:
        if not isinstance(base.core, Ref):
            return self.heap.symbol(f"{path_of(self.heap, base.core)}[{path_of(self.heap, key.core)}]")
        oid, thing = base.core.oid, self.heap.things[base.core.oid]
        if isinstance(key.core, Lit):
            value = key.core.value
            if thing.kind == "list" and isinstance(value, int) and oid in state.seqs:
                items = state.seqs[oid]
                if -len(items) <= value < len(items):
                    return items[value]
            found = self.heap.get(state, oid, item(value))
            if thing.kind == "copy" and isinstance(value, str) and (oid, value) in state.slots:
                return state.slots[oid, value].value
            return found if found.core != ABSENT.core else self.heap.symbol(f"{thing.path}[{value!r}]")
        return self.heap.symbol(f"{thing.path}[{path_of(self.heap, key.core)}]")

    def _slice(self, frame: Frame, state: State, base: Val, node: ast.Slice) -> Val | None:
        if not isinstance(base.core, Ref) or self.heap.things[base.core.oid].kind != "list" or node.step is not None:
            return None
        bounds = []
        for part in (node.lower, node.upper):
            value = self.evaluate(frame, state, part).core if part is not None else Lit.of(None)
            if not isinstance(value, Lit) or not isinstance(value.value, (int, type(None))):
                return None
            bounds.append(value.value)
        return self.make_list(state, list(state.seqs.get(base.core.oid, ()))[bounds[0] : bounds[1]])

    # -- displays ---

    def make_list(self, state: State, items: list[Val]) -> Val:
        ref = self.heap.new("[]", "list")
        state.seqs[ref.oid] = tuple(items)
        return Val(ref)

    def sequence(self, state: State, value: Val) -> list[Val] | None:
        """The items of a known list or tuple (or the keys of a mapping), or None."""
        if isinstance(value.core, Ref) and value.core.oid in state.seqs:
            return list(state.seqs[value.core.oid])
        return None

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

    def update(self, state: State, ref: Ref, other: Val) -> None:
        """Take over the entries of another mapping."""
        for option in alternatives(other, state.path):
            if isinstance(option.core, Ref):
                extra = tuple(c for c in option.conds if c not in state.path)
                if self.heap.things[option.core.oid].kind != "dict":
                    self.heap.put(state, ref.oid, "#base", option, own=False)
                for name, value in self.heap.items(state, option.core.oid):
                    self.heap.set_item(state, ref.oid, name, value._replace(conds=value.conds + extra))

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

    # -- operators ---

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
            return value._replace(expr=self.span(frame, node))
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


def _is_property(func: Func) -> bool:
    decorators = getattr(func.node, "decorator_list", [])
    return any(ast.unparse(d).endswith(("property", "cached_property")) for d in decorators)
