"""Words of the parse tree to fields: quotes, variables, defaults, arrays, arithmetic."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import tree_sitter

from swa_lint.geometry import Const, Derived, Knob, Unknown, Value, as_tokens
from swa_lint.sources.facts import Hop
from swa_lint.sources.shell.source import Source
from swa_lint.sources.shell.state import State
from swa_lint.sources.shell.words import Field, Origin, Piece, Scalar, literal_of, split_fields, value_of

_ESCAPE = re.compile(r"\\(.|\n)", re.DOTALL)
_ALL = ("@", "*")
# Command substitutions that name the script's own folder.
_HERE = re.compile(r"""dirname\s+(--\s+)?"?\$(\{?(BASH_SOURCE|0)|\{BASH_SOURCE)|^[$(`\s]+pwd[)`\s]+$""")


def fields_of(node: tree_sitter.Node, source: Source, state: State) -> list[Field]:
    """The words that one word of the source becomes: none, one or several."""
    whole = (source, source.start(node), source.end(node))
    spliced = _array_fields(node, source, state)
    if spliced is not None:
        return spliced
    pieces = tuple(_pieces(node, source, state, quoted=False))
    quoted = node.type in ("string", "raw_string", "ansi_c_string", "translated_string")
    return list(split_fields(pieces, whole, keep_empty=quoted))


def scalar_of(node: tree_sitter.Node, source: Source, state: State) -> Scalar:
    """The value that a word has on the right side of an assignment (no splitting)."""
    return tuple(replace(piece, split=False) for piece in _pieces(node, source, state, quoted=True))


def _array_fields(node: tree_sitter.Node, source: Source, state: State) -> list[Field] | None:
    """Fields of ``"${A[@]}"``, ``${A[*]}``, ``"$@"``, ``"${@:2}"`` standing alone in a word; else None."""
    inner = node
    if node.type == "string":
        named = [child for child in node.named_children if child.type != "string_content" or source.written(child)]
        if len(named) != 1 or source.end(node) - source.start(node) != len(source.written(named[0])) + 2:
            return None
        inner = named[0]
    if inner.type == "simple_expansion":
        name = source.written(inner)[1:]
        return _arguments(state, 0) if name in _ALL else _whole_array(name, state)
    if inner.type != "expansion":
        return None
    text = source.written(inner)
    match = re.match(r"\$\{[@*](?::(\d+))?\}$", text)
    if match:
        return _arguments(state, int(match[1] or 1) - 1)
    match = re.match(r"\$\{(\w+)\[[@*]\](?:([:+-]).*)?\}$", text, re.DOTALL)
    if match is None or match[2] == ":":
        return None
    if match[1] in state.arrays:
        return list(state.arrays[match[1]])
    if match[1] in state.scalars:
        return list(
            split_fields(state.scalars[match[1]], (source, source.start(node), source.end(node)), keep_empty=False)
        )
    return []


def _whole_array(name: str, state: State) -> list[Field] | None:
    return list(state.arrays[name][:1]) if name in state.arrays else None


def _arguments(state: State, start: int) -> list[Field]:
    # Arguments of the script itself are empty unless someone gives them.
    return [] if state.arguments is None else list(state.arguments[start:])


def _pieces(node: tree_sitter.Node, source: Source, state: State, *, quoted: bool) -> Iterator[Piece]:
    kind = node.type
    start, end = source.start(node), source.end(node)
    if kind == "raw_string":
        yield Piece(source.text[start + 1 : end - 1], source, start + 1, end - 1)
    elif kind in ("string", "translated_string", "concatenation", "command_name"):
        inside = quoted or kind in ("string", "translated_string")
        yield from _sequence(node, source, state, quoted=inside, string=kind in ("string", "translated_string"))
    elif kind == "ansi_c_string":
        yield Piece(source.text[start + 2 : end - 1], source, start + 2, end - 1)
    elif kind == "simple_expansion":
        yield from _variable(source.text[start + 1 : end], node, source, state, quoted=quoted)
    elif kind == "expansion":
        yield from _braced(node, source, state, quoted=quoted)
    elif kind == "arithmetic_expansion":
        yield _of_value(arithmetic(node, source, state), node, source)
    elif kind in ("command_substitution", "process_substitution"):
        yield from _substitution(node, source, quoted=quoted)
    else:
        yield from _literal(source, start, end)


