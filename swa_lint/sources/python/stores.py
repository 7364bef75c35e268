"""Stores: what binding a name, an attribute, an item or a tuple of them changes."""

from __future__ import annotations

import ast

from swa_lint.sources.python.base import Frame
from swa_lint.sources.python.calls import Calls
from swa_lint.sources.python.heap import path_of
from swa_lint.sources.python.values import Core, Expr, Ext, Lit, Phi, Ref, State, Val, alternatives


class Stores(Calls):
    """Binds targets."""

    def annotate(self, frame: Frame, value: Val, annotation: ast.expr | None) -> None:
        """Give an opaque object the class its annotation names."""
        if annotation is None or not isinstance(value.core, Ref):
            return
        text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
        thing = self.heap.things[value.core.oid]
        if thing.cls is None and isinstance(text, str):
            thing.cls = text.removeprefix("Optional[").removesuffix("]").removesuffix(" | None").rpartition(".")[2]

    def store(self, frame: Frame, state: State, target: ast.expr, value: Val, node: ast.AST, source: ast.expr) -> None:
        """Bind a target of an assignment; the whole statement is where the value is bound."""
        if isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(frame, state, target, value, node, source)
            return
        place = self.span(frame, node)
        bound = value.bound(place, self.span(frame, source))
        if isinstance(target, ast.Name):
            self.name(bound, target.id)
            state.env[target.id] = bound
        elif isinstance(target, ast.Attribute):
            base = self.evaluate(frame, state, target.value)
            self.name(bound, target.attr)
            self.put_all(state, base, target.attr, bound)
        elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            self._store_item(frame, state, target, bound)

    def _unpack(
        self, frame: Frame, state: State, target: ast.Tuple | ast.List, value: Val, node: ast.AST, source: ast.expr
    ) -> None:
        options = alternatives(value, state.path)
        if len(options) > 1 and all(self.sequence(state, o) is not None for o in options):
            # A tuple returned on several paths: unpack each path's items.
            columns = [[] for _ in target.elts]  # type: list[list[Val]]
            for option in options:
                for column, item in zip(columns, self.sequence(state, option) or [], strict=False):
                    column.append(item._replace(conds=item.conds + option.conds))
            for element_target, column in zip(target.elts, columns, strict=True):
                if column:
                    same = all(v.core == column[0].core for v in column)
                    self.assign(frame, state, element_target, column[0] if same else Val(Phi(tuple(column))))
            return
        items = self.sequence(state, value)
        sources = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
        for index, element in enumerate(target.elts):
            known = items is not None and index < len(items) and not isinstance(element, ast.Starred)
            if items is not None and known and index < len(sources) and not isinstance(element, ast.Name):
                self.store(frame, state, element, items[index], node, sources[index])
            elif items is not None and known:
                self.assign(frame, state, element, items[index])
            else:
                part = self.heap.symbol(f"{path_of(self.heap, value.core)}[{index}]")
                if isinstance(element, ast.Name):
                    self.assign(frame, state, element, part)

    def put_all(self, state: State, base: Val, attr: str, value: Val) -> None:
        """Set an attribute of whatever `base` may be; of several objects each only may have changed."""
        options = alternatives(base, state.path)
        for option in options:
            if not isinstance(option.core, Ref):
                continue
            if len(options) == 1:
                self.heap.put(state, option.core.oid, attr, value)
                continue
            before = self.heap.get(state, option.core.oid, attr)
            maybe = Val(Phi((value._replace(conds=value.conds + option.conds), before)))
            self.heap.put(state, option.core.oid, attr, maybe)

    def _store_item(self, frame: Frame, state: State, target: ast.Subscript, value: Val) -> None:
        base = self.evaluate(frame, state, target.value)
        key = self.evaluate(frame, state, target.slice).core
        if isinstance(base.core, Phi):
            for option in alternatives(base, state.path):
                self._set_key(frame, state, option, key, value._replace(conds=value.conds + option.conds))
            return
        self._set_key(frame, state, base, key, value)

    def _set_key(self, frame: Frame, state: State, base: Val, key: Core, value: Val) -> None:
        if not isinstance(base.core, Ref) or not isinstance(key, Lit):
            if isinstance(base.core, Ext) and isinstance(key, Lit):
                self.note_environment(frame, state, base.core.name, str(key.value), value)
            return
        thing = self.heap.things[base.core.oid]
        if isinstance(key.value, str) and thing.kind in ("copy", "built", "opaque") and not thing.path.endswith("]"):
            self.heap.put(state, base.core.oid, key.value, value)
        if thing.kind == "list" and isinstance(key.value, int):
            items = list(state.seqs.get(base.core.oid, ()))
            if -len(items) <= key.value < len(items):
                items[key.value] = value
                state.seqs[base.core.oid] = tuple(items)
            return
        self.name(value, str(key.value))
        self.heap.set_item(state, base.core.oid, key.value, value)

    def note_environment(self, frame: Frame, state: State, owner: str, name: str, value: Val) -> None:
        """`os.environ[name] = value`; the layer above may care."""

    def extend(self, frame: Frame, state: State, ref: Ref, value: Val) -> None:
        """Append all items of another sequence to a list; one that is not known leaves a mark."""
        items = self.sequence(state, value)
        if items is None:
            items = [value._replace(core=value.core)] if isinstance(value.core, Lit) else [_splice(self, value)]
        state.seqs[ref.oid] = (*state.seqs.get(ref.oid, ()), *items)


def _splice(run: Stores, value: Val) -> Val:
    return value._replace(core=Expr(f"*{path_of(run.heap, value.core)}"))
