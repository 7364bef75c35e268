"""Launches that Python code starts: argv lists, command lines, engines and server arguments."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from swa_lint.geometry import Const, Knob, Location, Value
from swa_lint.sglang.flags import FIELDS, field_of_flag, field_of_key, field_of_variable
from swa_lint.sources.facts import Launch, Setting
from swa_lint.sources.launch import build_launch, launch_role
from swa_lint.sources.python.base import Frame
from swa_lint.sources.python.calls import Keywords, traits
from swa_lint.sources.python.commands import read_command
from swa_lint.sources.python.heap import ABSENT, key_of, path_of
from swa_lint.sources.python.judging import as_value
from swa_lint.sources.python.modules import Library, Module, Span
from swa_lint.sources.python.starts import Call, Start, by_role
from swa_lint.sources.python.strings import Strings, is_text
from swa_lint.sources.python.values import Cond, Ext, Func, Klass, Lit, Phi, Ref, State, Val, alternatives
from swa_lint.sources.python.words import Word, environment, hops, insertions, refined, removal, text_at, word_of

_TELLING = re.compile(r"launch_server|\bsglang serve\b|sglang\.srt|--disaggregation-|--speculative-|--sglang-")
_HELPER = re.compile(r"^(_?popen_launch\w*server\w*|launch_server_process)$")
_ENGINE = re.compile(r"(^|\.)(Engine|Runtime)$")
_SERVE = re.compile(r"(^|\.)(launch_server|run_server|serve_grpc|launch_engine)$")
_RUNS_FUNCTION = frozenset({"Process", "Thread", "submit", "apply_async", "run_in_executor", "to_thread"})
# Calls that only look at a command, or show it.
_ASIDE = frozenset(
    [
        *("print", "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "write", "write_text"),
        *("add_argument", "add_parser", "ArgumentParser", "dump", "dumps", "compile", "search", "match", "findall"),
        *("sub", "parametrize", "skip", "fail", "echo", "secho", "repr", "str", "len", "sorted", "set", "isinstance"),
        *("type", "id", "hash", "encode", "startswith", "endswith", "index", "count", "append_text", "markdown"),
        *("join", "list2cmdline", "pprint", "Option", "Argument", "Field", "append", "option", "hexdigest", "md5"),
    ]
)
_WORDS_OF_PEOPLE = frozenset({"help", "description", "epilog", "usage", "doc", "message", "msg", "reason"})
_RELEVANT = frozenset({"page_size", "speculative_draft_page_size", "disaggregation_mode"})
_MAX_TESTS = 4
_ROLES = ("prefill", "decode")


@dataclass(frozen=True)
class _Site:
    """A call that is under way: where it stands, who calls, and the activation that it makes."""

    where: Span
    caller: Frame
    call: Call


class LaunchEngine(Strings):
    """Adds what argv lists and engine calls say."""

    def __init__(self, library: Library, root: ast.AST) -> None:
        super().__init__(library)
        self.root = root
        self.starts: list[Start] = []
        self._sites: list[_Site] = []
        self._calls = itertools.count(1)
        self._environment: list[tuple[str, Val]] = []
        self._options: dict[str, Val] = {}
        self._seen: set[object] = set()

    def finished(self, end: State, returned: Sequence[Val]) -> list[Start]:
        """All server starts, those included whose commands are only returned, or kept in the module's tables."""
        module = isinstance(self.root, ast.Module)
        kept = [v for v in end.env.values() if not is_text(v)] if module else returned
        frame = self._frame
        if frame is not None:
            for val in kept:
                for option in alternatives(val):
                    self._capture(frame, end, option, None, [], stored=True)
        return self.starts

    # -- what happens ---

    _frame: Frame | None = None

    def block(self, frame: Frame, state: State, body: list[ast.stmt]) -> None:
        if frame.depth == 0 and self._frame is None:
            self._frame = frame
        super().block(frame, state, body)

    def inline(
        self, frame: Frame, state: State, func: Func, args: list[Val], keywords: Keywords, node: ast.expr
    ) -> Val:
        name = getattr(func.node, "name", "<lambda>")
        if _HELPER.match(name):
            return self.external(frame, state, name, None, args, keywords, node)
        if not traits(func.node, func.module).worth_following:
            self._note(frame, state, name, args, keywords, node)
        self._sites.append(_Site(self.span(frame, node), frame, Call(name, next(self._calls))))
        try:
            return super().inline(frame, state, func, args, keywords, node)
        finally:
            self._sites.pop()

    def construct_external(self, frame: Frame, state: State, klass: Klass) -> bool:
        if klass.node.name == "Engine" and "sglang" in klass.module.path:
            return True
        return super().construct_external(frame, state, klass)

    def extend(self, frame: Frame, state: State, ref: Ref, value: Val) -> None:
        if isinstance(value.core, Phi):
            items = self._items(state, value)
            state.seqs[ref.oid] = (*state.seqs.get(ref.oid, ()), *items)
        else:
            super().extend(frame, state, ref, value)

    def _eval_List(self, frame: Frame, state: State, node: ast.List | ast.Tuple | ast.Set) -> Val:
        chosen = [e for e in node.elts if isinstance(e, ast.Starred) and isinstance(e.value, (ast.Name, ast.IfExp))]
        if not chosen:
            return super()._eval_List(frame, state, node)
        found: list[Val] = []
        for element in node.elts:
            single = ast.copy_location(ast.List([element], ast.Load()), node)
            value = self.evaluate(frame, state, element.value) if isinstance(element, ast.Starred) else None
            if value is not None and isinstance(value.core, Phi):
                found += self._items(state, value)
            else:
                found += self.sequence(state, super()._eval_List(frame, state, single)) or []
        return self.make_list(state, found)

    _eval_Tuple = _eval_List
    _eval_Set = _eval_List

    def _items(self, state: State, value: Val) -> list[Val]:
        """The items of a list that is one of several, each under the tests of its list."""
        found: list[Val] = []
        for option in alternatives(value, state.path):
            extra = tuple(c for c in option.conds if c not in state.path)
            items = self._words_of(state, option)
            if items is None and isinstance(option.core, Lit) and option.core.value is None:
                continue
            for item in items if items is not None else [self._rest(option)]:
                found.append(item._replace(conds=item.conds + extra))
        return found

    def note_environment(self, frame: Frame, state: State, owner: str, name: str, value: Val) -> None:
        if owner.endswith("environ") and field_of_variable(name):
            self._environment.append((name, value))

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
        owner, _, last = name.rpartition(".")
        if owner.endswith("environ"):
            self._set_environment(frame, state, last, args, keywords)
        elif last == "add_argument":
            self._add_option(args, keywords)
        elif last in _RUNS_FUNCTION:
            self._run_function(frame, state, args, keywords, node)
        if not frame.expects_error:
            self._note(frame, state, name, args, keywords, node)
        return super().note_call(frame, state, name, base, args, keywords, node)

    def _note(self, frame: Frame, state: State, name: str, args: list[Val], keywords: Keywords, node: ast.expr) -> None:
        last = name.rpartition(".")[2]
        given = dict(keywords)
        if last in _ASIDE or last.startswith("assert"):
            return
        if _HELPER.match(last):
            self._helper(frame, state, args, given, node)
        elif _ENGINE.search(name) and ("sglang" in name or name == "Engine"):
            self._engine(frame, state, keywords, node)
        elif _SERVE.search(name):
            self._serve(frame, state, [*args, *given.values()], node)
        else:
            self._unknown_call(frame, state, args, keywords, node)

    def _set_environment(self, frame: Frame, state: State, last: str, args: list[Val], keywords: Keywords) -> None:
        entries = list(keywords)
        if last == "update" and args and isinstance(args[0].core, Ref):
            entries += self.heap.items(state, args[0].core.oid)
        elif last in ("setdefault", "__setitem__") and len(args) == 2 and isinstance(args[0].core, Lit):
            entries.append((str(args[0].core.value), args[1]))
        for name, value in entries:
            self.note_environment(frame, state, "os.environ", name, value)

    def _add_option(self, args: list[Val], keywords: Keywords) -> None:
        """`parser.add_argument("--page-size", default=64)`."""
        given = dict(keywords)
        flags = [str(a.core.value) for a in args if isinstance(a.core, Lit)]
        name = next((f for f in flags if f.startswith("--")), "")
        dest = given["dest"].core if "dest" in given else Lit.of(name.lstrip("-").replace("-", "_"))
        if isinstance(dest, Lit) and "default" in given and isinstance(given["default"].core, Lit):
            self._options[str(dest.value)] = given["default"]

    def _run_function(self, frame: Frame, state: State, args: list[Val], keywords: Keywords, node: ast.expr) -> None:
        """`Process(target=f, args=(...))`, `pool.submit(f, ...)`: the function runs."""
        given = dict(keywords)
        target = given.get("target") or next((a for a in args if isinstance(a.core, (Func, Ext))), None)
        if target is None:
            return
        passed = args[args.index(target) + 1 :] if target in args else []
        if "args" in given:
            passed = self.sequence(state, given["args"]) or []
        named: Keywords = []
        if "kwargs" in given and isinstance(given["kwargs"].core, Ref):
            named = self.heap.items(state, given["kwargs"].core.oid)
        if isinstance(target.core, Func):
            self.call_value(frame, state.fork(), target, passed, named, node)
        elif isinstance(target.core, Ext) and _SERVE.search(target.core.name):
            self._serve(frame, state, [*passed, *(v for _, v in named)], node)

    # -- starts ---

    def _helper(self, frame: Frame, state: State, args: list[Val], given: dict[str, Val], node: ast.expr) -> None:
        """`popen_launch_server(model, url, timeout, other_args=[...])` of SGLang's tests."""
        model = given.get("model", args[0] if args else None)
        other = given.get("other_args", args[4] if len(args) > 4 else None)
        head = [Val(Lit.of(word)) for word in ("python3", "-m", "sglang.launch_server", "--model-path")]
        words = [*head, model] if model is not None else head[:3]
        if other is not None:
            words += self._items(state, other)
        self._argv(frame, state, words, given.get("env"), node)

    def _unknown_call(self, frame: Frame, state: State, args: list[Val], keywords: Keywords, node: ast.expr) -> None:
        """A call that may run what it is given: a list, a command line, or words one by one."""
        env = next((v for k, v in keywords if k in ("env", "environment", "envs")), None)
        first = next((i for i, a in enumerate(args) if isinstance(a.core, Lit) and a.core.value == "-m"), None)
        if first is not None or sum(str(getattr(a.core, "value", "")).startswith("--") for a in args) > 1:
            self._argv(frame, state, args, env, node, passed=True)
            return
        others = [v for k, v in keywords if k not in _WORDS_OF_PEOPLE and v is not env]
        for value in (*args, *others):
            options = alternatives(value, state.path)
            for option in options:
                place = (option.choice or option.expr) if len(options) > 1 else None
                self._capture(frame, state, option, env, [node], place=place)

    def _capture(
        self,
        frame: Frame,
        state: State,
        value: Val,
        env: Val | None,
        nodes: list[ast.expr],
        *,
        place: Span | None = None,
        stored: bool = False,
        depth: int = 0,
    ) -> None:
        """The starts in a value: an argv, a command line, a list or mapping of them."""
        node = nodes[0] if nodes else None
        if is_text(value):
            self._line(frame, state, value, env, node, place, stored)
            return
        if not isinstance(value.core, Ref) or depth > 2:
            return
        kind, oid = self.heap.things[value.core.oid].kind, value.core.oid
        if kind == "list":
            items = state.seqs.get(oid, ())
            key = (oid, items)
            if key in self._seen:
                return
            self._seen.add(key)
            if any(self._kind(v) in ("list", "dict") for v in items) or (
                stored and depth == 0 and all(map(_is_line, items))
            ):
                for item in items:
                    self._capture(frame, state, item, env, nodes, place=item.where, stored=stored, depth=depth + 1)
            elif not self._argv(frame, state, list(items), env, node, place=place, stored=stored):
                for item in items:
                    if _is_line(item):
                        self._line(frame, state, item, env, node, place, stored)
        elif kind == "dict":
            for key_name, item in self.heap.items(state, oid):
                if key_name not in _WORDS_OF_PEOPLE:
                    self._capture(frame, state, item, env, nodes, place=item.where, stored=stored, depth=depth + 1)

    def _line(
        self,
        frame: Frame,
        state: State,
        value: Val,
        env: Val | None,
        node: ast.expr | None,
        place: Span | None,
        stored: bool,
    ) -> None:
        pieces = self.pieces(value)
        text = "".join(piece.text for piece in pieces)
        if not _TELLING.search(text) or " " not in text or len(text) > 20_000:
            return
        nowhere = self._nowhere(frame, node, place or value.where or value.expr)
        for launch, values in read_command(pieces, nowhere.path, self.value_of, nowhere):
            settings = (*self._env_settings(state, env), *launch.settings)
            found = replace(launch, settings=settings, role=launch_role(settings), where=nowhere)
            points = (launch.insertion,) if launch.insertion is not None else ()
            origins = {name: span for name, val in values.items() if (span := _origin(val)) is not None}
            self._add(frame, Start(found, (), None, points, origins, stored))

    def _argv(
        self,
        frame: Frame,
        state: State,
        items: list[Val],
        env: Val | None,
        node: ast.expr | None,
        *,
        passed: bool = False,
        place: Span | None = None,
        stored: bool = False,
    ) -> bool:
        """The starts of an argv, one for each role that its tests can give it; False when it is no server's."""
        if not any(is_text(v) and _TELLING.search("".join(p.text for p in self.pieces(v))) for v in items):
            return False
        nowhere = self._nowhere(frame, node, place)
        found: list[tuple[Launch, list[Word], dict[str, Span]]] = []
        for world in self._worlds(items, state):
            words = [
                word_of(self, chosen, self.value_of, nowhere) for v in items for chosen in self._in_world(v, world)
            ]
            launch = build_launch(
                [word.arg for word in words],
                where=nowhere,
                deployment=nowhere.path,
                language="python",
                env=self._env_settings(state, env),
                removal=functools.partial(removal, words),
            )
            if launch is None:
                return False
            settings, origins = [], {}
            for setting in launch.settings:
                exact, val = refined(setting, words)
                settings.append(self._settled(exact, val, world))
                span = _origin(val) if val is not None else None
                if span is not None:
                    origins[setting.name] = span
            found.append((replace(launch, settings=tuple(settings)), words, origins))
        for launch in by_role(launch for launch, _, _ in found):
            role = launch_role(launch.settings)
            _, words, origins = next(f for f in found if launch_role(f[0].settings) is role)
            points = tuple(insertions(words, passed=passed))
            where = self._where(launch, nowhere)
            self._add(frame, Start(replace(launch, role=role, where=where), (), None, points, origins, stored))
        return True

    def _engine(self, frame: Frame, state: State, keywords: Keywords, node: ast.expr) -> None:
        """`Engine(page_size=64, ...)` or `Engine(server_args=args)`."""
        args = dict(keywords).get("server_args")
        if args is not None:
            self._serve(frame, state, [args], node)
            return
        self._built(frame, state, keywords, self.span(frame, node), None)

    def _serve(self, frame: Frame, state: State, args: list[Val], node: ast.expr) -> None:
        """Server arguments that reach a server."""
        for value in args:
            options = alternatives(value, state.path)
            for option in options:
                thing = self.heap.things[option.core.oid] if isinstance(option.core, Ref) else None
                if thing is None or thing.draft or thing.kind not in ("built", "copy"):
                    continue
                slots = [(attr, slot.value) for (oid, attr), slot in state.slots.items() if oid == thing.oid]
                place = thing.where or self.span(frame, node)
                self._built(frame, state, slots, place, None)

    def _built(self, frame: Frame, state: State, entries: Keywords, place: Span, env: Val | None) -> None:
        settings: list[Setting] = self._env_settings(state, env)
        origins: dict[str, Span] = {}
        for key, val in entries:
            name = field_of_key(key)
            if name is None or name not in FIELDS or val.where is None or val.core == Lit.of(None):
                continue
            where = val.where.location
            cut = where if val.given <= 0 else None
            expr = val.expr.location if val.expr is not None else None
            settings.append(Setting(name, self.value_of(val), where, text_at(val.expr), expr, cut, hops(val)))
            span = _origin(val)
            if span is not None:
                origins[name] = span
        if not settings:
            return
        unknown = any(key.startswith("#") for key, _ in entries)
        found = Launch(
            place.location, tuple(settings), place.module.path, "python", launch_role(settings), open=unknown
        )
        self._add(frame, Start(found, (), None, (), origins))

    def _add(self, frame: Frame, start: Start) -> None:
        outer = self._sites[0].caller if self._sites else frame
        root = Call("<module>" if outer.name == "<module>" else _qualified(outer), 0)
        owner = outer.owner.node.name if outer.owner is not None else None
        self.starts.append(replace(start, calls=(root, *(site.call for site in self._sites)), owner=owner))

    # -- values ---

    def value_of(self, val: Val) -> Value:
        """The domain's value; an option or a parameter with a default is a knob."""
        core = val.core
        if isinstance(core, Ref):
            default = self._default_of(core)
            if default is not None:
                return Knob(path_of(self.heap, core).rpartition(".")[2], as_value(self.heap, default.core))
        return as_value(self.heap, core)

    def _default_of(self, ref: Ref) -> Val | None:
        thing = self.heap.things[ref.oid]
        if thing.kind != "opaque":
            return None
        owner, _, attr = thing.path.rpartition(".")
        if owner.endswith("parse_args()") or (thing.parent is not None and "parse_args" in owner):
            return self._options.get(attr)
        if owner or thing.where is None:
            return None
        default = _defaults(thing.where.module).get((thing.where.line, thing.where.offset))
        if default is None:
            return None
        found = self.evaluate(Frame(thing.where.module, "<module>"), State(), default)
        return found if isinstance(found.core, Lit) and found.core.value is not None else None

    def _env_settings(self, state: State, env: Val | None) -> list[Setting]:
        entries = list(self._environment)
        if env is not None:
            for option in alternatives(env, state.path):
                if isinstance(option.core, Ref):
                    entries += self.heap.items(state, option.core.oid)
        found = []
        for name, val in entries:
            field = field_of_variable(name)
            setting = environment(field, val, self.value_of(val)) if field is not None else None
            if setting is not None and val.core != ABSENT.core:
                found.append(setting)
        return found

    # -- paths ---

    def _worlds(self, items: Sequence[Val], state: State) -> list[dict[object, bool]]:
        """The ways in which the tests that decide page size or role can come out."""
        keys: dict[object, None] = {}
        relevant = False
        for item in items:
            text = "".join(p.text for p in self.pieces(item))
            name = field_of_flag(text.partition("=")[0])
            if relevant or name in _RELEVANT or not isinstance(item.core, (Lit, Ref)):
                options = alternatives(item, state.path)
                for cond in (*item.conds, *(c for option in options for c in option.conds)):
                    if cond not in state.path:
                        keys[cond.key] = None
            relevant = name in _RELEVANT and "=" not in text
        chosen = list(keys)[:_MAX_TESTS]
        return [
            dict(zip(chosen, way, strict=True)) for way in itertools.product((True, False), repeat=len(chosen))
        ] or [{}]

    @staticmethod
    def _in_world(item: Val, world: dict[object, bool]) -> Iterator[Val]:
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

    @staticmethod
    def _settled(setting: Setting, val: Val | None, world: dict[object, bool]) -> Setting:
        """A role that the tests of its path settle."""
        if setting.name != "disaggregation_mode" or val is None or isinstance(val.core, Lit):
            return setting
        tested = {role: world.get(("is", key_of(val.core), role)) for role in _ROLES}
        for role, other in (_ROLES, _ROLES[::-1]):
            if tested[role] or (tested[other] is False and not tested[role]):
                return replace(setting, value=Const(role))
        return setting

    # -- places ---

    def _nowhere(self, frame: Frame, node: ast.expr | None, place: Span | None) -> Location:
        if place is not None:
            return place.location
        if node is not None:
            return self.span(frame, node).location
        return Location(frame.module.path, 1, 1, 1, 1)

    def _where(self, launch: Launch, start: Location) -> Location:
        """The call that tells the role, when a helper starts servers of both."""
        mode = launch.get("disaggregation_mode")
        for site in reversed(self._sites):
            where = site.where.location
            if mode is not None and _within(mode.where, where) and not _within(mode.where, start):
                return where
        return start


