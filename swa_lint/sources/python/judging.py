"""Abstract values in the words of the domain, and what can be proved about two of them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from swa_lint.geometry import (
    Choice,
    Const,
    Derived,
    Knob,
    Relation,
    Symbol,
    Unknown,
    Value,
    relate,
)
from swa_lint.sglang.names import WINDOW_NAMES
from swa_lint.sources.python.heap import Heap, path_of
from swa_lint.sources.python.values import (
    Core,
    Expr,
    Ext,
    Lit,
    Option,
    Phi,
    Ref,
    State,
    Text,
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
