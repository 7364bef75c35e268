"""Roles, carriers and facts: what the pairs of one analysis are made of."""

from __future__ import annotations

import ast

from swa_lint.geometry import (
    Field,
    Relation,
    Role,
)
from swa_lint.sglang.names import WINDOW_NAMES, draft_word, target_path, target_word
from swa_lint.sources.facts import Carrier, CarrierKind, Fact, Hop
from swa_lint.sources.python.engine import Engine
from swa_lint.sources.python.heap import path_of
from swa_lint.sources.python.judging import Judge, as_value, windows_of
from swa_lint.sources.python.modules import Module, Span
from swa_lint.sources.python.places import also, function_at, within
from swa_lint.sources.python.values import (
    Ext,
    Lit,
    Ref,
    Slot,
    State,
    Thing,
    Val,
    alternatives,
)


class FactMaker:
    """Says whose an object is, and turns values into facts; `end` is what holds where the analysis ends."""

    def __init__(self, module: Module, engine: Engine, end: State, returned: list[Val]) -> None:
        self.module = module
        self.engine, self.heap, self.end = engine, engine.heap, end
        self.returned = {o.core.oid for v in returned for o in alternatives(v) if isinstance(o.core, Ref)}
        for value in returned:
            self._mark_contents(value)

    def _mark_contents(self, value: Val) -> None:
        for option in alternatives(value):
            if isinstance(option.core, Ref) and self.heap.things[option.core.oid].kind in ("list", "dict"):
                for inner in self.end.seqs.get(option.core.oid, ()):
                    if isinstance(inner.core, Ref):
                        self.returned.add(inner.core.oid)

    def is_draft(self, thing: Thing) -> bool:
        if thing.draft:
            return True
        if thing.source is not None and self.is_draft(self.heap.things[thing.source]):
            return True
        if thing.target:
            return False
        named = thing.kind in ("copy", "built", "config", "pool", "dict") or thing.result
        if named and any(draft_word(n) for n in thing.names):
            return True
        if thing.parent is not None and not thing.parent[1].startswith("target"):
            owner = self.heap.things[thing.parent[0]]
            if owner.kind != "instance" and self.is_draft(owner):
                return True
        tail = ".".join(thing.path.split("(")[0].split(".")[-3:])
        return thing.kind == "opaque" and draft_word(tail)

    def kind(self, thing: Thing) -> CarrierKind | None:
        if self.engine.args_like(thing.oid) or thing.kind == "built":
            return CarrierKind.ARGS
        words = {thing.path.rpartition(".")[2].split("(")[0], *thing.names}
        if thing.kind == "config" or any(w.endswith(("config", "cfg")) for w in words):
            return CarrierKind.CONFIG
        if thing.kind == "pool" or any(w.endswith("pool") for w in words):
            return CarrierKind.POOL
        if any(w.endswith(("runner", "worker")) for w in words):
            return CarrierKind.RUNNER
        if thing.kind == "copy" and thing.draft:
            return CarrierKind.ARGS
        return None

    def reaches_worker(self, thing: Thing) -> bool:
        if thing.draft or thing.kind == "opaque" or thing.escaped or thing.oid in self.returned:
            return True
        return any(
            isinstance(option.core, Ref)
            and option.core.oid == thing.oid
            and self.heap.things[oid].kind in ("instance", "opaque")
            for (oid, _), slot in self.end.slots.items()
            for option in alternatives(slot.value)
        )

    def inherited(self, value: Val, thing: Thing, attr: str) -> bool:
        """Whether an alternative is what the copy took over, not a write of its own."""
        if not isinstance(value.core, Ref) or thing.kind == "built":
            return False
        return self.heap.things[value.core.oid].parent == self.root_slot(thing, attr)

    def root_slot(self, thing: Thing, attr: str) -> tuple[int, str]:
        while thing.source is not None:
            thing = self.heap.things[thing.source]
        return thing.oid, attr

    def follows(self, draft: Val, target: Val | None, judge: Judge, field: Field) -> bool:
        if target is not None and judge.against(draft, target) is Relation.EQUAL:
            return True
        if not isinstance(draft.core, (Ref, Ext)):
            return False
        path = path_of(self.heap, draft.core)
        parent = self.heap.things[draft.core.oid].parent if isinstance(draft.core, Ref) else None
        if parent is not None and any(target_word(n) for n in self.heap.things[parent[0]].names):
            return True
        root, _, last = path.rpartition(".")
        if field is Field.SLIDING_WINDOW and last in WINDOW_NAMES and not draft_word(path) and "config" in root:
            return True
        return target_path(path) and (target is None or not isinstance(target.core, Lit))

    @staticmethod
    def by_draft_test(value: Val) -> bool:
        return any(c.draft and c.holds for c in value.conds)

    def same_windows(self, draft: Val, target: Val, judge: Judge) -> bool:
        if judge.against(draft, target) is Relation.EQUAL:
            return True
        windows = [windows_of(self.heap, v.core) for v in (draft, target)]
        return windows[0] is not None and windows[0] == windows[1]

    def reads_own(self, draft: Val, target: Val) -> bool:
        """`config.sliding_window` of whichever config the role has: the choice is of the model, not of its geometry."""
        last = [path_of(self.heap, v.core).rpartition(".")[2] for v in (draft, target)]
        both = isinstance(draft.core, Ref) and isinstance(target.core, Ref)
        return both and last[0] in WINDOW_NAMES and last[1] in WINDOW_NAMES

    @staticmethod
    def arm_text(target: Val, draft: Val) -> str | None:
        """The other arm's text, when it stands in the same function and so reads the same."""
        here, there = draft.choice or draft.expr, target.choice or target.expr
        if here is None or there is None or here.module is not there.module:
            return None
        if function_at(here) is not function_at(there):
            return None
        return there.module.text_of(there)

    def path_text(self, oid: int, slot: Slot) -> str | None:
        for name, known in slot.scope:
            if known == oid and not draft_word(name):
                return name
        parent = self.heap.things[oid].parent
        if parent is None or parent[1].startswith("["):
            return None
        root = self.path_text(parent[0], slot)
        return f"{root}.{parent[1]}" if root else None

    def parameter_name(self, oid: int, place: Span) -> str | None:
        """An object's name where an argument is passed: it is a parameter of the function there."""
        function = function_at(place)
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        spec = function.args
        path = self.heap.things[oid].path
        return path if path in {a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)} else None

    def _anywhere(self) -> Span:
        """The file's first line: for the rare object that no place in the source made."""
        return Span(self.module, 1, 0, 1, 0)

    def fact(self, role: Role, field: Field, value: Val, carrier: Carrier, place: Span) -> Fact:
        hops = tuple(
            Hop(span.location, message)
            for span, message in dict.fromkeys((*value.hops, *also(value, place)))
            if span != place
        )
        inside = value.expr is not None and within(value.expr, place)
        return Fact(
            role, field, as_value(self.heap, value.core), place.location, carrier,
            value.expr.location if inside and value.expr is not None else None, hops,
        )  # fmt: skip

    def carrier(self, kind: CarrierKind, thing: Thing | None, value: Val) -> Carrier:
        if thing is None:
            place = value.where or value.expr or self._anywhere()
            return Carrier(kind, "KV pool", place.location)
        names = sorted(thing.names, key=lambda n: (not draft_word(n), len(n), n))
        place = thing.where or value.where or value.expr or self._anywhere()
        return Carrier(kind, names[0] if names else thing.path, place.location)
