"""One file, analysed: which functions matter, in which order they run, and what comes out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from swa_lint.sources.facts import Launch, Pair
from swa_lint.sources.python.base import MAX_HOPS, MAX_STEPS, METHOD_STEPS, Frame, OutOfBudget
from swa_lint.sources.python.engine import Engine
from swa_lint.sources.python.launches import LaunchEngine
from swa_lint.sources.python.modules import FunctionNode, Library, Module
from swa_lint.sources.python.pairs import Pairing
from swa_lint.sources.python.relevance import about_sglang, drafts, launches, matters, names_draft
from swa_lint.sources.python.scopes import scope_of
from swa_lint.sources.python.starts import Start, collate
from swa_lint.sources.python.values import Klass, State, Val

_MAX_ROOTS = 400
_CONSTRUCTORS = frozenset({"__init__", "__post_init__", "setUpClass", "setUp"})


def analyse(module: Module, library: Library) -> tuple[tuple[Pair, ...], tuple[Launch, ...]]:
    """The pairs and launches of a module, what it imports from the project included."""
    pairs: dict[object, Pair] = {}
    starts: list[Start] = []
    for engine, end, returned in analyses(module, library):
        for pair in Pairing(module, engine, end, returned).pairs():
            _add(pairs, pair)
        starts += engine.finished(end, returned)
    found = collate(starts, module.path) if starts else ()
    return tuple(pairs.values()) if _related(module, library) else (), found


def analyses(module: Module, library: Library) -> Iterator[tuple[LaunchEngine, State, list[Val]]]:
    """What running each function and class that matters comes to: the engine, the end, the values returned."""
    done: set[ast.AST] = set()
    for root in _roots(module):
        if root in done:
            continue
        engine = LaunchEngine(library, root)
        try:
            end, returned = _run(engine, module, root)
        except (OutOfBudget, RecursionError):
            end, returned = State(), []
        done |= engine.inlined
        yield engine, end, returned


def _related(module: Module, library: Library) -> bool:
    """Whether the file, or one that it imports, is about SGLang at all: pages and windows are everywhere."""
    texts = [module.text, *(m.text for m in library.loaded)]
    return "sglang" in module.path or any(map(about_sglang, texts))


def _add(pairs: dict[object, Pair], pair: Pair) -> None:
    """Several analyses may meet one defect; the strongest link at a place stays."""
    place = pair.target if pair.link.name == "REBOUND" else pair.draft
    assert place is not None
    key = (pair.link, place.where.path, place.where.line, place.field)
    if key not in pairs or (pairs[key].target_text is None and pair.target_text is not None):
        pairs[key] = pair


def _roots(module: Module) -> Iterable[ast.AST]:
    """Functions and classes worth running, callers before what they call, then the module body."""
    scope = scope_of(module)
    units: dict[str, ast.AST] = {**scope.functions, **scope.classes}
    lines = module.lines
    texts = {name: _source(lines, node) for name, node in units.items()}
    calls = {name: _called(text) for name, text in texts.items()}
    tables = [n for n in scope.body if matters(_source(lines, n)) or names_draft(_source(lines, n))]
    able = {name for name, text in texts.items() if matters(text)}
    able |= {n.id for t in tables for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for _ in range(MAX_HOPS):
        able |= {name for name, called in calls.items() if called & able}
    named = {n.id for t in tables if names_draft(_source(lines, t)) for n in ast.walk(t) if isinstance(n, ast.Name)}
    drafting = {
        name
        for name in able & units.keys()
        if drafts(_telling(lines, units[name])) or launches(texts[name]) or calls[name] & named
    }
    commands = [n for n in scope.body if launches(_source(lines, n))]
    starting = {name for name, text in texts.items() if launches(text)}
    starting |= {
        n.id for t in commands for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    for _ in range(MAX_HOPS if starting else 0):
        starting |= {name for name, called in calls.items() if called & starting}
    relevant = drafting | starting & units.keys() | {name for name in able & units.keys() if calls[name] & drafting}
    called_by_others = {c for name in relevant for c in calls[name] if c != name}
    ordered = sorted(relevant, key=lambda n: (n in called_by_others, units[n].lineno))  # type: ignore[attr-defined]
    starters = starting and any(_called(_source(lines, n)) & starting for n in scope.body if not _runs_main(n))
    body = [module.tree] if tables or commands or starters else []
    return [*body, *(units[name] for name in ordered)][:_MAX_ROOTS]


def _runs_main(node: ast.stmt) -> bool:
    """`if __name__ == "__main__":` calls what runs as a root anyway, and often with the command line's arguments."""
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) and len(node.body) == 1


