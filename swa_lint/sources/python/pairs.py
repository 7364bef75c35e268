"""From what an analysis saw to pairs of facts: the draft's value beside the target's."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass

from swa_lint.geometry import (
    Choice,
    Const,
    Derived,
    Field,
    Knob,
    Relation,
    Role,
    Symbol,
    Unknown,
    Value,
    relate,
)
from swa_lint.sglang.names import FIELD_OF_NAME, OVERRIDE_JSON, WINDOW_NAMES, draft_word, target_path
from swa_lint.sources.facts import Carrier, CarrierKind, Fact, Hop, Link, Pair
from swa_lint.sources.python.engine import Engine, Made, Registered
from swa_lint.sources.python.heap import Heap, path_of
from swa_lint.sources.python.modules import Module, Span
from swa_lint.sources.python.scopes import scope_of
from swa_lint.sources.python.values import (
    Cond,
    Core,
    Expr,
    Ext,
    Lit,
    Option,
    Phi,
    Ref,
    Slot,
    State,
    Text,
    Thing,
    Val,
    alternatives,
    contradictory,
)


def as_value(heap: Heap, core: Core) -> Value:
    """A core as the domain's value."""
    if isinstance(core, Lit):
        return Const(core.value)
    if isinstance(core, (Ref, Ext)):
        return Symbol(path_of(heap, core).removeprefix("builtins."))
    if isinstance(core, Option):
        return Knob(core.name, None if core.default is None else as_value(heap, core.default))
    if isinstance(core, Expr):
        return Derived(core.text, None if core.base is None else as_value(heap, core.base), core.other)
    if isinstance(core, Text):
        return Derived(path_of(heap, core))
    if isinstance(core, Phi):
        options = tuple(dict.fromkeys(as_value(heap, v.core) for v in core.options))
        return options[0] if len(options) == 1 else Choice(options)
    return Unknown(path_of(heap, core))


@dataclass
class Judge:
    """Compares values as they stand at one point."""

    heap: Heap
    state: State

    def against(self, draft: Val, target: Val) -> Relation:
        """One alternative of the draft's value against all of the target's that go with it."""
        found = set()
        for other in alternatives(target):
            if contradictory(draft.conds + other.conds):
                continue
            found.add(self.one(draft.core, other.core))
        if not found:
            return Relation.EQUAL
        return found.pop() if len(found) == 1 else Relation.UNPROVEN

    def one(self, a: Core, b: Core) -> Relation:
        if a == b or frozenset((a, b)) in self.state.equal:
            return Relation.EQUAL
        if any({frozenset((a, c)), frozenset((c, b))} <= self.state.equal for pair in self.state.equal for c in pair):
            return Relation.EQUAL
        return relate(as_value(self.heap, a), as_value(self.heap, b))


