"""Strings put together from literals and values, each part with its place: what command lines are read from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from swa_lint.sources.python.base import Frame
from swa_lint.sources.python.calls import Keywords
from swa_lint.sources.python.engine import Engine
from swa_lint.sources.python.heap import path_of
from swa_lint.sources.python.literals import cut
from swa_lint.sources.python.modules import Span
from swa_lint.sources.python.values import Core, Expr, Lit, Phi, Piece, Ref, State, Text, Val, alternatives

_FIELD = re.compile(r"\{\{|\}\}|\{(?P<name>\w*)(?:![rsa])?(?::[^{}]*)?\}")
_PERCENT = re.compile(r"%(?:%|(?:\((?P<name>\w+)\))?[-#0 +]*\d*(?:\.\d+)?[sdir])")
_WORD = re.compile(r"(?:[^\s\"'\\]|\\.|\"(?:[^\"\\]|\\.)*\"|'[^']*')+", re.DOTALL)
_QUOTES = re.compile(r"\\(?P<escaped>.)|\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>[^']*)'", re.DOTALL)
_JSON_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null')
_MAX_TEXT = 20_000


def is_text(value: Val) -> bool:
    """Whether a value is a string, known or in parts."""
    return isinstance(value.core, Text) or (isinstance(value.core, Lit) and isinstance(value.core.value, str))


def _unshared(item: Val, shared: Span) -> Val:
    """An item of a comprehension at its own place, not at the expression that all items share."""
    if item.given or item.where is None or not (shared.line, shared.offset) <= (item.where.line, item.where.offset):
        return item
    if (item.where.end_line, item.where.end_offset) > (shared.end_line, shared.end_offset):
        return item
    if item.pieces and item.pieces[0].where is not None:
        return item._replace(where=None)
    return item._replace(where=item.hops[-1][0], expr=item.hops[-1][0]) if item.hops else item


class Strings(Engine):
    """Keeps the pieces of every string that is put together."""

    def pieces(self, value: Val) -> tuple[Piece, ...]:
        """The pieces of a string; a value that is no string is one piece."""
        if value.pieces and is_text(value):
            known = value.core.value if isinstance(value.core, Lit) else None
            if known is None or "".join(p.text for p in value.pieces) == known:
                return value.pieces
        core = value.core
        text = str(core.value) if isinstance(core, Lit) else "{" + re.sub(r"\s+", "", path_of(self.heap, core)) + "}"
        return (Piece(text, value=value),)

    def _parts(self, values: Iterable[Val | Piece]) -> tuple[Piece, ...]:
        """The pieces of strings and values in a row; a single word that a name holds stays a value."""
        found: list[Piece] = []
        for value in values:
            inner = (value,) if isinstance(value, Piece) else self.pieces(value)
            text = "".join(p.text for p in inner)
            if not isinstance(value, Piece) and value.where is not None and not re.search(r"\s|^-", text):
                found.append(Piece(text, value=value))
            else:
                found.extend(inner)
        return tuple(found)

    def _eval_Constant(self, frame: Frame, state: State, node: ast.Constant) -> Val:
        value = super()._eval_Constant(frame, state, node)
        if not isinstance(node.value, str) or len(node.value) > _MAX_TEXT:
            return value
        return value._replace(pieces=(Piece(node.value, self.span(frame, node)),))

    def _eval_JoinedStr(self, frame: Frame, state: State, node: ast.JoinedStr) -> Val:
        whole = self.span(frame, node)
        cores: list[Core | str] = []
        pieces: list[Piece] = []
        characters = fields = 0
        for part in node.values:
            if isinstance(part, ast.Constant):
                text = str(part.value)
                cores.append(text)
                pieces.append(Piece(text, whole, characters))
                characters += len(text)
            elif isinstance(part, ast.FormattedValue):
                value = self.evaluate(frame, state, part.value)
                cores.append(value.core)
                for piece in self._parts([value]):
                    own = piece.where is None and piece.value is not None and not piece.value.given
                    pieces.append(Piece(piece.text, whole, fields, piece.value) if own else piece)
                fields += 1
        return self.text(cores)._replace(pieces=tuple(pieces))

    def _eval_ListComp(self, frame: Frame, state: State, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Val:
        result = super()._eval_ListComp(frame, state, node)
        items = self._words_of(state, result)
        if items is not None and isinstance(result.core, Ref):
            shared = self.span(frame, node.elt)
            state.seqs[result.core.oid] = tuple(_unshared(item, shared) for item in items)
        return result

    _eval_GeneratorExp = _eval_ListComp
    _eval_SetComp = _eval_ListComp

    def _binary(self, frame: Frame, state: State, node: ast.AST, op: ast.operator, left: Val, right: Val) -> Val:
        if isinstance(op, ast.Add):
            known = self._argv_sum(state, left, right)
            if known is not None:
                return known
        result = super()._binary(frame, state, node, op, left, right)
        if not is_text(result):
            return result
        if isinstance(op, ast.Add):
            return result._replace(pieces=self._parts([left, right]))
        if isinstance(op, ast.Mod):
            items = self.sequence(state, right)
            pieces = self._filled(left, _PERCENT, items if items is not None else [right], {})
            return result._replace(pieces=pieces or ())
        return result

    def _argv_sum(self, state: State, left: Val, right: Val) -> Val | None:
        """A list plus something that is not known: the words that are known, and a mark for the rest."""
        mine, theirs = self._words_of(state, left), self._words_of(state, right)
        if (mine is None) == (theirs is None):
            return None
        if any(isinstance(v.core, (Lit, Text)) for v in (left, right)):
            return None
        return self.make_list(state, [*(mine or [self._rest(left)]), *(theirs or [self._rest(right)])])

    def _words_of(self, state: State, value: Val) -> list[Val] | None:
        is_list = isinstance(value.core, Ref) and self.heap.things[value.core.oid].kind == "list"
        return self.sequence(state, value) if is_list else None

    def _rest(self, value: Val) -> Val:
        return value._replace(core=Expr(f"*{path_of(self.heap, value.core)}"))

    def _filled(
        self, template: Val, pattern: re.Pattern[str], args: list[Val], named: dict[str, Val]
    ) -> tuple[Piece, ...] | None:
        """The pieces of `template` with values in the places that `pattern` finds; None where one is missing."""
        pieces = self.pieces(template)
        text = "".join(p.text for p in pieces)
        found: list[Piece | Val] = []
        end = position = 0
        for match in pattern.finditer(text):
            found += cut(pieces, end, match.start())
            end = match.end()
            if match.group() in ("{{", "}}", "%%"):
                found += cut(pieces, match.start(), match.start() + 1)
                continue
            name = match["name"] or str(position)
            position += not match["name"]
            value = args[int(name)] if name.isdigit() and int(name) < len(args) else named.get(name)
            if value is None:
                return None
            # An argument that fills a field is where the value leaves its maker.
            found.append(value._replace(given=value.given or 1) if named and value.where is not None else value)
        return self._parts([*found, *cut(pieces, end, len(text))])

    def format(self, base: Val, args: list[Val], keywords: Keywords) -> Val | None:
        pieces = self._filled(base, _FIELD, args, dict(keywords)) if is_text(base) else None
        if pieces is None:
            return None
        return self.text([p.text if p.value is None else p.value.core for p in pieces])._replace(pieces=pieces)

    def _joined(self, state: State, base: Val, args: list[Val]) -> Val | None:
        result = super()._joined(state, base, args)
        items = self.sequence(state, args[0]) if args else None
        if result is None or items is None:
            return result
        between: list[Val | Piece] = []
        for index, item in enumerate(items):
            between += [*(self.pieces(base) if index else ()), item]
        return result._replace(pieces=self._parts(between))

    def from_python(self, state: State, data: object, source: Val) -> Val:
        """A JSON value; the items of its lists know their places in the text."""
        if self._scalars is None and is_text(source):
            pieces = self.pieces(source)
            self._scalars = _JSON_SCALAR.finditer("".join(piece.text for piece in pieces))
            try:
                return self.from_python(state, data, source._replace(pieces=pieces))
            finally:
                self._scalars = None
        if isinstance(data, dict):
            ref = self.heap.mapping(state, source.where)
            for key, inner in data.items():
                self._scalar(key, source)
                self.heap.set_item(state, ref.oid, key, self.from_python(state, inner, source))
            return Val(ref)
        if isinstance(data, list):
            items = [self.from_python(state, inner, source) for inner in data]
            return self.make_list(state, [v._replace(where=None) if v.pieces else v for v in items])
        return super().from_python(state, data, source)._replace(pieces=self._scalar(data, source))

    _scalars: Iterator[re.Match[str]] | None = None

    def _scalar(self, data: object, source: Val) -> tuple[Piece, ...]:
        """The piece of the JSON text that the next scalar is; none where the text is written otherwise."""
        match = next(self._scalars, None) if self._scalars is not None else None
        if match is None or match.group().strip('"') != str(data):
            return ()
        quote = match.group().startswith('"')
        return cut(source.pieces, match.start() + quote, match.end() - quote)

    def _text_method(
        self, state: State, base: Val | None, last: str, args: list[Val], keywords: Keywords
    ) -> Val | None:
        known = base.core.value if base is not None and isinstance(base.core, Lit) else None
        given = [a.core.value for a in args if isinstance(a.core, Lit)]
        if last == "replace" and isinstance(known, str) and base is not None and len(given) == len(args) == 2:
            return Val(Lit.of(known.replace(str(given[0]), str(given[1]))), base.where, base.expr)
        return super()._text_method(state, base, last, args, keywords)

    def _split(self, state: State, value: Val) -> Val:
        """The words of a command line, each with its pieces; unknown parts stay within their words."""
        pieces = self.pieces(value) if is_text(value) else ()
        text = "".join(
            p.text if p.value is None or isinstance(p.value.core, Lit) else "\0" * len(p.text) for p in pieces
        )
        if not pieces or len(text) > _MAX_TEXT:
            return super()._split(state, value)
        return self.make_list(state, [self._word(pieces, text, word) for word in _WORD.finditer(text)])

    def _word(self, pieces: tuple[Piece, ...], text: str, word: re.Match[str]) -> Val:
        kept: list[Piece] = []
        at = word.start()
        for quoted in _QUOTES.finditer(text, word.start(), word.end()):
            kept += cut(pieces, at, quoted.start())
            group = quoted.lastgroup or "escaped"
            kept += cut(pieces, *quoted.span(group))
            at = quoted.end()
        kept += cut(pieces, at, word.end())
        only = kept[0].value if len(kept) == 1 else None
        if only is not None:
            return only if only.given else only._replace(where=None, pieces=tuple(kept))
        whole = self.text([p.text if p.value is None else p.value.core for p in kept])
        return whole._replace(pieces=tuple(kept))

    # -- lists of words ---

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
            items = self._words_of(state, option)
            if items is None and isinstance(option.core, Lit) and option.core.value is None:
                continue
            for item in items if items is not None else [self._rest(option)]:
                found.append(item._replace(conds=item.conds + option.conds))
        return found
