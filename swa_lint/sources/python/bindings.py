"""Every constant that Python code gives to a target's or a draft's geometry, whether the two agree or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from swa_lint.geometry import Role
from swa_lint.sglang.names import FIELD_OF_NAME
from swa_lint.sources.facts import Fact
from swa_lint.sources.python import open_module
from swa_lint.sources.python.analysis import analyses
from swa_lint.sources.python.pairs import Pairing
from swa_lint.sources.python.values import Lit, Slot, State, alternatives


def constant_bindings(path: str, text: str, *, root: Path) -> tuple[Fact, ...]:
    """The facts of the constants bound to geometry in a Python file; none where it does not parse."""
    try:
        module, library = open_module(path, text, root)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found: dict[object, Fact] = {}
    for engine, end, returned in analyses(module, library):
        pairing = Pairing(module, engine, end, returned)
        states = [end, *(use.state for use in engine.uses), *(made.state for made in engine.pools)]
        for fact in _bound(pairing, states):
            if fact.where.path == path:
                found.setdefault((fact.where, fact.value_where), fact)
    return tuple(found.values())


def _bound(pairing: Pairing, states: list[State]) -> Iterator[Fact]:
    seen: set[int] = set()
    for oid, attr in pairing.heap.written:
        for slot in (state.slots.get((oid, attr)) for state in states if attr in FIELD_OF_NAME):
            if slot is not None and slot.own and id(slot) not in seen:
                seen.add(id(slot))
                yield from _constants(pairing, oid, attr, slot)


def _constants(pairing: Pairing, oid: int, attr: str, slot: Slot) -> Iterator[Fact]:
    thing = pairing.heap.things[oid]
    kind = pairing.kind(thing)
    if thing.exempt or kind is None:
        return
    role = Role.DRAFT if pairing.is_draft(thing) else Role.TARGET
    for value in alternatives(slot.value):
        if isinstance(value.core, Lit) and value.where is not None:
            yield pairing.fact(role, FIELD_OF_NAME[attr], value, pairing.carrier(kind, thing, value), value.where)