class Pairing:
    """Turns one analysis into pairs; `end` is what holds where it ends."""

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

    def pairs(self) -> Iterator[Pair]:
        for oid, attr in list(self.heap.written):
            name = attr.strip("[]'\"")
            if name in FIELD_OF_NAME or name == OVERRIDE_JSON:
                yield from self._written(oid, attr, name)
        for oid in list(self.heap.things):
            yield from self._rebound(self.heap.things[oid])
        yield from self._pools()
        yield from self._choices()
        yield from self._traps()
        yield from self._unguarded()

    # -- roles ---

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

    # -- args, configs, runners ---

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
                yield from self._branch(thing, name, slot.value, state)

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
            if self._inherited(draft, thing, attr) or self._follows(draft, target, judge, field):
                continue
            link = Link.CONFIG if field is Field.SLIDING_WINDOW else Link.ARGS
            if self._by_draft_test(draft):
                link = Link.BRANCH
            yield self._pair(link, thing, kind, field, draft, target, source, slot, name)

    def _inherited(self, value: Val, thing: Thing, attr: str) -> bool:
        """Whether an alternative is what the copy took over, not a write of its own."""
        if not isinstance(value.core, Ref) or thing.kind == "built":
            return False
        return self.heap.things[value.core.oid].parent == self._root_slot(thing, attr)

    def _root_slot(self, thing: Thing, attr: str) -> tuple[int, str]:
        while thing.source is not None:
            thing = self.heap.things[thing.source]
        return thing.oid, attr

    def _follows(self, draft: Val, target: Val | None, judge: Judge, field: Field) -> bool:
        if target is not None and judge.against(draft, target) is Relation.EQUAL:
            return True
        if not isinstance(draft.core, (Ref, Ext)):
            return False
        path = path_of(self.heap, draft.core)
        parent = self.heap.things[draft.core.oid].parent if isinstance(draft.core, Ref) else None
        if parent is not None and any("target" in n for n in self.heap.things[parent[0]].names):
            return True
        root, _, last = path.rpartition(".")
        if field is Field.SLIDING_WINDOW and last in WINDOW_NAMES and not draft_word(path) and "config" in root:
            return True
        return target_path(path) and (target is None or not isinstance(target.core, Lit))

    @staticmethod
    def _by_draft_test(value: Val) -> bool:
        return any(c.draft and c.holds for c in value.conds)

    def _source(self, thing: Thing, slot: Slot, kind: CarrierKind, name: str) -> int | None:
        """The target's object that this draft's object should follow."""
        source = thing.source
        while source is not None and self.is_draft(self.heap.things[source]):
            source = self.heap.things[source].source
        served = [u.oid for u in self.engine.uses if not u.draft and u.oid != thing.oid]
        if source is not None:
            # The target may run on a copy of its own.
            return next((o for o in served if self._root_slot(self.heap.things[o], "")[0] == source), source)
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

    # -- override JSON ----------------------------------------------------------------------------------------------------

    def _json(self, thing: Thing, slot: Slot, state: State) -> Iterator[Pair]:
        source = self._source(thing, slot, CarrierKind.ARGS, OVERRIDE_JSON)
        target = self.heap.get(state, source, OVERRIDE_JSON) if source is not None else None
        for draft in alternatives(slot.value):
            if self._inherited(draft, thing, OVERRIDE_JSON) or OVERRIDE_JSON in path_of(self.heap, draft.core):
                continue
            if target is not None and self._same_windows(draft, target, Judge(self.heap, state)):
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

    def _same_windows(self, draft: Val, target: Val, judge: Judge) -> bool:
        if judge.against(draft, target) is Relation.EQUAL:
            return True
        windows = [windows_of(self.heap, v.core) for v in (draft, target)]
        return windows[0] is not None and windows[0] == windows[1]

    # -- branches ---

    def _branch(self, thing: Thing, name: str, value: Val, state: State) -> Iterator[Pair]:
        """An attribute that a draft test chooses, on an object that serves both roles."""
        if name not in FIELD_OF_NAME or thing.kind in ("config",):
            return
        kind = self.kind(thing) or CarrierKind.RUNNER
        yield from self._chosen(thing, kind, FIELD_OF_NAME[name], name, value, state)

    def _chosen(
        self, thing: Thing | None, kind: CarrierKind, field: Field, name: str, value: Val, state: State
    ) -> Iterator[Pair]:
        options = alternatives(value)
        mine = [v for v in options if self._by_draft_test(v)]
        theirs = [v for v in options if not self._by_draft_test(v)]
        judge = Judge(self.heap, state)
        for draft in mine:
            others = [t for t in theirs if not contradictory(tuple(c for c in draft.conds + t.conds if not c.draft))]
            if not others or all(judge.one(draft.core, t.core) is Relation.EQUAL for t in others):
                continue
            if self._reads_own(draft, others[0]) or self._follows(draft, None, judge, field):
                continue
            target = next(t for t in others if judge.one(draft.core, t.core) is not Relation.EQUAL)
            carrier = self.carrier(kind, thing, draft)
            place = draft.origin or draft.where
            if place is None:
                continue
            text = self._arm_text(target, draft)
            chosen = draft._replace(expr=draft.choice or draft.expr)
            yield Pair(
                Link.BRANCH,
                self.fact(Role.DRAFT, field, chosen, carrier, place),
                self.fact(Role.TARGET, field, target, carrier, target.origin or target.where or target.expr or place),
                False,
                text,
            )

    def _reads_own(self, draft: Val, target: Val) -> bool:
        """`config.sliding_window` of whichever config the role has: the choice is of the model, not of its geometry."""
        last = [path_of(self.heap, v.core).rpartition(".")[2] for v in (draft, target)]
        both = isinstance(draft.core, Ref) and isinstance(target.core, Ref)
        return both and last[0] == last[1] and last[0] in WINDOW_NAMES

    @staticmethod
    def _arm_text(target: Val, draft: Val) -> str | None:
        """The other arm's text, when it stands in the same function and so reads the same."""
        here, there = draft.choice or draft.expr, target.choice or target.expr
        if here is None or there is None or here.module is not there.module:
            return None
        if _function_at(here) is not _function_at(there):
            return None
        return there.module.text_of(there)

    def _choices(self) -> Iterator[Pair]:
        for chosen in self.engine.chosen:
            if (
                chosen.callee
                and not chosen.callee[0].isupper()
                and "pool" not in chosen.callee
                and "alloc" not in chosen.callee
            ):
                continue
            yield from self._chosen(
                None, CarrierKind.POOL, FIELD_OF_NAME[chosen.name], chosen.name, chosen.value, self.end
            )

    # -- rebound ---

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
            if self._root_slot(other, attr) == self._root_slot(thing, attr):
                yield from self._after_copy(thing, kind, attr, slot, use.state)

    def _after_copy(self, thing: Thing, kind: CarrierKind, attr: str, slot: Slot, state: State) -> Iterator[Pair]:
        assert thing.source is not None
        held = self.heap.get(state, thing.oid, attr)
        judge = Judge(self.heap, state)
        for value in alternatives(slot.value):
            if value.where is None or self._inherited(value, self.heap.things[thing.source], attr):
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

    # -- pools ---

    def _pools(self) -> Iterator[Pair]:
        made = [m for m in self.engine.pools if not self.heap.things[m.oid].exempt]
        drafts = [m for m in made if self._pool_draft(m.oid, m.conds, m.function)]
        for one in made:
            thing = self.heap.things[one.oid]
            for attr in ("page_size", "sliding_window"):
                slot = one.state.slots.get((one.oid, attr))
                if slot is not None and not any(one is d for d in drafts):
                    yield from self._chosen(thing, CarrierKind.POOL, FIELD_OF_NAME[attr], attr, slot.value, one.state)
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
        if any("target" in n for n in thing.names):
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
                if isinstance(draft.core, Ref) and "target" in path_of(self.heap, draft.core):
                    continue
                if conds and self._follows(draft, None, judge, field):
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
            names_global = text.isidentifier() and module is here and module is not None and _global(module, text)
            return text if names_global else repr(value.core.value)
        if isinstance(value.core, Ref):
            return self._path_text(value.core.oid, slot)
        return None

    def _path_text(self, oid: int, slot: Slot) -> str | None:
        for name, known in slot.scope:
            if known == oid and not draft_word(name):
                return name
        parent = self.heap.things[oid].parent
        if parent is None or parent[1].startswith("["):
            return None
        root = self._path_text(parent[0], slot)
        return f"{root}.{parent[1]}" if root else None

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
            if suspect and not self._follows(draft, target, judge, field):
                yield self._pool_fact_pair(Link.POOLS, thing, field, draft, target, source, slot)

    def _target_owner(self, thing: Thing, field: Field) -> bool:
        words = {thing.path, *thing.names}
        if field is Field.PAGE_SIZE and self.engine.args_like(thing.oid):
            return True
        return any("target" in w for w in words) and any(w.endswith(("pool", "runner", "worker")) for w in words)

    # -- traps ---

    def _traps(self) -> Iterator[Pair]:
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

    # -- registrations ---

    def _unguarded(self) -> Iterator[Pair]:
        """Buffers of a draft pool and of another one registered with nothing said about their geometry."""
        for draft in self.engine.registered:
            if not draft_word(path_of(self.heap, draft.value.core)) and not self.is_draft(self.heap.things[draft.oid]):
                continue
            others = [
                r for r in self.engine.registered if r.oid != draft.oid and r.statement.module is draft.statement.module
            ]
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

    # -- facts ---

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
            owner = self._path_text(source, slot)
            if draft.given or owner is None:
                owner = self._parameter(source, place) or (None if draft.given else owner)
            text = f"{owner}.{name}" if owner else None
        inherited = thing.source is not None and _droppable(place)
        return Pair(link, self.fact(Role.DRAFT, field, draft, carrier, place), other, inherited, text)

    def _parameter(self, oid: int, place: Span) -> str | None:
        """An object's name where an argument is passed: it is a parameter of the function there."""
        function = _function_at(place)
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
            for span, message in dict.fromkeys((*value.hops, *_also(value, place)))
            if span != place
        )
        inside = value.expr is not None and _within(value.expr, place)
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


