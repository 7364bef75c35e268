"""The heap of one analysis: objects, what their attributes hold on a path, and what holds where paths meet."""

from __future__ import annotations

from typing import TypeVar

from swa_lint.sglang.names import FIELD_OF_NAME, OVERRIDE_JSON
from swa_lint.sources.python.modules import Span
from swa_lint.sources.python.values import (
    Cond,
    Core,
    Expr,
    Ext,
    Func,
    Klass,
    Lit,
    Namespace,
    Option,
    Partial,
    Phi,
    Ref,
    Slot,
    State,
    Text,
    Thing,
    Val,
    alternatives,
    merge,
)

ABSENT = Val(Ext("<absent>"))
_WATCHED = frozenset({*FIELD_OF_NAME, OVERRIDE_JSON})


def item(key: object) -> str:
    """The slot name of a mapping's item; attributes are slots under their own names."""
    return f"[{key!r}]"


class Heap:
    """Objects by number. What changes lives in the State of each path; what never changes, in the Thing."""

    def __init__(self) -> None:
        self.things: dict[int, Thing] = {}
        self._children: dict[tuple[int, str], Val] = {}
        self._symbols: dict[str, Val] = {}
        self.clock = 0
        self.written: dict[tuple[int, str], None] = {}

    def new(self, path: str, kind: str, *, where: Span | None = None, cls: str | Klass | None = None) -> Ref:
        self.clock += 1
        oid = len(self.things)
        self.things[oid] = Thing(oid, path, kind, cls, where=where, time=self.clock)
        return Ref(oid)

    def symbol(self, path: str, where: Span | None = None, cls: str | None = None) -> Val:
        """The opaque value of a canonical path: one object a path, so that equal paths are equal values."""
        if path not in self._symbols:
            self._symbols[path] = Val(self.new(path, "opaque", where=where, cls=cls))
        return self._symbols[path]

    def fresh(self, path: str, where: Span | None, cls: str | None = None) -> Val:
        """An opaque value of its own, such as an analysed function's parameter."""
        return Val(self.new(path, "opaque", where=where, cls=cls))

    def initial(self, oid: int, attr: str) -> Val:
        """What an attribute holds when nothing on the path has set it."""
        thing = self.things[oid]
        if thing.source is not None and not attr.startswith("["):
            return self.initial(thing.source, attr)
        if thing.kind in ("dict", "built") and attr.startswith("["):
            return ABSENT
        key = (oid, attr)
        if key not in self._children:
            path = thing.path + (attr if attr.startswith("[") else f".{attr}")
            ref = self.new(path, "opaque", where=thing.where)
            self.things[ref.oid].parent = key
            self._children[key] = Val(ref)
        return self._children[key]

    def get(self, state: State, oid: int, attr: str) -> Val:
        slot = state.slots.get((oid, attr))
        return slot.value if slot is not None else self.initial(oid, attr)

    def put(self, state: State, oid: int, attr: str, value: Val, *, own: bool = True) -> None:
        """Set an attribute; alternatives in which the value is absent keep what was there."""
        self.clock += 1
        found = alternatives(value)
        if any(v.core == ABSENT.core for v in found):
            before = self.get(state, oid, attr)
            kept = [v if v.core != ABSENT.core else before._replace(conds=before.conds + v.conds) for v in found]
            value = Val(Phi(tuple(kept))) if len(kept) > 1 else kept[0]
        geometry = attr.strip("[]'") in _WATCHED
        state.slots[oid, attr] = Slot(value, own, self.clock, self.scope(state) if geometry else ())
        if own and geometry:
            self.written[oid, attr] = None

    def scope(self, state: State) -> tuple[tuple[str, int], ...]:
        """The names by which objects can be reached here: what a fix may write."""
        names = [(name, v.core.oid) for name, v in state.env.items() if isinstance(v.core, Ref)]
        own = dict(names).get("self")
        if own is not None:
            for (oid, attr), slot in state.slots.items():
                if oid == own and isinstance(slot.value.core, Ref) and not attr.startswith(("[", "#")):
                    names.append((f"self.{attr}", slot.value.core.oid))
        return tuple(names)

    def copy(self, state: State, source: int, where: Span | None) -> Ref:
        """A copy: it holds what the source holds now, and keeps it when the source changes."""
        thing = self.things[source]
        ref = self.new(thing.path, thing.kind if thing.kind in ("dict", "list") else "copy", where=where, cls=thing.cls)
        self.things[ref.oid].source = source
        for (oid, attr), slot in list(state.slots.items()):
            if oid == source:
                state.slots[ref.oid, attr] = Slot(slot.value, False, self.clock, slot.scope)
        if source in state.seqs:
            state.seqs[ref.oid] = state.seqs[source]
        return ref

    # -- mappings ---

    def mapping(self, state: State, where: Span | None) -> Ref:
        ref = self.new("{}", "dict", where=where)
        state.seqs[ref.oid] = ()
        return ref

    def set_item(self, state: State, oid: int, key: object, value: Val) -> None:
        self.put(state, oid, item(key), value)
        keys = state.seqs.get(oid, ())
        lit = Val(Lit.of(key)) if isinstance(key, (int, str, float, bool, type(None))) else None
        if lit is not None and all(k.core != lit.core for k in keys):
            state.seqs[oid] = (*keys, lit)

    def items(self, state: State, oid: int) -> list[tuple[str, Val]]:
        """The entries with string keys of a mapping, in order."""
        found = []
        for key in state.seqs.get(oid, ()):
            if isinstance(key.core, Lit) and isinstance(key.core.value, str):
                found.append((key.core.value, self.get(state, oid, item(key.core.value))))
        return found

    # -- where paths meet ---

    def join(self, into: State, other: State) -> None:
        """Make `into` what holds after either path; a path that ended does not count, and leaves its tests behind."""
        if not other.live:
            return
        if not into.live:
            into.become(other)
            return
        shared = 0
        while shared < min(len(into.path), len(other.path)) and into.path[shared] == other.path[shared]:
            shared += 1
        left, right = into.path[shared:], other.path[shared:]
        for name in _changed(into.env, other.env):
            a, b = into.env.get(name), other.env.get(name)
            if a is not b:
                into.env[name] = merge(a, b, left, right) if a and b else a or b or ABSENT
        self._join_slots(into, other, left, right)
        for oid in _changed(into.seqs, other.seqs):
            into.seqs[oid] = _join_seq(into.seqs.get(oid), other.seqs.get(oid), left, right)
        into.path = into.path[:shared]
        into.equal = into.equal & other.equal

    def _join_slots(self, into: State, other: State, left: tuple[Cond, ...], right: tuple[Cond, ...]) -> None:
        for key in _changed(into.slots, other.slots):
            a, b = into.slots.get(key), other.slots.get(key)
            if a is b:
                continue
            one = a.value if a else self.initial(*key)
            two = b.value if b else self.initial(*key)
            newest = max((s for s in (a, b) if s), key=lambda s: s.time)
            own = bool((a and a.own) or (b and b.own))
            into.slots[key] = Slot(merge(one, two, left, right), own, newest.time, newest.scope)


