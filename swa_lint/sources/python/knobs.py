"""Values that somebody else sets, with their defaults: parameters, command-line options, environment variables."""

from __future__ import annotations

import ast

from swa_lint.geometry import Knob, Value
from swa_lint.sglang.flags import field_of_variable
from swa_lint.sources.facts import Setting
from swa_lint.sources.python.base import Frame
from swa_lint.sources.python.calls import Keywords
from swa_lint.sources.python.heap import ABSENT, path_of
from swa_lint.sources.python.judging import as_value
from swa_lint.sources.python.modules import Library, Module
from swa_lint.sources.python.strings import Strings
from swa_lint.sources.python.values import Lit, Ref, State, Val, alternatives
from swa_lint.sources.python.words import environment


class Knobs(Strings):
    """Remembers options and variables, and turns abstract values into the domain's."""

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._environment: list[tuple[str, Val]] = []
        self._options: dict[str, Val] = {}

    def note_environment(self, frame: Frame, state: State, owner: str, name: str, value: Val) -> None:
        if owner.endswith("environ") and field_of_variable(name):
            self._environment.append((name, value))

    def set_environment(self, frame: Frame, state: State, last: str, args: list[Val], keywords: Keywords) -> None:
        entries = list(keywords)
        if last == "update" and args and isinstance(args[0].core, Ref):
            entries += self.heap.items(state, args[0].core.oid)
        elif last in ("setdefault", "__setitem__") and len(args) == 2 and isinstance(args[0].core, Lit):
            entries.append((str(args[0].core.value), args[1]))
        for name, value in entries:
            self.note_environment(frame, state, "os.environ", name, value)

    def add_option(self, args: list[Val], keywords: Keywords) -> None:
        """`parser.add_argument("--page-size", default=64)`."""
        given = dict(keywords)
        flags = [str(a.core.value) for a in args if isinstance(a.core, Lit)]
        name = next((f for f in flags if f.startswith("--")), "")
        dest = given["dest"].core if "dest" in given else Lit.of(name.lstrip("-").replace("-", "_"))
        if isinstance(dest, Lit) and "default" in given and isinstance(given["default"].core, Lit):
            self._options[str(dest.value)] = given["default"]

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

    def env_settings(self, state: State, env: Val | None) -> list[Setting]:
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
