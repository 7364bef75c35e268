"""Launches that Python code starts: argv lists, command lines, engines and server arguments."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from swa_lint.geometry import Location
from swa_lint.sglang.flags import FIELDS, field_of_key
from swa_lint.sources.facts import Launch, Setting
from swa_lint.sources.launch import build_launch, launch_role
from swa_lint.sources.python.base import Frame
from swa_lint.sources.python.calls import Keywords
from swa_lint.sources.python.commands import read_command
from swa_lint.sources.python.interest import Interest, interest_of
from swa_lint.sources.python.knobs import Knobs
from swa_lint.sources.python.modules import Library, Span
from swa_lint.sources.python.starts import Call, Start, by_role, within
from swa_lint.sources.python.strings import is_text
from swa_lint.sources.python.values import Ext, Func, Klass, Lit, Ref, State, Val, alternatives
from swa_lint.sources.python.words import Word, hops, insertions, refined, removal, text_at, word_of
from swa_lint.sources.python.worlds import in_world, settled, worlds

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
# A call with one of these words in its name runs the line that it is given, as one does that takes it under such a name.
_RUNS = frozenset(
    [
        *("run", "popen", "call", "output", "getoutput", "system", "exec", "execute", "launch", "start", "spawn"),
        *("submit", "remote", "ssh", "cmd", "command", "sh", "bash", "shell", "serve", "server", "deploy", "srun"),
        *("sbatch", "send", "sendline", "process", "job", "task", "script", "args", "argv", "entrypoint", "schedule"),
    ]
)
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*")
_WORDS_OF_PEOPLE = frozenset({"help", "description", "epilog", "usage", "doc", "message", "msg", "reason"})


@dataclass(frozen=True)
class _Site:
    """A call that is under way: where it stands, who calls, and the activation that it makes."""

    where: Span
    caller: Frame
    call: Call


class LaunchEngine(Knobs):
    """Adds what argv lists and engine calls say."""

    def __init__(self, library: Library, root: ast.AST) -> None:
        super().__init__(library)
        self.root = root
        self.starts: list[Start] = []
        self._sites: list[_Site] = []
        self._calls = itertools.count(1)
        self._seen: dict[tuple[int, int], tuple[Val, ...]] = {}

    def finished(self, end: State, returned: Sequence[Val]) -> list[Start]:
        """All server starts, those included whose commands are only returned, or kept in the module's tables."""
        module = isinstance(self.root, ast.Module)
        kept = [v for v in end.env.values() if not is_text(v)] if module else returned
        frame = self._frame
        if frame is not None:
            for val in kept:
                for option in alternatives(val):
                    self._capture(frame, end, option, None, [], place=option.where or option.expr, stored=True)
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
        if interest_of(func.node, func.module) is not Interest.GEOMETRY:
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
            self.set_environment(frame, state, last, args, keywords)
        elif last == "add_argument":
            self.add_option(args, keywords)
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
        elif frame.module.launches:  # a module that says nothing of launches makes none
            self._unknown_call(frame, state, last, args, keywords, node)

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

    def _unknown_call(
        self, frame: Frame, state: State, name: str, args: list[Val], keywords: Keywords, node: ast.expr
    ) -> None:
        """A call that may run what it is given: a list, a command line, or words one by one."""
        env = next((v for k, v in keywords if k in ("env", "environment", "envs")), None)
        first = next((i for i, a in enumerate(args) if isinstance(a.core, Lit) and a.core.value == "-m"), None)
        if first is not None or sum(str(getattr(a.core, "value", "")).startswith("--") for a in args) > 1:
            self._argv(frame, state, args, env, node, passed=True)
            return
        others = [(k, v) for k, v in keywords if k not in _WORDS_OF_PEOPLE and v is not env]
        for given, value in (*(("", a) for a in args), *others):
            if is_text(value) and not (_runs(name) or _runs(given)):
                continue
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
            key = (oid, id(items))
            if key in self._seen:
                return
            self._seen[key] = items  # kept, so that its identity stays its own
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
        commands = list(read_command(pieces, nowhere.path, self.value_of, nowhere))
        if stored and len(commands) > 1:
            return  # a script that is kept as text, for a test or a page: nothing says that it runs
        for launch, values in commands:
            settings = (*self.env_settings(state, env), *launch.settings)
            found = replace(launch, settings=settings, role=launch_role(settings), where=nowhere)
            points = (launch.insertion,) if launch.insertion is not None else ()
            origins = {name: _origins(val) for name, val in values.items()}
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
        found: list[tuple[Launch, list[Word], dict[str, tuple[Span, ...]]]] = []
        for world in worlds(self, items, state):
            words = [word_of(self, chosen, self.value_of, nowhere) for v in items for chosen in in_world(v, world)]
            launch = build_launch(
                [word.arg for word in words],
                where=nowhere,
                deployment=nowhere.path,
                language="python",
                env=self.env_settings(state, env),
                removal=functools.partial(removal, words),
            )
            if launch is None:
                return False
            settings: list[Setting] = []
            origins: dict[str, tuple[Span, ...]] = {}
            for setting in launch.settings:
                exact, val = refined(setting, words)
                settings.append(settled(exact, val, world))
                if val is not None:
                    origins[setting.name] = _origins(val)
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
        settings: list[Setting] = self.env_settings(state, env)
        origins: dict[str, tuple[Span, ...]] = {}
        for key, val in entries:
            name = field_of_key(key)
            if name is None or name not in FIELDS or val.where is None or val.core == Lit.of(None):
                continue
            where = val.where.location
            cut = where if val.given <= 0 else None
            expr = val.expr.location if val.expr is not None else None
            settings.append(Setting(name, self.value_of(val), where, text_at(val.expr), expr, cut, hops(val)))
            origins[name] = _origins(val)
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
            if mode is not None and within(mode.where, where) and not within(mode.where, start):
                return where
        return start


def _qualified(frame: Frame) -> str:
    return f"{frame.owner.node.name}.{frame.name}" if frame.owner is not None else frame.name


def _runs(name: str) -> bool:
    return any(word.lower() in _RUNS for word in _WORD.findall(name))


def _is_line(item: Val) -> bool:
    core = item.core
    return not isinstance(core, Ref) and is_text(item) and any(" " in piece.text for piece in item.pieces)


def _origins(val: Val) -> tuple[Span, ...]:
    """Where a value came from before it was bound here, the last place first."""
    if val.given:
        return ()
    return (*((val.choice,) if val.choice is not None else ()), *(span for span, _ in reversed(val.hops)))
