"""What calls mean to SGLang: arguments, configs, pools and workers come into being here, and roles with them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from swa_lint.sglang.names import (
    ARGS_CLASSES,
    ARGS_FACTORIES,
    BUFFER_CALLS,
    COMPARES,
    FIELD_OF_NAME,
    PAGE_NAMES,
    POOL_POSITIONS,
    WINDOW_NAMES,
    WINDOW_TRAP,
    WORKER_CLASSES,
    args_name,
    draft_flag,
    draft_word,
    pool_class,
    target_word,
)
from swa_lint.sources.python.base import Frame
from swa_lint.sources.python.calls import Keywords
from swa_lint.sources.python.heap import path_of
from swa_lint.sources.python.library import LibraryCalls
from swa_lint.sources.python.modules import Library, Span
from swa_lint.sources.python.values import Cond, Func, Klass, Lit, Ref, State, Val, alternatives

_HARMLESS = frozenset(
    [
        "print",
        "repr",
        "str",
        "len",
        "isinstance",
        "hasattr",
        "id",
        "type",
        "sorted",
        "format",
        "dump",
        "dumps",
        "asdict",
        "vars",
        "dir",
        "hash",
        "debug",
        "info",
        "warning",
        "error",
        "exception",
        "critical",
        "log",
        "pprint",
        "write",
        "append",
        "save",
        "save_pretrained",
        "describe",
        "estimate",
        "report",
        "summary",
        "validate",
        "check",
    ]
)


@dataclass(frozen=True)
class Made:
    """A pool as it was made: the object, the path it was made on, the function, and the call."""

    oid: int
    state: State
    function: str
    conds: tuple[Cond, ...]
    where: Span


@dataclass(frozen=True)
class Used:
    """Args handed to a worker: which object, and what held then."""

    oid: int
    state: State
    draft: bool


@dataclass(frozen=True)
class Chosen:
    """A keyword that carries geometry into a call nobody knows, under its field's name."""

    name: str
    value: Val
    callee: str
    where: Span


@dataclass(frozen=True)
class Trap:
    """`swa_window_size` read as the window of a comparison."""

    value: Val
    where: Span
    compare: Span


@dataclass(frozen=True)
class Registered:
    """A pool whose buffers are asked for to be registered: the object's text, the statement, what was compared before."""

    oid: int
    value: Val
    statement: Span
    state: State
    compared: frozenset[frozenset[int]]


