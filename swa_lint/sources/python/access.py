"""Access: what attributes, items, slices and whole sequences of a value are."""

from __future__ import annotations

import ast
from collections.abc import Callable

from swa_lint.sources.python.base import Frame
from swa_lint.sources.python.conditions import Tests
from swa_lint.sources.python.heap import ABSENT, item, path_of
from swa_lint.sources.python.scopes import members
from swa_lint.sources.python.values import (
    Core,
    Ext,
    Func,
    Klass,
    Lit,
    Namespace,
    Phi,
    Ref,
    State,
    Val,
    alternatives,
    merge,
)


class Access(Tests):
    """Reads parts of values, and takes over the entries of mappings."""

    def _opaque(self, frame: Frame, node: ast.expr) -> Val:
        return self.heap.fresh(frame.module.source(node)[:80], self.span(frame, node))

    def name(self, value: Val, name: str) -> None:
        """Remember what an object is called: names say whose it is."""
        for option in alternatives(value):
            if isinstance(option.core, Ref):
                self.heap.things[option.core.oid].names.add(name)

    # -- attributes and items ---

    def _eval_Attribute(self, frame: Frame, state: State, node: ast.Attribute) -> Val:
        return self.read(frame, state, self.evaluate(frame, state, node.value), node)

    def read(self, frame: Frame, state: State, base: Val, node: ast.Attribute) -> Val:
        """What `node`, an attribute of `base`, is."""
        value = self.spread(state, base, lambda v: self.attribute(frame, state, v, node.attr))
        return value if value.given else value.at(self.span(frame, node))

    def spread(self, state: State, value: Val, each: Callable[[Val], Val]) -> Val:
        """Apply a function to every alternative of a value, keeping its conditions."""
        if not isinstance(value.core, Phi):
            return each(value)
        found = []
        for option in alternatives(value, state.path):
            result = each(option)
            fresh = [c for c in option.conds if c not in result.conds]
            found.append(result.under((*result.conds, *fresh)) if fresh else result)
        if not found:
            return each(value.core.options[0])
        return found[0] if len(found) == 1 else Val(Phi(tuple(found)))

    def attribute(self, frame: Frame, state: State, base: Val, attr: str) -> Val:
        core = base.core
        if attr == "remote" and isinstance(core, (Klass, Func)) and is_remote(core):
            return base  # Ray: `Actor.remote(...)` makes one, `task.remote(...)` calls it
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
        return self.spread(state, base, lambda v: self.spread(state, key, lambda k: self.subscript(state, v, k)))

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

    def make_list(self, state: State, items: list[Val]) -> Val:
        ref = self.heap.new("[]", "list")
        state.seqs[ref.oid] = tuple(items)
        return Val(ref)

    def sequence(self, state: State, value: Val) -> list[Val] | None:
        """The items of a known list or tuple (or the keys of a mapping), or None."""
        if isinstance(value.core, Ref) and value.core.oid in state.seqs:
            return list(state.seqs[value.core.oid])
        return None

    def update(self, state: State, ref: Ref, other: Val) -> None:
        """Take over the entries of another mapping."""
        for option in alternatives(other, state.path):
            if isinstance(option.core, Ref):
                if self.heap.things[option.core.oid].kind != "dict":
                    self.heap.put(state, ref.oid, "#base", option, own=False)
                for name, value in self.heap.items(state, option.core.oid):
                    self.heap.set_item(state, ref.oid, name, value.under(value.conds + option.conds))


def is_remote(core: Klass | Func) -> bool:
    """Whether a class or function is one of Ray's actors or tasks."""
    decorators = getattr(core.node, "decorator_list", [])
    return any("remote" in ast.unparse(d) for d in decorators)


def _is_property(func: Func) -> bool:
    decorators = getattr(func.node, "decorator_list", [])
    return any(ast.unparse(d).endswith(("property", "cached_property")) for d in decorators)
