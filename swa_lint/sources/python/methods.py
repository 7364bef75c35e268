"""What methods of objects, lists, mappings and strings do to values."""

from __future__ import annotations

import ast
import shlex

from swa_lint.sources.python.base import Frame
from swa_lint.sources.python.calls import Keywords
from swa_lint.sources.python.heap import ABSENT, item, path_of
from swa_lint.sources.python.statements import Statements
from swa_lint.sources.python.values import Core, Expr, Lit, Option, Phi, Ref, State, Text, Val, alternatives


class Methods(Statements):
    """Models the methods that set-up code calls."""

    def _copied(self, frame: Frame, state: State, value: Val, node: ast.expr) -> Val:
        if not isinstance(value.core, Ref):
            return value
        return Val(self.heap.copy(state, value.core.oid, self.span(frame, node)))

    def replaced(self, frame: Frame, state: State, value: Val, keywords: Keywords, node: ast.expr) -> Val:
        """A copy with some fields set: replace(), evolve(), model_copy(update=...)."""
        copied = self._copied(frame, state, value, node)
        if isinstance(copied.core, Ref):
            for key, inner in keywords:
                if not key.startswith("#"):
                    self.heap.put(state, copied.core.oid, key, inner)
        return copied

    def _setattr(self, frame: Frame, state: State, args: list[Val], node: ast.expr) -> None:
        place = self.span(frame, node)
        for name in alternatives(args[1], state.path):
            if isinstance(name.core, Lit) and isinstance(name.core.value, str):
                value = args[2]
                inner = value.where if value.given else None
                bound = value if inner is not None else value._replace(where=place)
                self.put_all(state, args[0], name.core.value, bound)

    def _kind(self, value: Val) -> str:
        return self.heap.things[value.core.oid].kind if isinstance(value.core, Ref) else ""

    def _method(
        self, frame: Frame, state: State, ref: Ref, name: str, args: list[Val], keywords: Keywords, node: ast.expr
    ) -> Val | None:
        kind = self.heap.things[ref.oid].kind
        if kind == "list":
            return self._list_method(frame, state, ref, name, args)
        if kind == "dict":
            found = self._dict_method(frame, state, ref, name, args, keywords, node)
            if found is not None:
                return found
        if name in ("model_copy", "copy", "clone", "__copy__", "_replace") and not args:
            given = dict(keywords)
            updates = (
                self.heap.items(state, given["update"].core.oid)
                if "update" in given and isinstance(given["update"].core, Ref)
                else []
            )
            extra = updates if name == "model_copy" else keywords if name == "_replace" else []
            entries = [(k, v if v.given else v._replace(given=-1)) for k, v in extra]
            return self.replaced(frame, state, Val(ref), entries, node)
        if name == "override" and (len(args) <= 2):
            for key, value in keywords:
                if not key.startswith("#"):
                    self.heap.put(state, ref.oid, key, value)
            return Val(ref)
        if name == "__setattr__" and len(args) == 2:
            self._setattr(frame, state, [Val(ref), *args], node)
            return Val(Lit.of(None))
        if name == "update" and kind in ("copy", "opaque", "built", "config"):
            # `vars(args).update(page_size=1)`, `args.__dict__.update({...})`, `args.update(...)`
            self._update_attributes(state, ref, args, keywords)
            return Val(ref) if keywords or args else None
        if name == "get" and args and isinstance(args[0].core, Lit) and kind == "opaque":
            default = args[1].core if len(args) > 1 else None
            return Val(Option(f"{self.heap.things[ref.oid].path}[{args[0].core.value!r}]", default))
        return None

    def _update_attributes(self, state: State, ref: Ref, args: list[Val], keywords: Keywords) -> None:
        entries = list(keywords)
        for arg in args:
            if isinstance(arg.core, Ref):
                entries += self.heap.items(state, arg.core.oid)
        for key, value in entries:
            if not key.startswith("#"):
                self.heap.put(state, ref.oid, key, value)

    def _list_method(self, frame: Frame, state: State, ref: Ref, name: str, args: list[Val]) -> Val | None:
        items = state.seqs.get(ref.oid, ())
        if name == "append" and args:
            state.seqs[ref.oid] = (*items, args[0])
        elif name == "extend" and args:
            self.extend(frame, state, ref, args[0])
        elif (
            name == "insert"
            and len(args) == 2
            and isinstance(args[0].core, Lit)
            and isinstance(args[0].core.value, int)
        ):
            index = args[0].core.value
            state.seqs[ref.oid] = (*items[:index], args[1], *items[index:])
        elif name == "copy":
            return self.make_list(state, list(items))
        else:
            return None
        return Val(Lit.of(None))

    def _dict_method(
        self, frame: Frame, state: State, ref: Ref, name: str, args: list[Val], keywords: Keywords, node: ast.expr
    ) -> Val | None:
        key = args[0].core.value if args and isinstance(args[0].core, Lit) else None
        if name == "update":
            for arg in args:
                self.update(state, ref, arg)
            for entry, value in keywords:
                self.heap.set_item(state, ref.oid, entry, value)
        elif name in ("items", "keys", "values"):
            return self._entries(state, ref, name)
        elif name == "copy":
            copied = self.heap.mapping(state, self.span(frame, node))
            self.update(state, copied, Val(ref))
            return Val(copied)
        elif name in ("get", "pop", "setdefault") and key is not None:
            found = self.heap.get(state, ref.oid, item(key))
            default = args[1] if len(args) > 1 else Val(Lit.of(None))
            if name == "setdefault" and found.core == ABSENT.core:
                self.heap.set_item(state, ref.oid, key, default)
            if name == "pop":
                self.heap.put(state, ref.oid, item(key), ABSENT)
                state.slots.pop((ref.oid, item(key)), None)
            return default if found.core == ABSENT.core else found
        else:
            return None
        return Val(Lit.of(None))

    def _entries(self, state: State, ref: Ref, name: str) -> Val:
        keys = state.seqs.get(ref.oid, ())
        if name == "keys":
            return self.make_list(state, list(keys))
        found = []
        for key in keys:
            value = self.heap.get(state, ref.oid, item(key.core.value if isinstance(key.core, Lit) else ""))
            if value.core == ABSENT.core:
                continue
            entry = (
                value
                if value.given
                else value._replace(given=-1 if isinstance(value.core, (Lit, Option, Ref, Expr)) else 0)
            )
            found.append(entry if name == "values" else self.make_list(state, [key, entry]))
        return self.make_list(state, found)

    # -- strings ---

    def _text_method(
        self, state: State, base: Val | None, last: str, args: list[Val], keywords: Keywords
    ) -> Val | None:
        if base is None or not isinstance(base.core, (Lit, Text)):
            return None
        if last == "split" and not args:
            return self._split(state, base)
        if last == "format":
            return self.format(base, args, keywords)
        if last == "join":
            return self._joined(state, base, args)
        if last in ("strip", "lower", "rstrip", "lstrip") and isinstance(base.core, Lit):
            return Val(Lit.of(getattr(str(base.core.value), last)()), base.where, base.expr)
        return None

    def format(self, base: Val, args: list[Val], keywords: Keywords) -> Val | None:
        """str.format with plain `{}`, `{0}` and `{name}` fields."""
        if not isinstance(base.core, Lit) or not isinstance(base.core.value, str):
            return None
        parts: list[Core | str] = []
        given, position = dict(keywords), 0
        rest = base.core.value
        while "{" in rest:
            head, _, tail = rest.partition("{")
            name, brace, rest = tail.partition("}")
            if not brace:
                return None
            name = name.partition(":")[0].partition("!")[0]
            if not name:
                name, position = str(position), position + 1
            value = args[int(name)] if name.isdigit() and int(name) < len(args) else given.get(name)
            if value is None:
                return None
            parts += [head, value.core]
        return self.text([*parts, rest])

    def _split(self, state: State, value: Val) -> Val:
        """The words of a command line; unknown parts stay within their words."""
        core = value.core
        if isinstance(core, Phi) or not isinstance(core, (Lit, Text)):
            return self.make_list(state, [value._replace(core=Expr(f"*{path_of(self.heap, core)}"))])
        parts = core.parts if isinstance(core, Text) else (str(core.value),)
        marked, held = "", []  # type: str, list[Core]
        for part in parts:
            if isinstance(part, str):
                marked += part
            else:
                marked += f"\x00{len(held)}\x00"
                held.append(part)
        try:
            words = shlex.split(marked)
        except ValueError:
            words = marked.split()
        items = []
        for word in words:
            pieces: list[Core | str] = [held[int(p)] if i % 2 else p for i, p in enumerate(word.split("\x00"))]
            full = [p for p in pieces if p != ""]
            whole = full[0] if len(full) == 1 and not isinstance(full[0], str) else self.text(list(full)).core
            items.append(Val(whole, value.where, value.expr, value.given, (), value.hops))
        return self.make_list(state, items)

    def _joined(self, state: State, base: Val, args: list[Val]) -> Val | None:
        items = self.sequence(state, args[0]) if args else None
        if items is None or not isinstance(base.core, Lit):
            return None
        parts: list[Core | str] = []
        for index, element in enumerate(items):
            parts += [str(base.core.value), element.core] if index else [element.core]
        return self.text(parts)