class Engine(LibraryCalls):
    """Collects the events that pairs are made of."""

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.pools: list[Made] = []
        self.uses: list[Used] = []
        self.chosen: list[Chosen] = []
        self.traps: list[Trap] = []
        self.registered: list[Registered] = []
        self.compared: set[frozenset[int]] = set()

    def construct_external(self, frame: Frame, state: State, klass: Klass) -> bool:
        name = klass.node.name
        if name in ARGS_CLASSES or name in WORKER_CLASSES:
            return True
        return pool_class(name) and ("sglang" in klass.module.path or not self._own_init(klass))

    @staticmethod
    def _own_init(klass: Klass) -> bool:
        return any(isinstance(n, ast.FunctionDef) and n.name == "__init__" for n in klass.node.body)

    def construct(
        self, frame: Frame, state: State, klass: Klass, args: list[Val], keywords: Keywords, node: ast.expr
    ) -> Val:
        """An instance of a subclass of a pool is a pool; one of a worker starts a worker."""
        base = self._engine_base(klass)
        if base is not None and pool_class(base) and not self.construct_external(frame, state, klass):
            ref = self.heap.new(f"{klass.node.name}()", "pool", where=self.span(frame, node), cls=klass)
            init = self.class_attribute(klass, "__init__", Val(ref))
            if init is not None:
                self.call_value(frame, state, init, args, keywords, node)
            else:
                self._set_geometry(state, ref.oid, base, args, keywords)
            self._made(frame, state, ref.oid, self.span(frame, node))
            return Val(ref)
        value = super().construct(frame, state, klass, args, keywords, node)
        self._hand_over(frame, state, klass.node.name, args, keywords, known=True)
        return value

    def _engine_base(self, klass: Klass, hops: int = 0) -> str | None:
        """The first base of a class, however far up, that is one of SGLang's pools."""
        for base in self.bases(klass):
            name = path_of(self.heap, base).rpartition(".")[2]
            if pool_class(name):
                return name
            if isinstance(base, Klass) and hops < 5:
                found = self._engine_base(base, hops + 1)
                if found is not None:
                    return found
        return None

    def note_call(
        self,
        frame: Frame,
        state: State,
        name: str,
        base: Val | None,
        args: list[Val],
        keywords: Keywords,
        node: ast.expr,
    ) -> Val | None:
        given = dict(keywords)
        owner, _, last = name.rpartition(".")
        self._hand_over(frame, state, name, args, keywords)
        if base is not None and isinstance(base.core, Ref) and last.startswith(("save", "to_json", "push", "to_dict")):
            self.heap.things[base.core.oid].escaped = True  # written out, to be loaded by a worker
        if base is not None and last in BUFFER_CALLS:
            self._registers(frame, state, base, node)
        self._compares(last, args)
        if last == "__init__":
            return self._base_init(frame, state, owner, args, keywords, node)
        if pool_class(last):
            return self._pool(frame, state, last, args, keywords, node)
        if last in ARGS_CLASSES:
            return self._built_args(frame, state, last, keywords, node)
        if last in ARGS_FACTORIES or (last in ("from_cli_args", "from_kwargs") and owner.endswith("ServerArgs")):
            text = f"{last}({', '.join(path_of(self.heap, a.core) for a in args)})"
            return self.heap.symbol(text, self.span(frame, node), "ServerArgs")
        if last in WORKER_CLASSES:
            return self._worker(frame, state, last, keywords, node)
        if last in ("from_pretrained", "from_server_args", "ModelConfig", "from_dict") or last.endswith("Config"):
            return self._config(frame, state, name, args, given, node)
        for keyword, value in keywords:
            if keyword in FIELD_OF_NAME and value.where is not None:
                self.chosen.append(Chosen(keyword, self._now(state, value), last, value.where))
        return None

    def _compares(self, name: str, args: list[Val]) -> None:
        """Two objects given to a call that says it compares them."""
        if COMPARES.search(name):
            passed = [v.core.oid for v in args if isinstance(v.core, Ref)]
            self.compared |= {frozenset((a, b)) for a in passed for b in passed if a != b}

    def inline(
        self, frame: Frame, state: State, func: Func, args: list[Val], keywords: Keywords, node: ast.expr
    ) -> Val:
        self._compares(getattr(func.node, "name", ""), args)
        return super().inline(frame, state, func, args, keywords, node)

    def _registers(self, frame: Frame, state: State, base: Val, node: ast.expr) -> None:
        if isinstance(base.core, Ref) and isinstance(node, ast.Call) and frame.statement is not None:
            place = self.span(frame, frame.statement)
            value = base._replace(where=self.span(frame, node), expr=self.span(frame, node.func.value))  # type: ignore[attr-defined]
            self.registered.append(Registered(base.core.oid, value, place, state.fork(), frozenset(self.compared)))

    def _now(self, state: State, value: Val) -> Val:
        """A value with the tests of its path."""
        return value.under(value.conds + tuple(c for c in state.path if c not in value.conds))

    # -- pools ---

    def _pool(self, frame: Frame, state: State, name: str, args: list[Val], keywords: Keywords, node: ast.expr) -> Val:
        ref = self.heap.new(f"{name}()", "pool", where=self.span(frame, node), cls=name)
        self._set_geometry(state, ref.oid, name, args, keywords)
        self._made(frame, state, ref.oid, self.span(frame, node))
        return Val(ref)

    def _base_init(
        self, frame: Frame, state: State, owner: str, args: list[Val], keywords: Keywords, node: ast.expr
    ) -> Val | None:
        """`super().__init__(...)` or `Base.__init__(self, ...)` of an engine class."""
        name = owner.rpartition(".")[2]
        own = dict(keywords).get("<self>") or (args[0] if args else None)
        if pool_class(name) and own is not None and isinstance(own.core, Ref):
            rest = args[1:] if args and args[0].core == own.core else args
            self._set_geometry(state, own.core.oid, name, rest, keywords)
            return Val(Lit.of(None))
        return None

    def _set_geometry(self, state: State, oid: int, name: str, args: list[Val], keywords: Keywords) -> None:
        positions = next((p for known, p in POOL_POSITIONS.items() if known in name), {})
        for index, value in enumerate(args):
            if index in positions:
                self.heap.put(state, oid, positions[index], value)
        for keyword, value in keywords:
            if keyword in FIELD_OF_NAME:
                self.heap.put(state, oid, "sliding_window" if keyword in WINDOW_NAMES else keyword, value)
            elif draft_flag(keyword) and isinstance(value.core, Lit):
                self.heap.things[oid].draft = bool(value.core.value)
                self.heap.things[oid].target = not value.core.value

    def _made(self, frame: Frame, state: State, oid: int, where: Span) -> None:
        if frame.expects_error:
            self.heap.things[oid].exempt = True
        self.pools.append(Made(oid, state.fork(), frame.name, state.path, where))

    # -- args and configs ---

    def _built_args(self, frame: Frame, state: State, name: str, keywords: Keywords, node: ast.expr) -> Val:
        base = dict(keywords).get("#base")
        if base is not None and isinstance(base.core, Ref):
            # ServerArgs(**{**vars(server_args), ...}) is a copy with some fields set.
            return self.replaced(frame, state, base, keywords, node)
        ref = self.heap.new(f"{name}()", "built", where=self.span(frame, node), cls="ServerArgs")
        for key, value in keywords:
            if not key.startswith("#"):
                self.heap.put(state, ref.oid, key, value)
        return Val(ref)

    def _config(
        self, frame: Frame, state: State, name: str, args: list[Val], given: dict[str, Val], node: ast.expr
    ) -> Val | None:
        """A model config: the draft's when it is told so, or made from the draft's path."""
        last = name.rpartition(".")[2]
        if last == "from_dict" and "Config" not in name:
            return None
        texts = [path_of(self.heap, v.core) for v in (*args, *given.values())]
        ref = self.heap.new(f"{last}()", "config", where=self.span(frame, node), cls=name.rpartition(".")[0] or name)
        thing = self.heap.things[ref.oid]
        flag = next((v for k, v in given.items() if draft_flag(k)), None)
        if flag is not None and isinstance(flag.core, Lit):
            thing.draft, thing.target = bool(flag.core.value), not flag.core.value
        else:
            thing.draft = any(draft_word(t) and ("path" in t or "/" in t) for t in texts)
        for keyword, value in given.items():
            if keyword in FIELD_OF_NAME:
                self.heap.put(state, ref.oid, keyword, value)
        return Val(ref)

    # -- workers ---

    def _hand_over(
        self, frame: Frame, state: State, name: str, args: list[Val], keywords: Keywords, known: bool = False
    ) -> None:
        """Args passed to a call: to a draft worker, to a target worker, or somewhere out of sight."""
        last = name.removesuffix(".__init__").rpartition(".")[2]
        flag = next((v for k, v in keywords if draft_flag(k)), None)
        draft: bool | None = None
        if flag is not None:
            options = alternatives(flag, state.path)
            draft = bool(options[0].core.value) if len(options) == 1 and isinstance(options[0].core, Lit) else None
            if draft is None and state.draft is not None:
                draft = state.draft
        elif last in WORKER_CLASSES:
            draft = False
        elif draft_word(last) and last[:1].isupper() and not draft_word(frame.name):
            draft = True
        for keyword, value in [("", v) for v in args] + keywords:
            for option in alternatives(value, state.path):
                if isinstance(option.core, Ref):
                    self._passed(frame, state, option.core.oid, keyword, last, draft, known)

    def _passed(
        self, frame: Frame, state: State, oid: int, keyword: str, callee: str, draft: bool | None, known: bool
    ) -> None:
        thing = self.heap.things[oid]
        if frame.expects_error:
            thing.exempt = True
        if keyword and not known:
            thing.names.add(keyword) if keyword not in ("server_args", "self", "args") else None
        if thing.kind not in ("copy", "built", "opaque") or not self.args_like(oid):
            if not known and callee not in _HARMLESS:
                thing.escaped = True
            return
        if draft is True and thing.kind != "opaque":
            thing.draft = thing.escaped = True
        elif draft is False:
            thing.target = True
        elif not known and callee not in _HARMLESS:
            thing.escaped = True
        if draft is not None:
            self.uses.append(Used(oid, state.fork(), draft))

    def args_like(self, oid: int) -> bool:
        """Whether an object is server arguments: by class, by name, by what it was copied from."""
        thing = self.heap.things[oid]
        if thing.source is not None and self.args_like(thing.source):
            return True
        if thing.cls == "ServerArgs":
            return True
        return thing.kind in ("opaque", "copy") and args_name(thing.path.rpartition(".")[2])

    def _worker(self, frame: Frame, state: State, name: str, keywords: Keywords, node: ast.expr) -> Val:
        """A worker or runner: what hangs on a draft's is the draft's."""
        ref = self.heap.new(f"{name}()", "opaque", where=self.span(frame, node), cls=name)
        thing = self.heap.things[ref.oid]
        thing.result = True
        flag = next((v for k, v in keywords if draft_flag(k)), None)
        if flag is not None and isinstance(flag.core, Lit):
            thing.draft, thing.target = bool(flag.core.value), not flag.core.value
        for keyword, value in keywords:
            if keyword in ("server_args", "model_config"):
                self.heap.put(state, ref.oid, keyword, value, own=False)
        return Val(ref)

    # -- comparisons ---

    def note_compare(self, frame: Frame, state: State, node: ast.Compare, left: Val, right: Val) -> None:
        """Remember `swa_window_size` on either side of a comparison of two objects."""
        mine, theirs = self._leaves(state, left), self._leaves(state, right)
        roots = {self._owner(v) for v in mine} ^ {self._owner(v) for v in theirs} - {None}
        if len(roots) < 2:
            return
        named = [(value, *path_of(self.heap, value.core).rpartition(".")[::2]) for value in (*mine, *theirs)]
        paged = {self._owner(value) for value, _, attr in named if attr in PAGE_NAMES}
        for value, owner, attr in named:
            pool = "pool" in owner or target_word(owner) or draft_word(owner) or self._owner(value) in paged
            if attr == WINDOW_TRAP and pool and value.expr is not None:
                self.traps.append(Trap(value, value.expr, self.span(frame, node)))

    def _leaves(self, state: State, value: Val) -> list[Val]:
        if isinstance(value.core, Ref):
            oid, kind = value.core.oid, self.heap.things[value.core.oid].kind
            if kind == "list":
                return [leaf for v in state.seqs.get(oid, ()) for leaf in self._leaves(state, v)]
            if kind == "dict":
                return [leaf for _, v in self.heap.items(state, oid) for leaf in self._leaves(state, v)]
            if kind == "instance":
                return [s.value for (owner, _), s in state.slots.items() if owner == oid]
        return [value]

    def _owner(self, value: Val) -> int | None:
        if isinstance(value.core, Ref):
            parent = self.heap.things[value.core.oid].parent
            return parent[0] if parent else None
        return None
