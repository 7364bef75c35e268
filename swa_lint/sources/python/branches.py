"""Geometry that a draft test chooses."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.geometry import (
    Field,
    Relation,
    Role,
)
from swa_lint.sglang.names import FIELD_OF_NAME
from swa_lint.sources.facts import CarrierKind, Link, Pair
from swa_lint.sources.python.factmaker import FactMaker
from swa_lint.sources.python.heap import path_of
from swa_lint.sources.python.judging import Judge
from swa_lint.sources.python.places import conditional_of
from swa_lint.sources.python.values import (
    MANY,
    Lit,
    Option,
    State,
    Thing,
    Val,
    alternatives,
    contradictory,
)


class BranchPairs(FactMaker):
    """Finds values with one arm for the draft and another for the target."""

    def branch(self, thing: Thing, name: str, value: Val, state: State) -> Iterator[Pair]:
        """An attribute that a draft test chooses, on an object that serves both roles."""
        if name not in FIELD_OF_NAME or thing.kind in ("config",):
            return
        kind = self.kind(thing) or CarrierKind.RUNNER
        yield from self.chosen(thing, kind, FIELD_OF_NAME[name], name, value, state)

    def chosen(
        self, thing: Thing | None, kind: CarrierKind, field: Field, name: str, value: Val, state: State
    ) -> Iterator[Pair]:
        options = alternatives(value)
        mine = [v for v in options if self.by_draft_test(v)]
        rest = [v for v in options if not self.by_draft_test(v)]
        theirs = [v for v in rest if v.core != MANY]
        if not theirs and all(isinstance(v.core, (Lit, Option)) for v in mine):
            theirs = rest  # a value written out for the draft, and none of the target's many is
        judge = Judge(self.heap, state)
        # A config that has no window, where the role chose the config.
        unset = [d for d in mine if d.core == Lit.of(None)] if self._own_configs(mine, theirs) else []
        for draft in (d for d in mine if d not in unset):
            others = [t for t in theirs if not contradictory(tuple(c for c in draft.conds + t.conds if not c.draft))]
            if not others or all(judge.one(draft.core, t.core) is Relation.EQUAL for t in others):
                continue
            if self.reads_own(draft, others[0]) or self.follows(draft, None, judge, field):
                continue
            unequal = [t for t in others if judge.one(draft.core, t.core) is not Relation.EQUAL]
            base = (t for t in unequal if path_of(self.heap, t.core) in path_of(self.heap, draft.core))
            target = next(base, unequal[0])
            carrier = self.carrier(kind, thing, draft)
            place = draft.origin or draft.where
            if place is None:
                continue
            text = self.arm_text(target, draft)
            whole = conditional_of(draft.choice, target.choice) if text is not None else None
            chosen = draft._replace(expr=whole or draft.choice or draft.expr)
            yield Pair(
                Link.BRANCH,
                self.fact(Role.DRAFT, field, chosen, carrier, place),
                self.fact(Role.TARGET, field, target, carrier, target.origin or target.where or target.expr or place),
                False,
                text,
            )

    def _own_configs(self, mine: list[Val], theirs: list[Val]) -> bool:
        return any(self.reads_own(draft, target) for draft in mine for target in theirs)

    def choices(self) -> Iterator[Pair]:
        for chosen in self.engine.chosen:
            if (
                chosen.callee
                and not chosen.callee[0].isupper()
                and "pool" not in chosen.callee
                and "alloc" not in chosen.callee
            ):
                continue
            yield from self.chosen(
                None, CarrierKind.POOL, FIELD_OF_NAME[chosen.name], chosen.name, chosen.value, self.end
            )