def _sequence(node: tree_sitter.Node, source: Source, state: State, *, quoted: bool, string: bool) -> Iterator[Piece]:
    """Children of a string or concatenation, with the text between them that the parser gives no node for."""
    at = source.start(node) + (1 if string else 0)
    stop = source.end(node) - (1 if string else 0)
    for child in node.children:
        if not child.is_named and not (child.type == "$" and not string):
            continue
        start, end = source.start(child), source.end(child)
        if start > at:
            yield from _literal(source, at, start)
        if child.type == "string_content":
            yield from _literal(source, start, end, string=True)
        else:
            yield from _pieces(child, source, state, quoted=quoted)
        at = end
    if at < stop:
        yield from _literal(source, at, stop)


def _literal(source: Source, start: int, end: int, *, string: bool = False) -> Iterator[Piece]:
    """Plain text with its escapes undone; a continued line vanishes."""
    text = source.text
    at = start
    for match in _ESCAPE.finditer(text, start, end):
        if string and match[1] not in '"\\$`\n':
            continue
        if match.start() > at:
            yield Piece(text[at : match.start()], source, at, match.start())
        if match[1] != "\n":
            yield Piece(match[1], source, match.start(), match.end())
        at = match.end()
    if at < end:
        yield Piece(text[at:end], source, at, end)


def _of_value(value: Value, node: tree_sitter.Node, source: Source) -> Piece:
    if isinstance(value, Const):
        return Piece(str(value.value), source, source.start(node), source.end(node))
    return Piece(source.written(node), source, source.start(node), source.end(node), value=value)


def _variable(name: str, node: tree_sitter.Node, source: Source, state: State, *, quoted: bool) -> Iterator[Piece]:
    stored = lookup(name, state, (source, source.start(node), source.end(node)))
    if stored is None:
        knob = Knob(_knob_name(name, state))
        told = state.known.get(knob.name)
        text, value = (source.written(node), knob) if told is None else (told, None)
        yield Piece(text, source, source.start(node), source.end(node), value=value, split=not quoted)
    else:
        yield from _use(stored, node, source, quoted=quoted)


def _knob_name(name: str, state: State) -> str:
    return f"${int(name) + state.shifted}" if name.isdigit() else name


def lookup(name: str, state: State, place: tuple[Source, int, int]) -> Scalar | None:
    """What a variable or argument holds, or None when nothing in the script gives it a value."""
    source, start, end = place
    if name.isdigit() and int(name) > 0:
        if state.arguments is None:
            return None
        index = int(name) - 1
        if index >= len(state.arguments):
            return ()
        given = state.arguments[index]
        bound = Origin(given.where, given.where, given.written)
        return tuple(replace(piece, bound=piece.bound or bound) for piece in given.pieces)
    if name in ("0", "BASH_SOURCE"):
        return (Piece("./script", source, start, end),)
    if name in ("@", "*"):
        return tuple(piece for word in state.arguments or [] for piece in word.pieces)
    if name == "PWD" and name not in state.scalars:
        return (Piece(".", source, start, end),)
    if name in state.arrays:
        return state.arrays[name][0].pieces if state.arrays[name] else ()
    return state.scalars.get(name)


def _use(stored: Scalar, node: tree_sitter.Node, source: Source, *, quoted: bool) -> Iterator[Piece]:
    """A stored value where it is used: a plain word stands at its use, text that holds flags where it was written."""
    text = "".join(piece.text for piece in stored)
    if not stored:
        return
    if text.startswith("-") or (any(c in " \t\n" for c in text) and all(p.value is None for p in stored)):
        yield from (replace(piece, split=not quoted) for piece in stored)
        return
    if any(c in " \t\n" for p in stored if p.value is None for c in p.text):
        yield from (replace(piece, split=not quoted) for piece in stored)
        return
    value = value_of(stored)
    via = tuple(dict.fromkeys(hop for piece in stored for hop in piece.via))
    yield Piece(
        text=str(value.value) if isinstance(value, Const) else source.written(node),
        source=source,
        start=source.start(node),
        end=source.end(node),
        value=None if isinstance(value, Const) else value,
        split=not quoted,
        many=not quoted and any(piece.many for piece in stored),
        via=via,
        bound=next((piece.bound for piece in stored if piece.bound), None),
        origin=stored[-1].origin,
    )


