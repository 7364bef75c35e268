"""The ways that an argv can come out: which of its words are there, by the tests that decide role and page size."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from swa_lint.geometry import Const
from swa_lint.sglang.flags import DRAFT_PAGE_SIZE, field_of_flag
from swa_lint.sources.facts import Setting
from swa_lint.sources.python.heap import key_of
from swa_lint.sources.python.strings import Strings
from swa_lint.sources.python.values import Cond, Lit, Phi, Ref, State, Val, alternatives

World = dict[object, bool]
_RELEVANT = frozenset({"page_size", DRAFT_PAGE_SIZE, "disaggregation_mode"})
_MAX_TESTS = 4
_ROLES = ("prefill", "decode")


def worlds(run: Strings, items: Sequence[Val], state: State) -> list[World]:
    """The ways in which the tests that decide page size or role can come out."""
    keys: dict[object, None] = {}
    relevant = False
    for item in items:
        text = "".join(p.text for p in run.pieces(item))
        name = field_of_flag(text.partition("=")[0])
        if relevant or name in _RELEVANT or not isinstance(item.core, (Lit, Ref)):
            options = alternatives(item, state.path)
            for cond in (*item.conds, *(c for option in options for c in option.conds)):
                if cond not in state.path:
                    keys[cond.key] = None
        relevant = name in _RELEVANT and "=" not in text
    chosen = list(keys)[:_MAX_TESTS]
    return [dict(zip(chosen, way, strict=True)) for way in itertools.product((True, False), repeat=len(chosen))] or [{}]


def in_world(item: Val, world: World) -> Iterator[Val]:
    """The item as it is in a world: not there, settled, or still a choice."""
    if not _holds(item.conds, world):
        return
    if not isinstance(item.core, Phi):
        yield item
        return
    options = [option for option in alternatives(item) if _holds(option.conds, world)]
    if len(options) == 1:
        yield options[0]
    elif options:
        yield item._replace(core=Phi(tuple(options)))


def settled(setting: Setting, val: Val | None, world: World) -> Setting:
    """A role that the tests of its path settle."""
    if setting.name != "disaggregation_mode" or val is None or isinstance(val.core, Lit):
        return setting
    tested = {role: world.get(("is", key_of(val.core), role)) for role in _ROLES}
    for role, other in (_ROLES, _ROLES[::-1]):
        if tested[role] or (tested[other] is False and not tested[role]):
            return replace(setting, value=Const(role))
    return setting


def _holds(conds: Iterable[Cond], world: World) -> bool:
    return all(world.get(cond.key, cond.holds) == cond.holds for cond in conds)
