"""Abstract values: what an expression may be, where it was bound, under which conditions."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from swa_lint.sources.python.modules import FunctionNode, Module, Span


@dataclass(frozen=True, slots=True)
class Lit:
    """A constant; the type is part of it, so that 1 and True differ."""

    value: int | float | str | bool | None
    kind: str

    @staticmethod
    def of(value: int | float | str | bool | None) -> Lit:
        return Lit(value, type(value).__name__)


@dataclass(frozen=True, slots=True)
class Ref:
    """An object of the heap."""

    oid: int


@dataclass(frozen=True, slots=True)
class Option:
    """An environment variable or the like, with its default."""

    name: str
    default: Core | None = None


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression over `base`; `other`: it cannot equal its base. `parts` are the cores that it is made of."""

    text: str
    base: Core | None = None
    other: bool = False
    parts: tuple[Core, ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """A string put together from known and unknown parts."""

    parts: tuple[Core | str, ...]


@dataclass(frozen=True, slots=True)
class Ext:
    """Something importable by its full name that is not in the project: `copy.deepcopy`."""

    name: str


@dataclass(frozen=True, eq=False)
class Func:
    """A function of the project, bound to `self_value` when it is a method; `closure` holds enclosing locals."""

    node: FunctionNode | ast.Lambda
    module: Module
    self_value: Val | None = None
    owner: Klass | None = None
    closure: dict[str, Val] | None = None


@dataclass(frozen=True, eq=False)
class Klass:
    """A class of the project."""

    node: ast.ClassDef
    module: Module


@dataclass(frozen=True, eq=False)
class Namespace:
    """An imported module of the project."""

    module: Module


@dataclass(frozen=True, eq=False)
class Partial:
    """functools.partial or a bound attribute call: a callee with arguments given beforehand."""

    callee: Val
    args: tuple[Val, ...]
    keywords: tuple[tuple[str, Val], ...]


@dataclass(frozen=True, slots=True)
class Phi:
    """One of several values."""

    options: tuple[Val, ...]


Core: TypeAlias = "Lit | Ref | Option | Expr | Text | Ext | Func | Klass | Namespace | Partial | Phi"


class Cond(NamedTuple):
    """A test that went one way; `draft`: it asks whether this is the draft, and `holds` says it is."""

    key: object
    holds: bool
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a string: `text` as it is in the string, and where it comes from.

    Literal text (`value` is None) starts at the `start`-th character of the literal `where`. A value formatted in is the
    `start`-th of the f-string `where` (from 0), or came by an argument or operand, and `where` is None.
    """

    text: str
    where: Span | None = None
    start: int = 0
    value: Val | None = None


class Val(NamedTuple):
    """A core with its history.

    `where` is the statement, keyword, dict item or argument that bound it last (name and value in range), `expr` the
    value's own text; `given`: it was passed as an argument (at that depth) or under its field's name (-1), so that this
    place outranks later ones; `conds` are the conditions of this alternative; `hops` are earlier places; `origin` is where
    a path chose this alternative, `choice` the text that it chose; `pieces` are what a string was put together from.
    """

    core: Core
    where: Span | None = None
    expr: Span | None = None
    given: int = 0
    conds: tuple[Cond, ...] = ()
    hops: tuple[tuple[Span, str], ...] = ()
    origin: Span | None = None
    choice: Span | None = None
    pieces: tuple[Piece, ...] = ()

    def bound(self, where: Span, expr: Span | None) -> Val:
        """This value bound at `where`, unless an argument's place outranks it."""
        if self.given:
            return self if len(self.hops) > 6 else self._replace(hops=(*self.hops, (where, "set here")))
        hops = self.hops
        if self.where is not None and self.where != where and len(hops) < 6:
            hops = (*hops, (self.where, "value comes from here"))
        origin = self.origin or (self.where if isinstance(self.core, Phi) else None)
        return Val(self.core, where, expr or self.expr, 0, self.conds, hops, origin, self.choice, self.pieces)

    # `_replace` is slow, and these two are most of what an analysis does.
    def at(self, expr: Span) -> Val:
        """This value with `expr` as its own text."""
        return Val(self[0], self[1], expr, self[3], self[4], self[5], self[6], self[7], self[8])

    def under(self, conds: tuple[Cond, ...]) -> Val:
        """This value as the alternative with these conditions."""
        return Val(self[0], self[1], self[2], self[3], conds, self[5], self[6], self[7], self[8])


def alternatives(value: Val, path: tuple[Cond, ...] = ()) -> list[Val]:
    """The plain values a value may be on a path, each with the conditions that the path leaves open."""
    if isinstance(value.core, Phi):
        found: list[Val] = []
        _flatten(value, path, found)
        return found[:MAX_ALTERNATIVES]
    if not path or not value.conds:
        return [value]
    conds = beyond(value.conds, path)
    return [] if conds is None else [value if len(conds) == len(value.conds) else value.under(conds)]


def _flatten(value: Val, path: tuple[Cond, ...], found: list[Val]) -> None:
    conds = beyond(value.conds, path)
    if conds is None:
        return
    assert isinstance(value.core, Phi)
    path = path + conds
    for option in value.core.options:
        start = len(found)
        if isinstance(option.core, Phi):
            _flatten(option, path, found)
        elif (held := beyond(option.conds, path)) is not None:
            found.append(option.under(held))
        for index in range(start, len(found)):
            found[index] = _chosen(found[index], value, conds)
        if len(found) > MAX_ALTERNATIVES:
            return


def _chosen(inner: Val, outer: Val, conds: tuple[Cond, ...]) -> Val:
    """An alternative of `outer`, which may have been bound as a whole later on."""
    core, where, expr, given, held, hops, origin, choice, pieces = inner
    origin = origin or where or outer.origin
    choice = choice or expr
    if not given and outer.where is not None:
        hops = hops if where is None else (*hops, (where, "value comes from here"))
        expr = expr if where is None or where == outer.where else outer.expr
        where, given, hops = outer.where, outer.given, (hops + outer.hops)[:8]
    return Val(core, where, expr, given, conds + held, hops, origin, choice, pieces)


MANY = Expr("one of many values")
MAX_ALTERNATIVES = 24  # of a value and all its parts
MAX_WIDTH = 12  # alternatives of one value; real set-up code has two or three


def width(value: Val) -> int:
    """How many plain values a value may be."""
    return sum(map(width, value.core.options)) if isinstance(value.core, Phi) else 1


def contradictory(conds: tuple[Cond, ...]) -> bool:
    """Whether one test is said to hold and not to hold."""
    seen: dict[object, bool] = {}
    return any(seen.setdefault(cond.key, cond.holds) != cond.holds for cond in conds)


def beyond(conds: tuple[Cond, ...], path: tuple[Cond, ...]) -> tuple[Cond, ...] | None:
    """The conditions that a path does not hold yet, or None when it holds the opposite of one."""
    if not conds or not path:
        return conds
    fresh = []
    for cond in conds:
        if cond not in path:
            key, holds, _ = cond
            if (key, not holds, True) in path or (key, not holds, False) in path:
                return None
            fresh.append(cond)
    return conds if len(fresh) == len(conds) else tuple(fresh)


def merge(left: Val, right: Val, conds_left: tuple[Cond, ...], conds_right: tuple[Cond, ...]) -> Val:
    """The value after two paths meet."""
    if left is right or (left.core == right.core and left.where == right.where):
        return left
    a = left.under(left.conds + tuple([c for c in conds_left if c not in left.conds]))
    b = right.under(right.conds + tuple([c for c in conds_right if c not in right.conds]))
    if width(left) + width(right) <= MAX_WIDTH:
        return Val(Phi((a, b)))
    return _by_role([*alternatives(a), *alternatives(b)])


def _by_role(options: list[Val]) -> Val:
    """Too many values: what a test of the role chose for the draft stays apart, the rest is one unknown."""
    tests = [next((c for c in v.conds if c.draft), None) for v in options]
    mine = [v for v, test in zip(options, tests, strict=True) if test is not None and test.holds]
    if not mine or len(mine) >= MAX_WIDTH - 4:
        return Val(MANY)
    theirs = [v for v, test in zip(options, tests, strict=True) if test is not None and not test.holds]
    role = next(c for c in mine[0].conds if c.draft)
    return Val(Phi((*mine, *theirs[:3], Val(MANY, conds=(Cond(role.key, False, True),)))))


@dataclass(slots=True)
class Slot:
    """The content of an attribute, item or key: `own` is False for what a copy took over from its source."""

    value: Val
    own: bool = True
    time: int = 0
    scope: tuple[tuple[str, int], ...] = ()


@dataclass(eq=False)
class Thing:
    """What never changes about a heap object.

    `path` is its canonical access path, `kind` one of opaque, copy, built, dict, list, instance; `cls` the class's name
    or definition; `source` the object it was copied from; `names` collects what it is bound to.
    """

    oid: int
    path: str
    kind: str = "opaque"
    cls: str | Klass | None = None
    source: int | None = None
    parent: tuple[int, str] | None = None
    where: Span | None = None
    time: int = 0
    names: set[str] = field(default_factory=set)
    draft: bool = False
    target: bool = False
    escaped: bool = False
    exempt: bool = False
    result: bool = False


@dataclass(eq=False)
class State:
    """What holds at a point of a path: locals, slots, sequences, and the tests passed to get here.

    `adopted` counts the statements of modules that had run when their globals were last taken over.
    """

    env: dict[str, Val] = field(default_factory=dict)
    slots: dict[tuple[int, str], Slot] = field(default_factory=dict)
    seqs: dict[int, tuple[Val, ...]] = field(default_factory=dict)
    path: tuple[Cond, ...] = ()
    equal: frozenset[frozenset[object]] = frozenset()
    live: bool = True
    adopted: int = 0

    def fork(self) -> State:
        return State(dict(self.env), dict(self.slots), dict(self.seqs), self.path, self.equal, self.live, self.adopted)

    def become(self, other: State) -> None:
        self.env, self.slots, self.seqs = other.env, other.slots, other.seqs
        self.path, self.equal, self.live = other.path, other.equal, other.live
        self.adopted = other.adopted

    @property
    def draft(self) -> bool | None:
        """What the path says about being the draft: True, False, or None when it does not ask."""
        return next((c.holds for c in reversed(self.path) if c.draft), None)