def assigned(pieces: Scalar, name: str, where: tuple[Source, int, int], right: tuple[int, int]) -> Scalar:
    """Pieces as a variable keeps them: each remembers the assignment as the way its value came."""
    source, start, end = where
    text = "".join(piece.text for piece in pieces)
    if text.startswith("-") or (any(c in " \t\n" for c in text) and all(p.value is None for p in pieces)):
        return pieces  # flags: they are used where they are written
    origin = Origin(source.where(start, end), source.where(*right), source.text[right[0] : right[1]])
    hop = Hop(origin.where, f"{name} is set here")
    if len(pieces) == 1 and isinstance(pieces[0].value, Knob):
        hop = Hop(origin.where, f"{name} is read from {pieces[0].value}")
    return tuple(replace(piece, via=(*piece.via, hop), origin=origin) for piece in pieces)


def _braced(node: tree_sitter.Node, source: Source, state: State, *, quoted: bool) -> Iterator[Piece]:
    text = source.written(node)
    match = re.match(r"\$\{(!?)(#?)([@*#?]|\w+)((?:\[[^\]]*\])?)(.*)\}$", text, re.DOTALL)
    place = (source, source.start(node), source.end(node))
    if match is None or match[2]:
        yield _of_value(Unknown(text), node, source)
        return
    name, rest = match[3] + _index(match[4], state, place), match[5]
    if match[1]:
        pointed = literal_of(lookup(name, state, place) or ())
        if not pointed:
            yield _of_value(Unknown(text), node, source)
            return
        name = pointed
    stored = lookup(name, state, place)
    if not rest:
        yield from _variable(name, node, source, state, quoted=quoted)
    elif re.match(r":?[-=+?]", rest):
        yield from _with_default(name, stored, rest, node, source, state, quoted=quoted)
    else:
        yield from _changed(stored, rest, node, source, quoted=quoted)


def _index(index: str, state: State, place: tuple[Source, int, int]) -> str:
    """``[$role]`` with the variable filled in; no index and ``[0]`` name the plain variable."""
    inner = index.strip("[]").strip("\"'")
    if not inner or inner in ("0", "@", "*"):
        return ""
    if inner.startswith("$"):
        inner = literal_of(lookup(inner[1:].strip("{}"), state, place) or ()) or inner
    return f"[{inner}]"


def _with_default(
    name: str, stored: Scalar | None, rest: str, node: tree_sitter.Node, source: Source, state: State, *, quoted: bool
) -> Iterator[Piece]:
    """``${X:-word}``, ``${X:=word}``, ``${X:+word}``, ``${X:?message}`` and the same without the colon."""
    operator = rest.lstrip(":")[0]
    if stored is None and _knob_name(name, state) in state.known:
        stored = (Piece(state.known[_knob_name(name, state)], source, source.start(node), source.end(node)),)
    words = [child for child in node.named_children if source.start(child) > source.start(node) + 2 + len(name) - 1]
    empty = stored is not None and not "".join(piece.text for piece in stored)
    knob = stored[0].value if stored and len(stored) == 1 and isinstance(stored[0].value, Knob) else None
    if operator == "?" or (operator in "-=" and stored is not None and not (empty and rest[0] == ":") and knob is None):
        yield from _variable(name, node, source, state, quoted=quoted)
        return
    inner = tuple(piece for child in words for piece in _pieces(child, source, state, quoted=True))
    if operator == "+":
        if stored is None or not empty:
            yield from (replace(piece, split=not quoted) for piece in inner)
        return
    if knob is not None:
        if knob.default is not None or not isinstance(value_of(inner), Const):
            yield from _variable(name, node, source, state, quoted=quoted)
            return
        value: Value = Knob(knob.name, value_of(inner))
    elif stored is None and not (name.isdigit() and state.arguments is not None):
        text = literal_of(inner)
        value = Knob(_knob_name(name, state), Const(text) if text is not None else value_of(inner))
        if text == "":
            value = Knob(_knob_name(name, state))
    else:
        yield from _use(tuple(replace(piece, via=piece.via) for piece in inner), node, source, quoted=quoted)
        return
    piece = Piece(source.written(node), source, source.start(node), source.end(node), value=value, split=not quoted)
    if operator == "=":
        state.set(name, (piece,))
    yield piece


