"""Trees to launches: containers with `command` and `args`, per-role settings, wherever they stand in a document."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from swa_lint.geometry import Location, Role
from swa_lint.sglang.flags import field_of_flag, field_of_variable
from swa_lint.sources import settings
from swa_lint.sources.argv import Names, Removals, Variable, Word, insertion, words_of
from swa_lint.sources.engines import engine_of_mapping, engine_of_text
from swa_lint.sources.facts import FileFacts, Launch, Problem, Setting
from swa_lint.sources.launch import Arg, build_launch
from swa_lint.sources.roles import is_role_key, role_of_name, role_of_names
from swa_lint.sources.tree import Items, Mapping, Node, Scalar, Source
from swa_lint.sources.weave import Script

COMMAND_KEYS = ("entrypoint", "command", "cmd")
_ARGS_KEY = re.compile(r"(?:.*(?:[_-]|[a-z](?=A)))?(?:args|Args|arguments|flags)", re.IGNORECASE)
_SHARED_KEY = re.compile(r"(?:[Cc]ommon|[Ss]hared|[Bb]ase|[Dd]efaults?|[Gg]lobal|[Aa]ll)(?![a-z])")
# Plain words first: a search for them is many times faster than the expression.
_WORDS = ("sglang", "disaggregation", "speculative", "draft")
_SIGNS = re.compile(r"sglang|disaggregation[-_]mode|speculative[-_](?:algo|draft)|draft\w*page[-_]size")
_SHELL = re.compile(r"(?:.*/)?(?:ba|da|z|k|a)?sh")
_SHELL_OPTION = re.compile(r"-[a-z]*c[a-z]*")
# Flags on lines of their own without a backslash are words of one command, not commands.
_BARE_FLAG_LINE = re.compile(r"(?<!\\)\n\s*--?[a-z]")
_SCRIPT_KEY = re.compile(r"\.(?:sh|bash)$|^(?:run|source|.*script)$", re.IGNORECASE)
_MAX_NODES = 30_000
_PD = frozenset({Role.PREFILL, Role.DECODE})


def relevant(text: str) -> bool:
    """Whether a text names SGLang or flags of its own; nothing else is worth parsing."""
    lower = text.lower()
    return any(word in lower for word in _WORDS) and _SIGNS.search(lower) is not None


@dataclass(frozen=True)
class Context:
    """What is known on the way down: names of keys, documents and containers; the engine; what roles share.

    `deployment` is set where a part of the file runs on its own, `key` is the key of the mapping being read.
    """

    path: tuple[str, ...] = ()
    engine: str = ""
    variables: tuple[Variable, ...] = ()
    shared_words: tuple[Node, ...] = ()
    shared_settings: tuple[Setting, ...] = ()
    deployment: str = ""
    key: Scalar | None = None

    def inside(self, *names: str) -> Context:
        """The context of a node under `names`."""
        return dataclasses.replace(self, path=(*self.path, *(name for name in names if name)))

    @property
    def role(self) -> Role:
        return role_of_names(reversed(self.path))


@dataclass
class Program:
    """What one container or service runs: command and argument nodes in order, and where it stands."""

    parts: Sequence[Node]
    where: Location
    context: Context
    names: Names
    environment: tuple[Variable, ...] = ()
    compose: bool = False


@dataclass
class Manifest:
    """The launches of one file, gathered document by document."""

    source: Source
    language: str
    root: pathlib.Path | None = None
    names: Names = field(default_factory=Names)
    launches: list[Launch] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    depends: list[str] = field(default_factory=list)
    _hints: dict[int, Role] = field(default_factory=dict)
    _nodes: int = 0

    def facts(self) -> FileFacts:
        """All that was gathered, roles of names filled in where they count."""
        launches = tuple(dict.fromkeys(_with_roles(self.launches, self._hints)))
        return FileFacts(
            self.source.path,
            launches=launches,
            problems=tuple(self.problems),
            depends=tuple(dict.fromkeys(self.depends)),
        )

    def add(self, launch: Launch, context: Context) -> None:
        """Take a launch in under the names of its context; its role is a hint until all launches are known."""
        self._hints[len(self.launches)] = context.role
        deployment = f"{launch.deployment}#{context.deployment}" if context.deployment else launch.deployment
        name = "/".join(context.path)
        self.launches.append(dataclasses.replace(launch, name=name, language=self.language, deployment=deployment))

    def walk(self, node: Node, context: Context) -> None:
        """Find the launches in `node`; the number of nodes is bounded, since aliases can multiply them endlessly."""
        stack: list[tuple[Node, Context]] = [(node, context)]
        while stack:
            node, context = stack.pop()
            self._nodes += 1
            if self._nodes > _MAX_NODES or len(context.path) > 100:
                where = self.source.location(0, 0)
                self.problems.append(Problem(where, "skipped: too many nodes or aliases", skipped=True))
                return
            if isinstance(node, Items):
                stack += [
                    (item, dataclasses.replace(context.inside(_name_of(item, index)), key=None))
                    for index, item in reversed(list(enumerate(node.items)))
                    if not isinstance(item, Scalar)
                ]
            elif isinstance(node, Mapping):
                stack += reversed(self._mapping(node, context))

    def _mapping(self, node: Mapping, context: Context) -> list[tuple[Node, Context]]:
        """Read one mapping; the children that are still to be read."""
        context = dataclasses.replace(context, engine=engine_of_mapping(node) or context.engine)
        variables = (*context.variables, *variables_of(node.get("env", "environment")))
        context = dataclasses.replace(context, variables=variables)
        shared = _shared_keys(node)
        taken = self._program(node, context, shared)
        if not taken and not shared:
            launch = settings.launch_of_mapping(node, context.path, context.engine, self.names, context.shared_settings)
            if launch is not None:
                self.add(dataclasses.replace(launch, where=_with_key(node, context.key)), context)
        below = self._shared(node, context, shared)
        children: list[tuple[Node, Context]] = []
        for key, value in node.entries:
            if isinstance(value, Scalar) and key.value not in taken and _is_script(key.value, value):
                inner = context.inside(key.value)
                self.script([value], Program([value], value.where, inner, self.names, context.variables))
            if (
                isinstance(value, Scalar)
                or key.value in taken
                or key.value in shared
                or key.value in ("env", "environment")
            ):
                continue
            inner = below if role_of_name(key.value) is not Role.UNKNOWN else context
            engine = engine_of_text(key.value) or inner.engine
            children.append((value, dataclasses.replace(inner, engine=engine, key=key).inside(key.value)))
        return children

    def _shared(self, node: Mapping, context: Context, shared: frozenset[str]) -> Context:
        """The context of per-role children: what their siblings `common`, `shared`, ... give to all of them."""
        if not shared:
            return context
        found = [*context.shared_settings, *settings.direct_settings(node, self.names)]
        words = list(context.shared_words)
        for key, value in node.entries:
            if key.value not in shared:
                continue
            if isinstance(value, Mapping):
                found += settings.direct_settings(value, self.names)
                words += [inner for name, inner in value.entries if _ARGS_KEY.fullmatch(name.value)]
            elif _ARGS_KEY.fullmatch(key.value):
                words.append(value)
        return dataclasses.replace(context, shared_settings=tuple(found), shared_words=tuple(words))

    def _program(self, node: Mapping, context: Context, shared: frozenset[str]) -> frozenset[str]:
        """Read `node` as a container; the keys that were read, none when it is not one."""
        commands = [(key, node.get(key)) for key in COMMAND_KEYS]
        arguments = [(k.value, v) for k, v in node.entries if _ARGS_KEY.fullmatch(k.value) and k.value not in shared]
        found = [(key, value) for key, value in (*commands, *arguments) if isinstance(value, (Items, Scalar))]
        parts = [value for _, value in found if value is not None]
        if not parts or not any(isinstance(part, Items) or part.value.strip() for part in parts):
            return frozenset()
        names = Names({variable.name: variable for variable in context.variables}, self.names.template)
        own = [part for part in parts if node.start <= part.start <= part.end <= node.end] or parts
        where = _range(node, own)
        before = len(self.launches)
        self.program(Program([*context.shared_words, *parts], where, context, names, context.variables))
        return frozenset(key for key, _ in found) if len(self.launches) > before else frozenset()

    def program(self, program: Program) -> None:
        """Add the launches of one program: by the shell source where a shell runs it, else word by word."""
        script = _script_of(program)
        if script is not None:
            self.script(script, program)
            return
        words = [word for part in program.parts for word in words_of(part, program.names)]
        if shell := _shell_string(words):
            self.script([shell], program)
            return
        self._words(words, program)

    def _words(self, words: list[Word], program: Program) -> None:
        environment = engine_settings(program.environment)
        args = [word.arg for word in words]
        lead = _engine_words(args, program) if args else []
        launch = build_launch(
            [*lead, *args],
            where=program.where,
            deployment=self.source.path,
            language=self.language,
            insertion=insertion(words, program.parts[-1]),
            env=environment,
            removal=Removals(words),
        )
        foreign = program.context.engine == "other" and not any("sglang" in arg.text for arg in args)
        if launch is not None and not foreign:
            self.add(launch, program.context)

    def script(self, parts: Sequence[Scalar], program: Program) -> None:
        """Add the launches of shell code that stands in `parts`."""
        script = Script(self.source)
        variables = {variable.name: variable for variable in program.environment}
        text = " ".join(part.value for part in parts)
        script.assign(v for v in variables.values() if v.name in text and field_of_variable(v.name) is None)
        if not all(script.append(part, variables, compose=program.compose) for part in parts):
            return
        read = script.read(self.root)
        self.problems += [dataclasses.replace(problem, skipped=True) for problem in read.problems]
        self.depends += read.depends
        environment = tuple(engine_settings(program.environment))
        for launch in read.launches:
            self.add(dataclasses.replace(launch, settings=(*environment, *launch.settings)), program.context)


def _shared_keys(node: Mapping) -> frozenset[str]:
    """The keys of a mapping that hold for all of its per-role children; itself where it has such children only.

    A mapping with per-role children is no server of its own: its settings are theirs.
    """
    roles = [key.value for key, value in node.entries if is_role_key(key.value) and not isinstance(value, Scalar)]
    if not roles:
        return frozenset()
    return frozenset({key.value for key, _ in node.entries if _SHARED_KEY.match(key.value)} | {"<<"})


def _is_script(key: str, value: Scalar) -> bool:
    """Whether a string is shell code that may start a server: by its key or its first line."""
    return bool(_SCRIPT_KEY.search(key) or value.value.startswith("#!")) and "sglang" in value.value


def _range(node: Mapping, parts: Sequence[Node]) -> Location:
    """A container from its first line to the end of its arguments."""
    start = min([part.start for part in parts] + [node.start] * (parts[0].start >= node.start))
    return node.source.location(start, max(part.end for part in parts))


def _name_of(item: Node, index: int) -> str:
    """What to call an item of a list: by its name where it has one, else by its position."""
    return (item.text("name") if isinstance(item, Mapping) else "") or str(index)


def _script_of(program: Program) -> list[Scalar] | None:
    """The scalars that a shell reads, or None where the parts are plain words."""
    flat = [item for part in program.parts if isinstance(part, Items) for item in part.items]
    if flat and isinstance(program.parts[0], Items):
        values = [item.value if isinstance(item, Scalar) else "" for item in flat]
        for index in range(1, min(len(values), 6)):
            if _SHELL_OPTION.fullmatch(values[index]) and any(_SHELL.fullmatch(value) for value in values[:index]):
                after: Node = flat[index + 1] if index + 1 < len(flat) else program.parts[-1]
                return [after] if isinstance(after, Scalar) else []
        return None
    strings = [part for part in program.parts if isinstance(part, Scalar)]
    if len(strings) < len(program.parts) or strings[0].value.lstrip().startswith("-"):
        return None
    if program.compose or any(_BARE_FLAG_LINE.search("\n" + s.value if i else s.value) for i, s in enumerate(strings)):
        return None
    return strings


def _shell_string(words: Sequence[Word]) -> Scalar | None:
    """The command string that starts with ``bash -c``, whole, so that the shell source can read it."""
    texts = [word.arg.text for word in words[:6]]
    runs = any(_SHELL.fullmatch(text) for text in texts) and any(_SHELL_OPTION.fullmatch(text) for text in texts)
    whole = len({id(word.scalar) for word in words}) == 1 and words[0].part is not None
    return words[0].scalar if runs and whole else None


def _engine_words(args: Sequence[Arg], program: Program) -> list[Arg]:
    """The start of a server that bare flags stand behind, where the document says that the engine is SGLang."""
    known = any(field_of_flag(arg.text.partition("=")[0]) for arg in args)
    bare = args[0].text.startswith("--") and not any(not a.text.startswith("-") for a in args[:1])
    if program.context.engine != "sglang" or not known or not bare:
        return []
    return [dataclasses.replace(args[0], text=text) for text in ("sglang", "serve")]


def variables_of(node: Node | None) -> list[Variable]:
    """The variables of an `env:` list of names and values, a list of ``NAME=value``, or a mapping."""
    found: list[Variable] = []
    if isinstance(node, Mapping):
        for key, value in node.entries:
            if isinstance(value, Scalar):
                where = key.source.location(key.start, max(value.end, key.end))
                cut = settings.entry_removal(node, key, value)
                found.append(Variable(key.value, value.value, value, where, cut))
    elif isinstance(node, Items):
        for item in node.items:
            if isinstance(item, Mapping) and isinstance(given := item.get("value"), Scalar) and item.text("name"):
                where = item.source.location(item.start, max(item.end, given.end))
                found.append(Variable(item.text("name"), given.value, given, where, settings.item_cut(node, item)))
            elif isinstance(item, Scalar) and "=" in item.value:
                name, _, text = item.value.partition("=")
                found.append(_inline_variable(name, text, item, settings.item_cut(node, item)))
    return found


def _inline_variable(name: str, text: str, item: Scalar, removal: Location | None) -> Variable:
    start, end = item.range(len(name) + 1, len(item.value))
    value = Scalar(item.source, start, end, text)
    return Variable(name, text, value, item.where, removal)


def engine_settings(variables: Iterable[Variable]) -> list[Setting]:
    """The settings that a server reads from its environment."""
    found = []
    for variable in variables:
        name = field_of_variable(variable.name)
        if name is not None:
            value = Names().value(variable.value)[1]
            inner = variable.scalar.inner
            found.append(Setting(name, value, variable.where, variable.value, inner, variable.removal))
    return found


def _with_key(node: Mapping, key: Scalar | None) -> Location:
    """Where a mapping stands, its key included."""
    if key is None or key.source is not node.source or not key.end <= node.start:
        return node.where
    return node.source.location(key.start, node.end)


def _with_roles(launches: Sequence[Launch], hints: dict[int, Role]) -> list[Launch]:
    """Roles by name for launches without a mode, where no launch has that role by its mode and the other role is there.

    Where no launch of a deployment has a mode at all, names must be those of the roles and nothing else.
    """
    given: dict[str, set[Role]] = defaultdict(set)
    hinted: dict[str, set[Role]] = defaultdict(set)
    for index, launch in enumerate(launches):
        given[launch.deployment].add(launch.role)
        if _takes_hint(launch):
            hinted[launch.deployment].add(hints.get(index, Role.UNKNOWN))
    found = []
    for index, launch in enumerate(launches):
        modes, names = given[launch.deployment] & _PD, hinted[launch.deployment]
        hint = hints.get(index, Role.UNKNOWN)
        sure = bool(modes) or any(is_role_key(part) for part in launch.name.split("/"))
        if _takes_hint(launch) and hint in _PD - modes and modes | names >= _PD and sure:
            launch = dataclasses.replace(launch, role=hint)
        found.append(launch)
    return found


def _takes_hint(launch: Launch) -> bool:
    return launch.role is Role.UNKNOWN and launch.get("disaggregation_mode") is None