_K = TypeVar("_K")
_V = TypeVar("_V")


def _changed(one: dict[_K, _V], other: dict[_K, _V]) -> list[_K]:
    """The keys under which two mappings do not hold the very same object."""
    keys = [k for k, v in other.items() if one.get(k) is not v]
    if len(one) + len(keys) > len(other) or keys:
        keys += [k for k in one if k not in other]
    return keys


MAX_ITEMS = 128  # of a sequence that paths join; argv lists and tables are far shorter


def _join_seq(
    a: tuple[Val, ...] | None, b: tuple[Val, ...] | None, left: tuple[Cond, ...], right: tuple[Cond, ...]
) -> tuple[Val, ...]:
    """Common items first, then those of either path under its tests."""
    if a is None or b is None or a is b:
        return a if a is not None else b or ()
    if len(a) + len(b) > MAX_ITEMS:
        return (Val(Expr("*one of many")),)
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    mine = tuple(v.under(v.conds + left) for v in a[same:])
    theirs = tuple(v.under(v.conds + right) for v in b[same:])
    return a[:same] + mine + theirs


def key_of(core: Core) -> object:
    """A small hashable that is equal for equal values; nested cores are compared by their text."""
    if isinstance(core, Ref):
        return core.oid
    if isinstance(core, Lit):
        return core.kind, core.value
    if isinstance(core, Ext):
        return "ext", core.name
    if isinstance(core, (Option, Expr)):
        return core.name if isinstance(core, Option) else core.text
    if isinstance(core, Phi):
        return frozenset(key_of(v.core) for v in core.options)
    if isinstance(core, Text):
        return tuple(p if isinstance(p, str) else key_of(p) for p in core.parts)
    return id(core)


def path_of(heap: Heap, core: Core) -> str:
    """A core in words: the access path of an object, the text of an expression."""
    if isinstance(core, Ref):
        return heap.things[core.oid].path
    if isinstance(core, Lit):
        return repr(core.value)
    if isinstance(core, (Option, Ext)):
        return core.name
    if isinstance(core, Expr):
        return core.text
    if isinstance(core, Text):
        return "".join(p if isinstance(p, str) else f"{{{path_of(heap, p)}}}" for p in core.parts)
    if isinstance(core, Func):
        return getattr(core.node, "name", "lambda")
    if isinstance(core, Klass):
        return core.node.name
    if isinstance(core, Namespace):
        return core.module.name
    if isinstance(core, Partial):
        return path_of(heap, core.callee.core)
    return " or ".join(dict.fromkeys(path_of(heap, v.core) for v in core.options))
