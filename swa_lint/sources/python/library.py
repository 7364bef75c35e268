"""What calls outside the project do to values: copies, builtins, mappings, lists, strings, the environment."""

from __future__ import annotations

import ast
import json

from swa_lint.sources.python.base import Frame
from swa_lint.sources.python.calls import Keywords
from swa_lint.sources.python.heap import ABSENT, path_of
from swa_lint.sources.python.methods import Methods
from swa_lint.sources.python.values import (
    Core,
    Expr,
    Ext,
    Lit,
    Option,
    Partial,
    Ref,
    State,
    Val,
)

_COPY = frozenset({"copy.copy", "copy.deepcopy", "pickle.loads"})
_REPLACE = frozenset({"dataclasses.replace", "copy.replace", "msgspec.structs.replace", "attr.evolve", "attrs.evolve"})
_SAME = frozenset({"int", "str", "float", "cast", "Path", "abs", "shlex.quote"})
_ENV_READ = frozenset({"os.environ.get", "os.getenv", "environ.get", "getenv"})
_AS_MAPPING = frozenset({"builtins.vars", "dataclasses.asdict", "msgspec.structs.asdict", "msgspec.to_builtins"})
_PURE = frozenset({"max", "min", "len", "sum", "bool", "round", "ceil", "floor", "next_power_of_2"})


