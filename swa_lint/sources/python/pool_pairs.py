"""Pairs of pools: built with two geometries, compared by the wrong attribute, registered without a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.geometry import (
    Field,
    Relation,
    Role,
    Symbol,
)
from swa_lint.sglang.names import FIELD_OF_NAME, draft_word, target_word
from swa_lint.sources.facts import Carrier, CarrierKind, Fact, Hop, Link, Pair
from swa_lint.sources.python.branches import BranchPairs
from swa_lint.sources.python.engine import Made, Registered
from swa_lint.sources.python.heap import path_of
from swa_lint.sources.python.judging import Judge, as_value
from swa_lint.sources.python.modules import Span
from swa_lint.sources.python.places import function_at, is_global_name
from swa_lint.sources.python.values import (
    Cond,
    Lit,
    Option,
    Ref,
    Slot,
    State,
    Thing,
    Val,
    alternatives,
    contradictory,
)


class PoolPairs(BranchPairs):
    """What the pools of one analysis say."""

    def pool_pairs(self) -> Iterator[Pair]:
        made = [m for m in self.engine.pools if not self.heap.things[m.oid].exempt]
        drafts = [m for m in made if self._pool_draft(m.oid, m.conds, m.function)]
        for one in made:
            thing = self.heap.things[one.oid]
            for attr in ("page_size", "sliding_window"):
                slot = one.state.slots.get((one.oid, attr))
                if slot is not None and not any(one is d for d in drafts):
                    yield from self.chosen(thing, CarrierKind.POOL, FIELD_OF_NAME[attr], attr, slot.value, one.state)
        for one in drafts:
            targets = [
                m for m in made if all(m is not d for d in drafts) and not contradictory(_roleless(m.conds + one.conds))
            ]
            yield from self._pool_pair(one, targets)

    def _pool_draft(self, oid: int, conds: tuple[Cond, ...], function: str) -> bool:
        thing = self.heap.things[oid]
        if thing.target:
            return False
        if any(c.draft for c in conds):
            return any(c.draft and c.holds for c in conds)
        if any(target_word(n) for n in thing.names):
            return False
        return self.is_draft(thing) or (draft_word(function) and not any("pool" in n for n in thing.names))

    def _pool_pair(self, made: Made, targets: list[Made]) -> Iterator[Pair]:
        oid, state, conds = made.oid, made.state, made.conds
        thing = self.heap.things[oid]
        nearest = min(
            targets,
            key=lambda t: abs(self.heap.things[t.oid].time - thing.time),
            default=None,
        )
        for attr in ("page_size", "sliding_window"):
            slot = state.slots.get((oid, attr))
            if slot is None:
                continue
            field = FIELD_OF_NAME[attr]
            if nearest is None:
                yield from self._lone_pool(thing, slot, state, field, attr)
                continue
            other = nearest.state.slots.get((nearest.oid, attr))
            if other is None:
                continue
            judge = Judge(self.heap, self.end if self.end.live else state)
            for draft in alternatives(slot.value):
                if judge.against(draft, other.value) is Relation.EQUAL:
                    continue
                if isinstance(draft.core, Ref) and target_word(path_of(self.heap, draft.core)):
                    continue
                if conds and self.follows(draft, None, judge, field):
                    continue
                together = made.function == nearest.function
                link = Link.BRANCH if together and any(c.draft for c in conds) else Link.POOLS
                target = self._worst(draft, other.value, judge)
                yield self._pool_fact_pair(link, thing, field, draft, target, nearest.oid, slot)

    def _worst(self, draft: Val, value: Val, judge: Judge) -> Val:
        options = alternatives(value)
        return next(
            (v for v in options if judge.one(draft.core, v.core) is not Relation.EQUAL),
            options[0] if options else value,
        )

    def _pool_fact_pair(
        self, link: Link, thing: Thing, field: Field, draft: Val, target: Val, target_oid: int, slot: Slot
    ) -> Pair:
        carrier = self.carrier(CarrierKind.POOL, thing, draft)
        place = draft.where or thing.where
        there = target.where or target.expr or place
        assert place is not None and there is not None
        other = self.carrier(CarrierKind.POOL, self.heap.things[target_oid], target)
        text = self._readable(target, slot) or self._pool_attribute(target_oid, slot, field)
        return Pair(
            link, self.fact(Role.DRAFT, field, draft, carrier, place), self.fact(Role.TARGET, field, target, other, there),
            False, text,
        )  # fmt: skip

    def _pool_attribute(self, oid: int, slot: Slot, field: Field) -> str | None:
        name = next((n for n, o in slot.scope if o == oid), None)
        return f"{name}.{field.value}" if name else None

    def _readable(self, value: Val, slot: Slot) -> str | None:
        """The text of a value where the slot was written: a literal, a global name, or a path from a name in scope."""
        if isinstance(value.core, Lit):
            text = value.expr.module.text_of(value.expr) if value.expr is not None else ""
            module = value.expr.module if value.expr is not None else None
            here = slot.value.where.module if slot.value.where is not None else None
            names_global = (
                text.isidentifier() and module is here and module is not None and is_global_name(module, text)
            )
            return text if names_global else repr(value.core.value)
        if isinstance(value.core, Ref):
            return self.path_text(value.core.oid, slot)
        return None

    def _lone_pool(self, thing: Thing, slot: Slot, state: State, field: Field, attr: str) -> Iterator[Pair]:
        """A draft pool whose target was made elsewhere: a value of its own is suspect when the target is in reach."""
        source = next(
            (
                oid
                for _, oid in slot.scope
                if not self.is_draft(self.heap.things[oid]) and self._target_owner(self.heap.things[oid], field)
            ),
            None,
        )
        if source is None:
            return
        target = self.heap.get(state, source, "sliding_window" if field is Field.SLIDING_WINDOW else attr)
        judge = Judge(self.heap, state)
        for draft in alternatives(slot.value):
            suspect = isinstance(draft.core, (Lit, Option)) or draft_word(path_of(self.heap, draft.core))
            if suspect and not self.follows(draft, target, judge, field):
                yield self._pool_fact_pair(Link.POOLS, thing, field, draft, target, source, slot)

    def _target_owner(self, thing: Thing, field: Field) -> bool:
        words = {thing.path, *thing.names}
        if field is Field.PAGE_SIZE and self.engine.args_like(thing.oid):
            return True
        return any(target_word(w) for w in words) and any(w.endswith(("pool", "runner", "worker")) for w in words)

    def trap_pairs(self) -> Iterator[Pair]:
        for trap in self.engine.traps:
            carrier = Carrier(
                CarrierKind.POOL, path_of(self.heap, trap.value.core).rpartition(".")[0], trap.where.location
            )
            hop = Hop(trap.compare.location, "compared here")
            fact = Fact(
                Role.UNKNOWN, Field.SLIDING_WINDOW, as_value(self.heap, trap.value.core), trap.where.location, carrier,
                trap.where.location, (hop,),
            )  # fmt: skip
            yield Pair(Link.WINDOW_TRAP, fact, None)

    def unguarded_pairs(self) -> Iterator[Pair]:
        """Buffers of a draft pool and of another one registered with nothing said about their geometry."""
        for draft in self.engine.registered:
            if not draft_word(path_of(self.heap, draft.value.core)) and not self.is_draft(self.heap.things[draft.oid]):
                continue
            function = function_at(draft.statement)
            others = [r for r in self.engine.registered if r.oid != draft.oid and function_at(r.statement) is function]
            target = next((r for r in others if not draft_word(path_of(self.heap, r.value.core))), None)
            if target is None or self._pages_compared(draft, target):
                continue
            where = draft.value.where or draft.statement
            there = target.value.where or target.statement
            mine = self._carrier_named(draft.value, draft.statement)
            theirs = self._carrier_named(target.value, target.statement)
            page = Field.PAGE_SIZE
            yield Pair(
                Link.UNGUARDED,
                Fact(Role.DRAFT, page, Symbol(f"{mine.name}.page_size"), where.location, mine),
                Fact(Role.TARGET, page, Symbol(f"{theirs.name}.page_size"), there.location, theirs),
            )

    def _pages_compared(self, draft: Registered, target: Registered) -> bool:
        if frozenset((draft.oid, target.oid)) in draft.compared | target.compared:
            return True
        pages = [self.heap.get(r.state, r.oid, "page_size").core for r in (draft, target)]
        return frozenset(pages) in draft.state.equal or frozenset(pages) in target.state.equal

    @staticmethod
    def _carrier_named(value: Val, statement: Span) -> Carrier:
        text = value.expr.module.text_of(value.expr) if value.expr is not None else "pool"
        return Carrier(CarrierKind.POOL, text, statement.location)


def _roleless(conds: tuple[Cond, ...]) -> tuple[Cond, ...]:
    return tuple(c for c in conds if not c.draft)