def _telling(lines: list[str], node: ast.AST) -> str:
    """What decides whether a function or class is worth running: of a class, its methods that matter and those they use."""
    if not isinstance(node, ast.ClassDef):
        return _source(lines, node)
    parts = {getattr(child, "name", str(n)): _source(lines, child) for n, child in enumerate(node.body)}
    kept = {name: part for name, part in parts.items() if matters(part)}
    used = {name for part in kept.values() for name in _OWN.findall(part)}
    return "\n".join([lines[node.lineno - 1], *(part for name, part in parts.items() if name in kept or name in used)])


def _source(lines: list[str], node: ast.AST) -> str:
    return "\n".join(lines[node.lineno - 1 : node.end_lineno])  # type: ignore[attr-defined]


_OWN = re.compile(r"self\.(\w+)")
_NAME = re.compile(r"[^\W\d]\w*")


def _called(text: str) -> set[str]:
    """The names in a text: more than it calls, and cheap."""
    return set(_NAME.findall(text))


def _run(engine: Engine, module: Module, root: ast.AST) -> tuple[State, list[Val]]:
    """Analyse one root; a class runs its `__init__` first and then its other methods on the same object."""
    if isinstance(root, ast.ClassDef):
        return _run_class(engine, module, Klass(root, module))
    state = State()
    if isinstance(root, ast.Module):
        state = engine.module_state(module)
        return state.fork(), []
    assert isinstance(root, (ast.FunctionDef, ast.AsyncFunctionDef))
    return _run_function(engine, module, root, state, None, None)


def _run_function(
    engine: Engine, module: Module, node: FunctionNode, state: State, self_value: Val | None, owner: Klass | None
) -> tuple[State, list[Val]]:
    frame = Frame(module, node.name, 0, self_value, owner)
    args = [self_value] if self_value is not None else []
    state.env = engine.bind(frame, state, _without_defaults(node.args), args, [])
    for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        engine.annotate(frame, state.env[parameter.arg], parameter.annotation)
    engine.active.append(node)
    try:
        engine.block(frame, state, node.body)
    finally:
        engine.active.pop()
    exits = [s for s, _ in frame.returns] + ([state] if state.live else [])
    end = exits[0].fork() if exits else state
    for other in exits[1:]:
        engine.heap.join(end, other)
    engine.inlined.add(node)
    return end, [v for _, v in frame.returns]


def _without_defaults(spec: ast.arguments) -> ast.arguments:
    """Parameters of a function nobody calls here are unknown, whatever their defaults."""
    return ast.arguments(
        spec.posonlyargs, spec.args, spec.vararg, spec.kwonlyargs, [None] * len(spec.kwonlyargs), spec.kwarg, []
    )


def _methods(engine: Engine, klass: Klass, hops: int = 0) -> dict[FunctionNode, Klass]:
    """The methods of a class and of its bases in the project, overridden ones left out, with their owners."""
    own = {n: klass for n in klass.node.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    names = {n.name for n in own}
    for base in engine.bases(klass) if hops < 4 else []:
        if isinstance(base, Klass) and not engine.construct_external(Frame(klass.module, ""), State(), base):
            inherited = _methods(engine, base, hops + 1)
            own |= {n: owner for n, owner in inherited.items() if n.name not in names}
    return own


def _relevant_methods(methods: dict[FunctionNode, Klass]) -> dict[FunctionNode, Klass]:
    """The constructors, and the methods that can matter or call one that can."""
    texts = {n: _source(owner.module.lines, n) for n, owner in methods.items()}
    kept = {n for n in methods if n.name in _CONSTRUCTORS or matters(texts[n])}
    names = {n.name for n in kept} - _CONSTRUCTORS
    kept |= {n for n in methods if any(f"self.{name}" in texts[n] for name in names)} if len(names) < 12 else set()
    return {n: owner for n, owner in methods.items() if n in kept}


def _run_class(engine: Engine, module: Module, klass: Klass) -> tuple[State, list[Val]]:
    self_value = Val(engine.heap.new("self", "instance", cls=klass))
    state = State()
    returned: list[Val] = []
    methods = _methods(engine, klass)
    methods = _relevant_methods(methods)
    init = [n for n in methods if n.name in _CONSTRUCTORS]
    for node in [*init, *(n for n in methods if n not in init)]:
        owner = methods[node]
        if node in engine.inlined:
            continue
        work = state.fork()
        work.path, work.live = (), True
        bound = None if any(ast.unparse(d) == "staticmethod" for d in node.decorator_list) else self_value
        engine.since = engine.heap.clock
        engine.limit = min(engine.steps + METHOD_STEPS, 3 * MAX_STEPS)
        try:
            end, values = _run_function(engine, owner.module, node, work, bound, owner)
        except (OutOfBudget, RecursionError):
            engine.active.clear()
            continue
        returned += values
        if end.live or values:
            state = end
            state.live = True
            # What one method tested holds for it alone; after __init__ it holds for the object.
            if node not in init:
                state.path, state.equal = (), frozenset()
    return state, returned