class LibraryCalls(Methods):
    """Models external calls by their effect on values; calls nobody knows give one symbol per text."""

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
        """What the call means to SGLang, if anything; the layer above knows."""
        raise NotImplementedError

    def external(
        self,
        frame: Frame,
        state: State,
        name: str,
        base: Val | None,
        args: list[Val],
        keywords: Keywords,
        node: ast.expr,
    ) -> Val:
        last = name.rpartition(".")[2]
        if base is not None and isinstance(base.core, Ref):
            found = self._method(frame, state, base.core, last, args, keywords, node)
            if found is not None:
                return found
        elif base is not None or "." in name:
            found = self._text_method(state, base, last, args, keywords)
            if found is not None:
                return found
        known = self._function(frame, state, name, last, args, keywords, node)
        if known is not None:
            return known
        noted = self.note_call(frame, state, name, base, args, keywords, node)
        if noted is not None:
            return noted
        texts = [path_of(self.heap, a.core) for a in args] + [f"{k}={path_of(self.heap, v.core)}" for k, v in keywords]
        path = f"{name.removeprefix('builtins.')}({', '.join(texts)})"[:200]
        found = self.heap.symbol(path, self.span(frame, node))
        if isinstance(found.core, Ref):
            self.heap.things[found.core.oid].result = True
        return found

    # -- functions ---

    def _function(
        self, frame: Frame, state: State, name: str, last: str, args: list[Val], keywords: Keywords, node: ast.expr
    ) -> Val | None:
        given = dict(keywords)
        if name in _COPY and args:
            return self.spread(state, args[0], lambda v: self._copied(frame, state, v, node))
        if (name in _REPLACE or last == "__replace__") and args:
            return self.spread(state, args[0], lambda v: self.replaced(frame, state, v, keywords, node))
        if (name == "builtins.setattr" or last == "__setattr__") and len(args) == 3:
            self._setattr(frame, state, args, node)
            return Val(Lit.of(None))
        if name == "builtins.getattr" and len(args) >= 2 and isinstance(args[1].core, Lit):
            attr = str(args[1].core.value)
            return self.spread(state, args[0], lambda v: self.attribute(frame, state, v, attr))
        if name in _AS_MAPPING and args:
            return args[0]
        if name in _ENV_READ and args:
            return self._option(
                args[0].core, args[1].core if len(args) > 1 else given["default"].core if "default" in given else None
            )
        if name == "functools.partial" and args:
            return Val(Partial(args[0], tuple(args[1:]), tuple(keywords)))
        if name == "builtins.dict":
            return self._dict(frame, state, args, keywords, node)
        if (last == "namedtuple" and len(args) >= 2) or last == "make_dataclass":
            fields = self.sequence(state, args[1]) or [Val(Lit.of(w)) for w in self._words(args[1].core)]
            return Val(Partial(Val(Ext("<record>")), tuple(fields), ()))
        if name == "<record>":
            return self._record(frame, state, args, keywords, node)
        if name in ("builtins.list", "builtins.tuple", "builtins.sorted") and args:
            items = self.sequence(state, args[0])
            return self.make_list(state, items) if items is not None else args[0]
        if name == "builtins.zip" and len(args) == 2:
            both = [self.sequence(state, a) for a in args]
            if both[0] is not None and both[1] is not None:
                return self.make_list(
                    state, [self.make_list(state, [x, y]) for x, y in zip(both[0], both[1], strict=False)]
                )
        if name == "builtins.enumerate" and args:
            items = self.sequence(state, args[0])
            if items is not None:
                return self.make_list(state, [self.make_list(state, [Val(Lit.of(i)), v]) for i, v in enumerate(items)])
        return self._text_function(state, name, last, args)

    def _text_function(self, state: State, name: str, last: str, args: list[Val]) -> Val | None:
        if last in _SAME and len(args) >= 1:
            return self.spread(state, args[-1] if last == "cast" else args[0], lambda v: self._converted(last, v))
        if name == "shlex.split" and args:
            return self._split(state, args[0])
        if name == "shlex.join" and args:
            return self._joined(state, Val(Lit.of(" ")), args)
        if name == "json.loads" and args:
            core = args[0].core
            if isinstance(core, Lit) and isinstance(core.value, str):
                try:
                    return self.from_python(state, json.loads(core.value), args[0])
                except ValueError:
                    return None
        if name == "json.dumps" and args and isinstance(args[0].core, Ref) and self._kind(args[0]) == "dict":
            return self._dumped(state, args[0].core)
        if last in _PURE and args:
            return self._pure(last, args)
        return None

    def _dumped(self, state: State, ref: Ref) -> Val:
        """JSON text of a mapping: exact where all is known, else with the unknown parts by name."""
        base = state.slots.get((ref.oid, "#base"))
        entries = self.heap.items(state, ref.oid)
        cores = [v.core for _, v in entries] + ([base.value.core] if base else [])
        if base is None and not any("json_model_override_args" in path_of(self.heap, c) for c in cores):
            known = {k: v.core.value if isinstance(v.core, Lit) else path_of(self.heap, v.core) for k, v in entries}
            return Val(Lit.of(json.dumps(known)))
        return Val(Expr(f"json.dumps({', '.join(path_of(self.heap, c) for c in cores)})", None, False, tuple(cores)))

    def _pure(self, last: str, args: list[Val]) -> Val:
        cores = [a.core for a in args]
        numbers = [c.value for c in cores if isinstance(c, Lit) and isinstance(c.value, (int, float))]
        if len(numbers) == len(cores) and last in ("max", "min") and len(cores) > 1:
            return Val(Lit.of(max(numbers) if last == "max" else min(numbers)))
        base = next((c for c in cores if isinstance(c, (Ref, Option))), None)
        if last == "max" and numbers == [1] and base is not None and len(cores) == 2:
            return Val(base)  # a page or window is at least one token anyway
        return Val(Expr(f"{last}({', '.join(path_of(self.heap, c) for c in cores)})", base, False, tuple(cores)))

    def _converted(self, last: str, value: Val) -> Val:
        core = value.core
        if isinstance(core, Lit) and core.value is not None:
            try:
                if last == "int":
                    return value._replace(core=Lit.of(int(core.value)))
                if last == "str":
                    return value._replace(core=Lit.of(str(core.value)))
            except ValueError:
                return value
        return value

    def _option(self, key: Core, default: Core | None) -> Val:
        name = str(key.value) if isinstance(key, Lit) else path_of(self.heap, key)
        return Val(Option(name, default))

    def _dict(self, frame: Frame, state: State, args: list[Val], keywords: Keywords, node: ast.expr) -> Val:
        ref = self.heap.mapping(state, self.span(frame, node))
        for arg in args:
            pairs = self.sequence(state, arg) if self._kind(arg) == "list" else None
            for pair in pairs or []:
                key, value = (self.sequence(state, pair) or [ABSENT, ABSENT])[:2]
                if isinstance(key.core, Lit):
                    self.heap.set_item(state, ref.oid, key.core.value, value)
            if pairs is None:
                self.update(state, ref, arg)
        for name, value in keywords:
            if not name.startswith("#"):
                self.heap.set_item(state, ref.oid, name, value)
        return Val(ref)

    @staticmethod
    def _words(core: Core) -> list[str]:
        return str(core.value).replace(",", " ").split() if isinstance(core, Lit) else []

    def _record(self, frame: Frame, state: State, args: list[Val], keywords: Keywords, node: ast.expr) -> Val:
        """An instance of a named tuple: the field names come first among `args`, by namedtuple()."""
        names = [str(a.core.value) for a in args if isinstance(a.core, Lit) and a.where is None]
        values = args[len(names) :]
        ref = self.heap.new("<record>", "instance", where=self.span(frame, node))
        for name, value in [*zip(names, values, strict=False), *keywords]:
            self.heap.put(state, ref.oid, name, value)
        return Val(ref)

    def from_python(self, state: State, data: object, source: Val) -> Val:
        """A JSON value as an abstract one; its parts keep the place of the text."""
        if isinstance(data, dict):
            ref = self.heap.mapping(state, source.where)
            for key, inner in data.items():
                self.heap.set_item(state, ref.oid, key, self.from_python(state, inner, source))
            return Val(ref)
        if isinstance(data, list):
            return self.make_list(state, [self.from_python(state, inner, source) for inner in data])
        lit = Lit.of(data) if isinstance(data, (int, float, str, bool, type(None))) else Lit.of(None)
        return Val(lit, source.where or source.expr, source.expr)
