"""Tests of `if`, `case`, `[ ]`, `[[ ]]`, `(( ))`: which way they go, and what each way tells about variables."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable

import tree_sitter

from swa_lint.geometry import Const, Derived, Knob, Value, as_tokens
from swa_lint.sources.shell.expand import arithmetic, fields_of, scalar_of
from swa_lint.sources.shell.source import Source
from swa_lint.sources.shell.state import State
from swa_lint.sources.shell.words import literal_of, value_of

# Ways a test can go, each with the state on that way.
Ways = list[tuple[bool, State]]
Runner = Callable[[tree_sitter.Node, Source, State], list[State]]
_ROLES = frozenset({"prefill", "decode"})
_NUMERIC: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_UNSURE = frozenset({"grep", "command", "which", "type", "hash", "pgrep", "nvidia-smi", "lspci"})


def ways(node: tree_sitter.Node, source: Source, state: State, run: Runner, *, sure: bool = False) -> Ways:
    """How `node` as a condition can come out; `sure`: a command that is no test succeeds (the left of ``&&``)."""
    if node.type == "list" and len(node.children) == 3:
        return _list_ways(node, source, state, run, sure=sure)
    if node.type == "negated_command":
        return [(not way, after) for way, after in ways(node.children[-1], source, state, run, sure=sure)]
    if node.type in ("test_command", "parenthesized_expression") and node.named_children:
        return test_ways(node.named_children[0], source, state, numbers=False)
    if node.type == "compound_statement" and node.children and node.children[0].type == "((":
        return test_ways(node.named_children[0], source, state, numbers=True) if node.named_children else _both(state)
    if node.type == "command":
        return _command_ways(node, source, state, run, sure=sure)
    after = run(node, source, state)
    return [pair for one in after for pair in ([(True, one)] if sure else _both(one))]


def _both(state: State) -> Ways:
    return [(True, state), (False, state.fork())]


def _list_ways(node: tree_sitter.Node, source: Source, state: State, run: Runner, *, sure: bool) -> Ways:
    operator = source.written(node.children[1])
    found: Ways = []
    for way, after in ways(node.children[0], source, state, run, sure=sure):
        if after.flow is None and way == (operator == "&&"):
            found += ways(node.children[2], source, after, run, sure=sure)
        else:
            found.append((way, after))
    return found


def _command_ways(node: tree_sitter.Node, source: Source, state: State, run: Runner, *, sure: bool) -> Ways:
    words = [word for child in node.children for word in fields_of(child, source, state)]
    name = words[0].text if words else ""
    if name in ("true", ":"):
        return [(True, state)]
    if name == "false":
        return [(False, state)]
    if name == "test" and len(words) in (3, 4):
        arguments = [value_of(word.pieces) for word in words[1:]]
        if len(arguments) == 2:
            return _unary(words[1].text, arguments[1], state)
        return _compare(arguments[0], words[2].text, arguments[2], state)
    after = run(node, source, state)
    doubt = not sure or name in _UNSURE
    return [pair for one in after for pair in (_both(one) if doubt and one.flow is None else [(True, one)])]


def test_ways(node: tree_sitter.Node, source: Source, state: State, *, numbers: bool) -> Ways:
    """How the expression inside ``[ ]``, ``[[ ]]`` or ``(( ))`` can come out."""
    if node.type == "parenthesized_expression" and node.named_children:
        return test_ways(node.named_children[0], source, state, numbers=numbers)
    if node.type == "unary_expression" and len(node.children) == 2:
        operator, operand = source.written(node.children[0]), node.children[1]
        if operator == "!":
            return [(not way, after) for way, after in test_ways(operand, source, state, numbers=numbers)]
        return _unary(operator, value_of(scalar_of(operand, source, state)), state)
    if node.type == "binary_expression" and len(node.children) == 3:
        return _binary(node, source, state, numbers=numbers)
    if numbers:
        number = as_tokens(arithmetic(node, source, state))
        return _both(state) if number is None else [(number != 0, state)]
    return _unary("-n", value_of(scalar_of(node, source, state)), state)


def _binary(node: tree_sitter.Node, source: Source, state: State, *, numbers: bool) -> Ways:
    left, middle, right = node.children
    operator = source.written(middle)
    if operator in ("&&", "||", "-a", "-o"):
        found: Ways = []
        for way, after in test_ways(left, source, state, numbers=numbers):
            if way == (operator in ("&&", "-a")):
                found += test_ways(right, source, after, numbers=numbers)
            else:
                found.append((way, after))
        return found
    if left.type == "unary_expression" and source.written(left).startswith("!"):  # `[ ! a = b ]`
        found = _compare_nodes(left.children[-1], operator, right, source, state, numbers=numbers)
        return [(not way, after) for way, after in found]
    return _compare_nodes(left, operator, right, source, state, numbers=numbers)


def _compare_nodes(
    left: tree_sitter.Node, operator: str, right: tree_sitter.Node, source: Source, state: State, *, numbers: bool
) -> Ways:
    if right.type == "binary_expression" and source.written(right.children[1]) in ("-a", "-o"):
        # The grammar reads `a = b -a c` as `a = (b -a c)`.
        inner, joint, rest = right.children
        found: Ways = []
        for way, after in _compare_nodes(left, operator, inner, source, state, numbers=numbers):
            if way == (source.written(joint) == "-a"):
                found += test_ways(rest, source, after, numbers=numbers)
            else:
                found.append((way, after))
        return found
    read = arithmetic if numbers else _test_operand
    return _compare(read(left, source, state), operator, read(right, source, state), state)


def _test_operand(node: tree_sitter.Node, source: Source, state: State) -> Value:
    return value_of(scalar_of(node, source, state))


def _unary(operator: str, value: Value, state: State) -> Ways:
    if operator not in ("-n", "-z"):
        return _both(state)
    filled = operator == "-n"
    if isinstance(value, Const):
        return [((str(value.value) != "") == filled, state)]
    if isinstance(value, Derived) or (isinstance(value, Knob) and value.default is not None):
        return [(filled, state)]
    if not isinstance(value, Knob):
        return _both(state)
    if "" in state.excluded.get(value.name, frozenset()):
        return [(filled, state)]
    empty = state.fork()
    empty.learn(value, "")
    state.rule_out(value, "")
    return [(filled, state), (not filled, empty)]


def _compare(left: Value, operator: str, right: Value, state: State) -> Ways:
    if isinstance(left, Const) and isinstance(right, Knob):
        left, right = right, left
    if (
        operator in ("=", "==", "!=", "=~")
        and isinstance(right, Const)
        and not (isinstance(left, Const) and as_tokens(left) is not None)
    ):
        pattern = re.sub(r"[\^$]|\.\*", lambda m: "*" if m[0] == ".*" else "", str(right.value))
        found = match_ways(left, [f"*{pattern}*" if operator == "=~" else pattern], state)
        return [(way != (operator == "!="), after) for way, after in found]
    a, b = as_tokens(left), as_tokens(right)
    numeric = _NUMERIC.get("==" if operator == "=" else operator)
    if a is not None and b is not None and numeric:
        return [(numeric(a, b), state)]
    if operator in ("-eq", "==", "-ne", "!=") and isinstance(left, Knob) and b is not None:
        found = match_ways(left, [str(b)], state)
        return [(way != (operator in ("-ne", "!=")), after) for way, after in found]
    return _both(state)


def match_ways(value: Value, patterns: list[str], state: State) -> Ways:
    """Whether `value` matches one of the glob `patterns`; a variable learns the plain text it is compared with."""
    if isinstance(value, Const):
        text = str(value.value)
        return [(any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns), state)]
    if "*" in patterns:
        return [(True, state)]
    plain = [pattern.strip("*") for pattern in patterns]
    if not isinstance(value, Knob):
        return _both(state)
    excluded = state.excluded.get(value.name, frozenset())
    if all(text in excluded for text in plain):
        return [(False, state)]
    other = state.fork()
    for text in plain:
        other.rule_out(value, text)
    if not any(c in text for text in plain for c in "*?["):
        state.learn(value, next((text for text in plain if text in _ROLES), plain[0]))
    return [(True, state), (False, other)]


def settled(value: Value, state: State) -> str | None:
    """The role that is left for a variable once the other one is ruled out."""
    left = _ROLES - state.excluded.get(value.name, frozenset()) if isinstance(value, Knob) else _ROLES
    return next(iter(left)) if len(left) == 1 else None


def pattern_text(node: tree_sitter.Node, source: Source, state: State) -> str:
    """The glob of a `case` item; quotes and known variables undone."""
    pieces = scalar_of(node, source, state)
    text = literal_of(pieces)
    return source.written(node) if text is None else text
