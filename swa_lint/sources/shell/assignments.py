"""Assignments and declarations: what variables and arrays get, and which of them reach the servers."""

from __future__ import annotations

import re
from dataclasses import replace

import tree_sitter

from swa_lint.sglang.flags import field_of_variable
from swa_lint.sources.facts import Setting
from swa_lint.sources.shell.expand import assigned, fields_of, scalar_of
from swa_lint.sources.shell.source import Source
from swa_lint.sources.shell.starts import flag_removal
from swa_lint.sources.shell.state import State
from swa_lint.sources.shell.words import Field, Piece, Scalar, literal_of, value_of


def assign(node: tree_sitter.Node, source: Source, state: State) -> str:
    """Carry out ``NAME=value``, ``NAME+=value``, ``NAME[key]=value`` or ``NAME=(...)``; returns the name."""
    name_node, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    name = source.written(name_node) if name_node is not None else ""
    appends = any(child.type == "+=" for child in node.children)
    if name_node is not None and name_node.type == "subscript":
        name = _subscript(name_node, source, state)
    place = (source, source.start(node), source.end(node))
    if value is not None and value.type == "array":
        _assign_array(name, value, source, state, appends=appends)
        return name
    right = (source.start(value), source.end(value)) if value is not None else (place[2], place[2])
    pieces = scalar_of(value, source, state) if value is not None else ()
    if appends:
        if state.arrays.get(name):
            return name
        state.set(name, (*state.scalars.get(name, ()), *pieces))
    elif _recursive_default(pieces, name):
        state.set(name, pieces)
    else:
        state.set(name, assigned(pieces, name, place, right))
    return name


def _recursive_default(pieces: Scalar, name: str) -> bool:
    """``PAGE=${PAGE:-64}`` names its own default; that is no step of a value's way."""
    return len(pieces) == 1 and getattr(pieces[0].value, "name", None) == name


def _subscript(node: tree_sitter.Node, source: Source, state: State) -> str:
    index = node.child_by_field_name("index")
    base = node.child_by_field_name("name")
    key = literal_of(scalar_of(index, source, state)) if index is not None else None
    return f"{source.written(base) if base is not None else ''}[{key}]"


def _assign_array(name: str, value: tree_sitter.Node, source: Source, state: State, *, appends: bool) -> None:
    items: list[Field] = []
    for child in value.named_children:
        keyed = re.match(r"\[([\"']?)([\w.-]+)\1\]=", source.written(child))
        if keyed is None:
            items += fields_of(child, source, state)
            continue
        place = (source, source.start(child), source.end(child))
        right = (source.start(child) + len(keyed[0]), source.end(child))
        parts = child.named_children
        pieces = tuple(p for part in parts for p in scalar_of(part, source, state))
        text = "".join(piece.text for piece in pieces)
        skip = text.index("]=") + 2 if "]=" in text else 0
        state.set(f"{name}[{keyed[2]}]", assigned(_without(pieces, skip), f"{name}[{keyed[2]}]", place, right))
    if items or not any(key.startswith(f"{name}[") for key in state.scalars):
        state.set_array(name, [*state.arrays.get(name, []), *items] if appends else items)


def _without(pieces: Scalar, count: int) -> Scalar:
    """Pieces with the first `count` characters of their text cut off."""
    left: list[Piece] = []
    for piece in pieces:
        if count >= len(piece.text):
            count -= len(piece.text)
            continue
        start = piece.start + count if piece.exact else piece.start
        left.append(replace(piece, text=piece.text[count:], start=start))
        count = 0
    return tuple(left)


def export_name(name: str, node: tree_sitter.Node | None, source: Source, state: State) -> None:
    """Note that `name` reaches the servers started from here on, if a server reads it."""
    field = field_of_variable(name)
    if field is None or name not in state.scalars:
        return
    pieces = state.scalars[name]
    origin = pieces[-1].origin if pieces else None
    if origin is None:
        return
    removal = None
    if node is not None and node.type == "variable_assignment":
        outer = node.parent if node.parent is not None and node.parent.type == "declaration_command" else node
        single = len([child for child in outer.named_children if child.type == "variable_assignment"]) == 1
        target = outer if outer is not node and single else node
        removal = flag_removal(source, source.start(target), source.end(target))
    state.exported[name] = Setting(field, value_of(pieces), origin.where, origin.written, origin.value_where, removal)


def declare(node: tree_sitter.Node, source: Source, state: State) -> None:
    """``export``, ``local``, ``declare`` and their kin."""
    words = [source.written(child) for child in node.children]
    exports = words[0] == "export" or (words[0] in ("declare", "typeset") and any(re.match(r"-\w*x", w) for w in words))
    for child in node.named_children:
        if child.type == "variable_assignment":
            name_node = child.child_by_field_name("name")
            if words[0] in ("local", "declare", "typeset") and name_node is not None:
                state.make_local(source.written(name_node))
            name = assign(child, source, state)
            if exports:
                export_name(name, child, source, state)
        elif child.type == "variable_name":
            name = source.written(child)
            if words[0] in ("local", "declare", "typeset"):
                state.make_local(name)
                if "-A" in words or "-a" in words:
                    state.set_array(name, [])
                elif words[0] == "local":
                    state.set(name, ())
            elif exports:
                export_name(name, None, source, state)
