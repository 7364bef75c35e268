"""From what an analysis saw to pairs of facts: the draft's value beside the target's."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.geometry import (
    Field,
    Relation,
    Role,
)
from swa_lint.sglang.names import FIELD_OF_NAME, OVERRIDE_JSON, WINDOW_NAMES
from swa_lint.sources.facts import CarrierKind, Fact, Hop, Link, Pair
from swa_lint.sources.python.heap import key_of, path_of
from swa_lint.sources.python.judging import Judge, as_value
from swa_lint.sources.python.places import droppable
from swa_lint.sources.python.pool_pairs import PoolPairs
from swa_lint.sources.python.values import (
    Lit,
    Slot,
    State,
    Thing,
    Val,
    alternatives,
)


class Pairing(PoolPairs):
    """Turns one analysis into pairs."""

    def pairs(self) -> Iterator[Pair]:
        for oid, attr in list(self.heap.written):
            name = attr.strip("[]'\"")
            if name in FIELD_OF_NAME or name == OVERRIDE_JSON:
                yield from self._written(oid, attr, name)
        for oid in list(self.heap.things):
            yield from self._rebound(self.heap.things[oid])
        yield from self.pool_pairs()
        yield from self.choices()
        yield from self.trap_pairs()
        yield from self.unguarded_pairs()

    def _written(self, oid: int, attr: str, name: str) -> Iterator[Pair]:
        thing = self.heap.things[oid]
        if thing.exempt or thing.kind in ("pool", "list"):
            return
        states = [u.state for u in self.engine.uses if u.oid == oid and u.draft] or [self.end]
        for state in states:
            slot = state.slots.get((oid, attr))
            if slot is None or not slot.own or not state.live:
                continue
            if (
                self.is_draft(thing)
                and self.reaches_worker(thing)
                and not (attr.startswith("[") and thing.kind == "dict")
            ):
                yield from self._divergent(thing, attr, name, slot, state)
            elif thing.kind != "dict":
                yield from self.branch(thing, name, slot.value, state)
                if state is not self.end:
                    yield from self._lent(thing, attr, name, slot, state)

    def _divergent(self, thing: Thing, attr: str, name: str, slot: Slot, state: State) -> Iterator[Pair]:
        kind = self.kind(thing)
        if kind is None or kind is CarrierKind.POOL:
            return
        if name == OVERRIDE_JSON:
            yield from self._json(thing, slot, state)
            return
        field = FIELD_OF_NAME[name]
        source = self._source(thing, slot, kind, name)
        target = self.heap.get(state, source, attr) if source is not None else None
        judge = Judge(self.heap, state)
        for draft in alternatives(slot.value):
            if self.inherited(draft, thing, attr) or self.follows(draft, target, judge, field):
                continue
            if self._spells_default(draft, target, field):
                continue
            link = Link.CONFIG if field is Field.SLIDING_WINDOW else Link.ARGS
            if self.by_draft_test(draft):
                link = Link.BRANCH
            yield self._pair(link, thing, kind, field, draft, target, source, slot, name)

    @staticmethod
    def _spells_default(draft: Val, target: Val | None, field: Field) -> bool:
        """`server_args.page_size or 1`: where the target sets none, both have the engine's default of one token."""
        if target is None or field is not Field.PAGE_SIZE or draft.core != Lit.of(1):
            return False
        unset = {(key_of(target.core), False), (("none", key_of(target.core)), True)}
        return any((c.key, c.holds) in unset for c in draft.conds)

    def _lent(self, thing: Thing, attr: str, name: str, slot: Slot, state: State) -> Iterator[Pair]:
        """The target's own args handed to the draft with another value than the target has, before or after."""
        field = FIELD_OF_NAME.get(name)
        if field is None or thing.kind != "opaque" or not self.engine.args_like(thing.oid):
            return
        served = [u.state for u in self.engine.uses if u.oid == thing.oid and not u.draft] or [self.end]
        judge = Judge(self.heap, state)
        for other in served:
            target = self.heap.get(other, thing.oid, attr)
            for draft in alternatives(slot.value):
                if not self.inherited(draft, thing, attr) and not self.follows(draft, target, judge, field):
                    link = Link.CONFIG if field is Field.SLIDING_WINDOW else Link.ARGS
                    yield self._pair(link, thing, CarrierKind.ARGS, field, draft, target, thing.oid, slot, name)

    def _source(self, thing: Thing, slot: Slot, kind: CarrierKind, name: str) -> int | None:
        """The target's object that this draft's object should follow."""
        source = thing.source
        while source is not None and self.is_draft(self.heap.things[source]):
            source = self.heap.things[source].source
        served = [u.oid for u in self.engine.uses if not u.draft and u.oid != thing.oid]
        if source is not None:
            # The target may run on a copy of its own.
            return next((o for o in served if self.root_slot(self.heap.things[o], "")[0] == source), source)
        for _, oid in slot.scope:
            other = self.heap.things[oid]
            if (
                oid != thing.oid
                and not self.is_draft(other)
                and self.kind(other) is kind
                and self._same_family(thing, other)
            ):
                return oid
        return None

    @staticmethod
    def _same_family(thing: Thing, other: Thing) -> bool:
        """HF configs and model configs keep the window under different names."""
        if thing.kind == "config" and other.kind == "config":
            return thing.cls == other.cls
        if thing.kind == "config" or other.kind == "config":
            words = {other.path, *other.names, thing.path, *thing.names}
            hf = any("hf" in w for w in words) or "Auto" in str(thing.cls) or "Auto" in str(other.cls)
            return hf == ("Auto" in str(thing.cls) or "hf" in thing.path) if hf else True
        return other.kind != "dict"

    def _json(self, thing: Thing, slot: Slot, state: State) -> Iterator[Pair]:
        source = self._source(thing, slot, CarrierKind.ARGS, OVERRIDE_JSON)
        target = self.heap.get(state, source, OVERRIDE_JSON) if source is not None else None
        for draft in alternatives(slot.value):
            if self.inherited(draft, thing, OVERRIDE_JSON) or OVERRIDE_JSON in path_of(self.heap, draft.core):
                continue
            if target is not None and self.same_windows(draft, target, Judge(self.heap, state)):
                continue
            yield self._pair(
                Link.OVERRIDE_JSON,
                thing,
                CarrierKind.ARGS,
                Field.SLIDING_WINDOW,
                draft,
                target,
                source,
                slot,
                OVERRIDE_JSON,
            )

    def _rebound(self, thing: Thing) -> Iterator[Pair]:
        if thing.source is None or thing.kind != "copy" or not self.is_draft(thing) or not self.reaches_worker(thing):
            return
        kind = self.kind(thing)
        if kind not in (CarrierKind.ARGS, CarrierKind.CONFIG):
            return
        states = [u.state for u in self.engine.uses if u.oid == thing.source and not u.draft]
        for attr in ("page_size", *sorted(WINDOW_NAMES)):
            for state in (*states, self.end):
                slot = state.slots.get((thing.source, attr))
                mine = state.slots.get((thing.oid, attr))
                if slot is None or not slot.own or slot.time <= thing.time or (mine is not None and mine.own):
                    continue
                yield from self._after_copy(thing, kind, attr, slot, state)
            yield from self._other_copy(thing, kind, attr)

    def _other_copy(self, thing: Thing, kind: CarrierKind, attr: str) -> Iterator[Pair]:
        """The target runs on a copy of its own, changed there and not on the draft's."""
        for use in self.engine.uses:
            other = self.heap.things[use.oid]
            slot = use.state.slots.get((use.oid, attr))
            mine = use.state.slots.get((thing.oid, attr))
            if use.draft or other.source is None or slot is None or not slot.own or (mine is not None and mine.own):
                continue
            if self.root_slot(other, attr) == self.root_slot(thing, attr):
                yield from self._after_copy(thing, kind, attr, slot, use.state)

    def _after_copy(self, thing: Thing, kind: CarrierKind, attr: str, slot: Slot, state: State) -> Iterator[Pair]:
        assert thing.source is not None
        held = self.heap.get(state, thing.oid, attr)
        judge = Judge(self.heap, state)
        for value in alternatives(slot.value):
            if value.where is None or self.inherited(value, self.heap.things[thing.source], attr):
                continue
            if judge.against(value, held) is Relation.EQUAL or value.core == held.core:
                continue
            carrier = self.carrier(kind, thing, value)
            target = self.fact(Role.TARGET, FIELD_OF_NAME[attr], value, carrier, value.where)
            place = thing.where or value.where
            draft = Fact(
                Role.DRAFT, FIELD_OF_NAME[attr], as_value(self.heap, held.core), place.location, carrier, None,
                (Hop(place.location, "the draft copied it here"),),
            )  # fmt: skip
            yield Pair(Link.REBOUND, draft, target)

    def _pair(
        self, link: Link, thing: Thing, kind: CarrierKind, field: Field, draft: Val, target: Val | None, source: int | None,
        slot: Slot, name: str,
    ) -> Pair:  # fmt: skip
        place = (draft.origin if link is Link.BRANCH else None) or draft.where or draft.expr or thing.where
        assert place is not None
        carrier = self.carrier(kind, thing, draft)
        other: Fact | None = None
        text: str | None = None
        if target is not None and source is not None:
            there = target.where or target.expr or self.heap.things[source].where or thing.where or place
            other = self.fact(Role.TARGET, field, target, self.carrier(kind, self.heap.things[source], target), there)
            owner = self.path_text(source, slot)
            if draft.given or owner is None:
                owner = self.parameter_name(source, place) or (None if draft.given else owner)
            text = f"{owner}.{name}" if owner else None
        inherited = thing.source is not None and droppable(place)
        return Pair(link, self.fact(Role.DRAFT, field, draft, carrier, place), other, inherited, text)