def _qualified(frame: Frame) -> str:
    return f"{frame.owner.node.name}.{frame.name}" if frame.owner is not None else frame.name


def _is_line(item: Val) -> bool:
    core = item.core
    return not isinstance(core, Ref) and is_text(item) and any(" " in piece.text for piece in item.pieces)


def _holds(conds: Iterable[Cond], world: dict[object, bool]) -> bool:
    return all(world.get(cond.key, cond.holds) == cond.holds for cond in conds)


def _origin(val: Val) -> Span | None:
    """Where a value came from before it was bound here."""
    if val.given:
        return None
    return val.choice or next((span for span, _ in reversed(val.hops)), None)


def _within(inner: Location, outer: Location) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    ends = (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    return outer.path == inner.path and starts and ends


_known_defaults: dict[int, tuple[Module, dict[tuple[int, int], ast.expr]]] = {}


def _defaults(module: Module) -> dict[tuple[int, int], ast.expr]:
    """The defaults of all parameters of a module, by the place of the parameter."""
    found = _known_defaults.get(id(module))
    if found is None or found[0] is not module:
        _known_defaults.clear()
        table: dict[tuple[int, int], ast.expr] = {}
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                spec = node.args
                positional = [*spec.posonlyargs, *spec.args]
                pairs = [*zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True)]
                pairs += [(a, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None]
                table |= {(a.lineno, a.col_offset): d for a, d in pairs}
        _known_defaults[id(module)] = found = (module, table)
    return found[1]
