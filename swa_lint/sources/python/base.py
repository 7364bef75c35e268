"""What all layers of the interpreter share: frames, names, limits, and the hooks that each layer provides."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from swa_lint.sources.python.heap import Heap
from swa_lint.sources.python.modules import Library, Module, Span, span
from swa_lint.sources.python.scopes import Scope, scope_of
from swa_lint.sources.python.values import Ext, Func, Klass, Namespace, State, Val

MAX_STEPS = 20_000  # statements and calls of one analysis; real set-up code stays far below
METHOD_STEPS = 8_000  # of one method
MAX_HOPS = 4  # calls followed into one another
MAX_UNROLL = 48


class OutOfBudget(Exception):
    """One analysis took too long; what it found so far stands."""


@dataclass(eq=False)
class Frame:
    """One activation of a function, class body or module body."""

    module: Module
    name: str
    depth: int = 0
    self_value: Val | None = None
    owner: Klass | None = None
    closure: dict[str, Val] | None = None
    returns: list[tuple[State, Val]] = field(default_factory=list)
    expects_error: bool = False
    statement: ast.stmt | None = None


class Base(ABC):
    """State of one analysis of one file (and of what it imports)."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.heap = Heap()
        self.steps = 0
        self.limit = MAX_STEPS
        self.since = 0  # the heap's clock when the method under way began
        self.globals: dict[Module, State] = {}
        self.active: list[ast.AST] = []
        self.inlined: set[ast.AST] = set()
        self.class_values: dict[ast.stmt, Val] = {}
        self._started: set[tuple[Module, str]] = set()
        self.ran: set[ast.stmt] = set()

    # -- provided by the layers above ---

    @abstractmethod
    def evaluate(self, frame: Frame, state: State, node: ast.expr) -> Val: ...

    @abstractmethod
    def call(self, frame: Frame, state: State, node: ast.Call) -> Val: ...

    @abstractmethod
    def call_value(
        self,
        frame: Frame,
        state: State,
        callee: Val,
        args: list[Val],
        keywords: list[tuple[str, Val]],
        node: ast.expr,
    ) -> Val: ...

    @abstractmethod
    def block(self, frame: Frame, state: State, body: list[ast.stmt]) -> None: ...

    @abstractmethod
    def note_compare(self, frame: Frame, state: State, node: ast.Compare, left: Val, right: Val) -> None: ...

    # -- names ---

    def tick(self) -> None:
        self.steps += 1
        if self.steps > self.limit:
            raise OutOfBudget

    def span(self, frame: Frame, first: ast.AST, last: ast.AST | None = None) -> Span:
        return span(frame.module, first, last)

    def lookup(self, frame: Frame, state: State, name: str) -> Val:
        """The value of a name: local, enclosing, global, imported, or builtin."""
        if name in state.env:
            return state.env[name]
        if frame.closure and name in frame.closure:
            return frame.closure[name]
        return self.global_name(frame.module, name)

    def adopt(self, state: State) -> None:
        """Make the contents of module globals readable on this path."""
        if state.adopted == len(self.ran):
            return
        state.adopted = len(self.ran)
        for known in self.globals.values():
            if known is not state:
                state.slots = {**known.slots, **state.slots}
                state.seqs = {**known.seqs, **state.seqs}

    def is_global(self, frame: Frame, state: State, name: str) -> bool:
        return name not in state.env and not (frame.closure and name in frame.closure)

    def global_name(self, module: Module, name: str) -> Val:
        state = self.globals.get(module)
        if state is not None and name in state.env:
            return state.env[name]
        scope = scope_of(module)
        if name in scope.assigned:
            return self.module_value(module, scope, name) or self.heap.symbol(name)
        if name in scope.functions:
            return Val(Func(scope.functions[name], module))
        if name in scope.classes:
            return Val(Klass(scope.classes[name], module))
        if name in scope.imports:
            return self.imported(module, scope, name)
        return Val(Ext(f"builtins.{name}"))

    def imported(self, module: Module, scope: Scope, name: str, hops: int = 0) -> Val:
        """What an import binds: a definition of the project, or an external name."""
        target = scope.imports[name]
        if hops > MAX_HOPS + 4:
            return Val(Ext(target.full_name))
        if target.attr is None:
            found = self.library.load(target.module, module, target.level)
            return Val(Namespace(found)) if found else Val(Ext(target.full_name))
        found = self.library.load(target.module, module, target.level)
        if found is not None and found is not module:
            value = self.member(found, target.attr, hops)
            if value is not None:
                return value
        inner = f"{target.module}.{target.attr}" if target.module else target.attr
        submodule = self.library.load(inner, module, target.level)
        return Val(Namespace(submodule)) if submodule else Val(Ext(target.full_name))

    def member(self, module: Module, attr: str, hops: int = 0) -> Val | None:
        """A name of another module, through re-exports."""
        scope = scope_of(module)
        if attr in scope.imports and attr not in scope.assigned:
            return self.imported(module, scope, attr, hops + 1)
        if attr in scope.functions:
            return Val(Func(scope.functions[attr], module))
        if attr in scope.classes:
            return Val(Klass(scope.classes[attr], module))
        if attr in scope.assigned:
            return self.module_value(module, scope, attr)
        for star in scope.stars:
            found = self.library.load(star.module, module, star.level) if hops < MAX_HOPS else None
            value = self.member(found, attr, hops + 1) if found is not None and found is not module else None
            if value is not None:
                return value
        return None

    def module_value(self, module: Module, scope: Scope, name: str) -> Val | None:
        """A module's global: only the top-level statements that mention it run; a cycle sees what is there so far."""
        state = self.globals.setdefault(module, State())
        if name not in state.env and (module, name) not in self._started:
            self._started.add((module, name))
            for node in scope.mentions.get(name, []):
                if node not in self.ran:
                    self.ran.add(node)
                    self.block(Frame(module, "<module>"), state, [node])
                    state.live = True
        return state.env.get(name)

    def module_state(self, module: Module) -> State:
        """The module's globals after its whole body ran."""
        state = self.globals.setdefault(module, State())
        for node in scope_of(module).body:
            if node not in self.ran and state.live:
                self.ran.add(node)
                self.block(Frame(module, "<module>"), state, [node])
        return state