def _changed(
    stored: Scalar | None, rest: str, node: tree_sitter.Node, source: Source, *, quoted: bool
) -> Iterator[Piece]:
    """Case changes of a known text, ``${BASH_SOURCE%/*}``; every other operator gives an unknown value."""
    text = literal_of(stored) if stored is not None else None
    changes: dict[str, Callable[[str], str]] = {"^^": str.upper, ",,": str.lower, "^": str.capitalize}
    if text is not None and rest in changes:
        text = changes[rest](text)
    elif text is not None and rest in ("%/*", "%%/*"):
        text = text.rpartition("/")[0]
    else:
        yield replace(_of_value(Unknown(source.written(node)), node, source), many=not quoted)
        return
    yield Piece(text, source, source.start(node), source.end(node))


def _substitution(node: tree_sitter.Node, source: Source, *, quoted: bool) -> Iterator[Piece]:
    text = source.written(node)
    start, end = source.start(node), source.end(node)
    echo = re.match(r"\$\(\s*echo\s+(?:\"([\w./-]+)\"|'?([\w./-]+)'?)\s*\)$", text)
    if _HERE.search(text):
        tail = re.search(r"/(\.\.(?:/\.\.)*)\"?\s*(?:&&|;)\s*pwd", text)
        yield Piece(f"./{tail[1]}" if tail else ".", source, start, end)
    elif echo:
        yield Piece(echo[1] or echo[2], source, start, end)
    else:
        yield Piece(text, source, start, end, value=Unknown(text), many=not quoted)


_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "<<": lambda a, b: a << min(b, 64),
}


def arithmetic(node: tree_sitter.Node, source: Source, state: State) -> Value:
    """The value of an arithmetic expression: a constant, or derived from the one variable in it."""
    if node.type in ("arithmetic_expansion", "parenthesized_expression"):
        inner = node.named_children
        return arithmetic(inner[0], source, state) if len(inner) == 1 else Unknown(source.written(node))
    if node.type == "binary_expression" and len(node.children) == 3:
        left, right = (arithmetic(node.children[i], source, state) for i in (0, 2))
        return _combine(left, source.written(node.children[1]), right, source.written(node))
    if node.type in ("variable_name", "word") and re.fullmatch(r"[A-Za-z_]\w*", source.written(node)):
        stored = lookup(source.written(node), state, (source, source.start(node), source.end(node)))
        return Knob(source.written(node)) if stored is None else value_of(stored)
    return value_of(tuple(_pieces(node, source, state, quoted=True)))


def _combine(left: Value, operator: str, right: Value, text: str) -> Value:
    a, b = as_tokens(left), as_tokens(right)
    operation = _OPERATORS.get(operator)
    if operation is None or isinstance(left, Unknown) or isinstance(right, Unknown):
        return Unknown(text)
    if a is not None and b is not None:
        return Const(operation(a, b)) if b or operator not in "/%" else Unknown(text)
    base, number = (left, b) if a is None else (right, a)
    if number is None:
        return Derived(f"({left} {operator} {right})")
    neutral = number == (1 if operator in "*/" else 0)
    other = operator in ("+", "-", "*", "/") and not neutral and (a is None or operator != "/")
    return Derived(f"({left} {operator} {right})", base, provably_other=other)