def windows_of(heap: Heap, core: Core) -> tuple[object, ...] | None:
    """The window keys of a known override JSON text, or None when it is not known."""
    text = core.value if isinstance(core, Lit) else None
    if text is None and isinstance(core, Text):
        return None
    if text in (None, ""):
        return () if text == "" else None
    try:
        data = json.loads(str(text))
    except ValueError:
        return None
    return tuple(sorted((k, v) for k, v in data.items() if k in WINDOW_NAMES)) if isinstance(data, dict) else None


def _roleless(conds: tuple[Cond, ...]) -> tuple[Cond, ...]:
    return tuple(c for c in conds if not c.draft)


def _also(value: Val, place: Span) -> list[tuple[Span, str]]:
    return [(s, "and here") for s in (value.where, value.origin) if s is not None and s != place]


def _within(inner: Span, outer: Span) -> bool:
    return (
        inner.module is outer.module
        and (outer.line, outer.offset) <= (inner.line, inner.offset)
        and (inner.end_line, inner.end_offset) <= (outer.end_line, outer.end_offset)
    )


def _function_at(place: Span) -> ast.AST | None:
    """The innermost function around a place."""
    found: ast.AST | None = None
    for node in ast.walk(place.module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= place.line <= (
            node.end_lineno or 0
        ):
            found = node
    return found


def _droppable(place: Span) -> bool:
    """Whether a binding can go as a whole: not one target of several, nor a positional argument."""
    here = (place.line, place.offset, place.end_line, place.end_offset)
    for node in ast.walk(place.module.tree):
        if isinstance(node, ast.Assign) and _place(node) == here:
            return len(node.targets) == 1 and not isinstance(node.targets[0], (ast.Tuple, ast.List))
        if isinstance(node, ast.Call) and any(_place(arg) == here for arg in node.args):
            return False
    return True


def _place(node: ast.expr | ast.stmt) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _global(module: Module, name: str) -> bool:
    return name in scope_of(module).assigned
