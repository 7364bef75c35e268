"""The interpreter: runs the statements of a script along every way that matters and notes the servers it starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import tree_sitter

from swa_lint.geometry import Const, Knob, Unknown
from swa_lint.sources.shell.assignments import assign, declare, export_name
from swa_lint.sources.shell.commands import call_function, command, nested
from swa_lint.sources.shell.conditions import match_ways, pattern_text, ways
from swa_lint.sources.shell.context import MAX_ROUNDS, MAX_STATES, MAX_STEPS, Context
from swa_lint.sources.shell.expand import fields_of, scalar_of
from swa_lint.sources.shell.heredocs import heredoc
from swa_lint.sources.shell.source import Source
from swa_lint.sources.shell.state import Function, State
from swa_lint.sources.shell.words import Piece, value_of

Handler = Callable[["Runner", tree_sitter.Node, Source, State], "list[State]"]


class Runner:
    """Runs parse trees; `context` bounds the work and collects what is read beside the script."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def run(self, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
        """Run `node` from `state`; returns the states that it can end in (`state` itself may be changed)."""
        self.context.steps += 1
        if state.flow is not None or self.context.steps > MAX_STEPS:
            return [state]
        handler = _HANDLERS.get(node.type)
        return handler(self, node, source, state) if handler is not None else [state]

    def sequence(self, nodes: list[tree_sitter.Node], source: Source, states: list[State]) -> list[State]:
        """Run statements one after another, each from every state the one before can end in."""
        for node in nodes:
            if all(state.flow is not None for state in states):
                break
            after = [one for state in states for one in self.run(node, source, state)]
            states = after if len(after) == len(states) == 1 else self.merged(after)
        return states

    def merged(self, states: list[State]) -> list[State]:
        """States that differ in nothing that matters become one; past the limit the last ones are given up."""
        kept: dict[object, State] = {}
        for state in states:
            kept.setdefault(state.same_as(self.context.relevant), state)
        return list(kept.values())[:MAX_STATES]


def _children(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    if node.type == "compound_statement" and node.children and node.children[0].type == "((":
        return [state]
    return runner.sequence(node.named_children, source, [state])


def _assignments(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    for child in [node] if node.type == "variable_assignment" else node.named_children:
        if child.type == "variable_assignment":
            name = assign(child, source, state)
            if state.allexport:
                export_name(name, child, source, state)
    return [state]


def _declaration(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    declare(node, source, state)
    return [state]


def _function(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is not None and body is not None:
        state.functions[source.written(name)] = Function(source, body)
    return [state]


def _command(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    return command(node, source, state, runner)


def _redirected(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    body = node.child_by_field_name("body")
    states = [state] if body is None else runner.run(body, source, state)
    for child in node.named_children:
        if child.type == "heredoc_redirect":
            states = [one for before in states for one in heredoc(child, body, source, before, runner)]
            states = [
                one
                for before in states
                for one in runner.sequence(
                    [inner for inner in child.named_children if inner.type in ("pipeline", "list", "command")],
                    source,
                    [before],
                )
            ]
    return states


def _list(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    return [after for _, after in ways(node, source, state, runner.run, sure=True)]


def _test(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    return [state]


def _negated(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    return runner.run(node.children[-1], source, state)


def _subshell(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    outside = state.fork()
    after = runner.sequence(node.named_children, source, [state])
    back = []
    for inner in after:
        one = outside.fork()
        one.started, one.decisions, one.excluded = inner.started, inner.decisions, inner.excluded
        back.append(one)
    return back


def _decide(states: list[tuple[int, State]], node: tree_sitter.Node, source: Source) -> list[State]:
    """Mark each state with the way it took at this branch."""
    if len({way for way, _ in states}) > 1:
        where = source.location(node)
        for way, state in states:
            state.decisions = (*state.decisions, (f"{where.path}:{where.line}:{where.column}", way))
    return [state for _, state in states]


def _if(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    ended: list[tuple[int, State]] = []
    open_states = [state]
    clauses = [node, *(child for child in node.children if child.type == "elif_clause")]
    for index, clause in enumerate(clauses):
        conditions, body = _clause(clause)
        left: list[State] = []
        for before in open_states:
            for way, after in _condition_ways(runner, conditions, source, before):
                if after.flow is not None:
                    ended.append((index, after))
                elif way:
                    ended += [(index, one) for one in runner.sequence(body, source, [after])]
                else:
                    left.append(after)
        open_states = left
    other = next((child for child in node.children if child.type == "else_clause"), None)
    for before in open_states:
        after_else = [before] if other is None else runner.sequence(other.named_children, source, [before])
        ended += [(len(clauses), one) for one in after_else]
    return runner.merged(_decide(ended, node, source))


def _clause(node: tree_sitter.Node) -> tuple[list[tree_sitter.Node], list[tree_sitter.Node]]:
    """Condition and body of an `if` or `elif`."""
    then = next((i for i, child in enumerate(node.children) if child.type == "then"), len(node.children))
    body = [c for c in node.children[then:] if c.is_named and c.type not in ("elif_clause", "else_clause")]
    return [child for child in node.children[:then] if child.is_named], body


def _condition_ways(
    runner: Runner, conditions: list[tree_sitter.Node], source: Source, state: State
) -> list[tuple[bool, State]]:
    if not conditions:
        return [(True, state)]
    before = runner.sequence(conditions[:-1], source, [state])
    return [pair for one in before for pair in ways(conditions[-1], source, one, runner.run)]


def _case(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    subject = node.child_by_field_name("value")
    if subject is None:
        return [state]
    ended: list[tuple[int, State]] = []
    open_states = [state]
    for index, item in enumerate(child for child in node.named_children if child.type == "case_item"):
        patterns = item.children_by_field_name("value")
        body = [child for child in item.named_children if child not in patterns]
        left: list[State] = []
        for before in open_states:
            texts = [pattern_text(pattern, source, before) for pattern in patterns]
            for way, after in match_ways(value_of(scalar_of(subject, source, before)), texts, before):
                if way:
                    ended += [(index, one) for one in runner.sequence(body, source, [after])]
                else:
                    left.append(after)
        open_states = left
    ended += [(-1, one) for one in open_states]
    return runner.merged(_decide(ended, node, source))


def _for(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
    if variable is None or body is None:
        return [state]
    name = source.written(variable)
    states = [state]
    for round_, pieces in enumerate(_rounds(node, source, state)):
        for one in states:
            one.set(name, pieces)
        states = _round(runner, body, source, states, round_)
    return states


def _rounds(node: tree_sitter.Node, source: Source, state: State) -> Iterator[tuple[Piece, ...]]:
    words = [word for child in node.children_by_field_name("value") for word in fields_of(child, source, state)]
    known = [word for word in words if all(piece.value is None for piece in word.pieces)]
    if known and len(known) == len(words) and not any(re.search(r"\{.*\}", word.text) for word in words):
        for word in words[:MAX_ROUNDS]:
            yield word.pieces
    else:
        place = words[0] if words else None
        start, end = (source.start(node), source.start(node)) if place is None else (place.start, place.end)
        yield (Piece("?", source, start, end, value=Unknown("?")),)


def _round(runner: Runner, body: tree_sitter.Node, source: Source, states: list[State], round_: int) -> list[State]:
    """One round of a loop; the servers started in it carry its number."""
    where = source.location(body)
    for one in states:
        tag = (f"loop {where.path}:{where.line}:{where.column}", round_)
        one.tags = (*(t for t in one.tags if t[0] != tag[0]), tag)
    after = runner.sequence(body.named_children, source, states)
    for one in after:
        one.tags = tuple(t for t in one.tags if t[0] != tag[0])
        if one.flow in ("break", "continue"):
            one.flow = None
    return after


def _while(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    body = node.child_by_field_name("body")
    conditions = [child for child in node.children if child.is_named and child is not body and child != body]
    if body is None or not conditions:
        return [state]
    text = " ".join(source.written(child) for child in conditions)
    if re.search(r"\$#|\$\{?[1@]|\bgetopts\b|\bread\b", text) and state.arguments is None:
        _forget(body, source, state)
        return [state]
    if text.strip() in ("false", "true", ":"):
        runs = (text.strip() == "false") == (node.children[0].type == "until")
        return _round(runner, body, source, [state], 0) if runs else [state]
    return _round(runner, body, source, runner.sequence(conditions, source, [state]), 0)


def _forget(body: tree_sitter.Node, source: Source, state: State) -> None:
    """A loop over the caller's options may set what it assigns; what was there before is the default."""
    for node in _descendants(body, "variable_assignment"):
        name_node, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        name = source.written(name_node) if name_node is not None else ""
        if not name or (value is not None and value.type == "array"):
            continue
        before = state.scalars.get(name, ())
        default = value_of(before) if before else None
        if isinstance(default, Const) and default.value == "":
            default = None
        if default is None or isinstance(default, Const):
            start, end = source.start(node), source.end(node)
            knob = Knob(name, default)
            state.set(name, (Piece(f"${name}", source, start, end, value=knob),))


def _descendants(node: tree_sitter.Node, kind: str) -> Iterator[tree_sitter.Node]:
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type == kind:
            yield current
        stack.extend(reversed(current.named_children))


def _c_for(runner: Runner, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
    body = node.child_by_field_name("body")
    first = node.child_by_field_name("initializer")
    if first is not None and first.type == "variable_assignment":
        name = source.written(first.children[0])
        state.set(name, (Piece(f"${name}", source, source.start(first), source.end(first), value=Unknown(f"${name}")),))
    return [state] if body is None else _round(runner, body, source, [state], 0)


_HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("program", "compound_statement", "do_group", "pipeline", "ERROR", "else_clause"), _children),
    **dict.fromkeys(("variable_assignment", "variable_assignments"), _assignments),
    "declaration_command": _declaration,
    "function_definition": _function,
    "command": _command,
    "redirected_statement": _redirected,
    "list": _list,
    "test_command": _test,
    "negated_command": _negated,
    "subshell": _subshell,
    "if_statement": _if,
    "case_statement": _case,
    "for_statement": _for,
    "while_statement": _while,
    "c_style_for_statement": _c_for,
}


def run_script(source: Source, state: State, context: Context) -> list[State]:
    """Run a script, then what it defines for others to call: scripts written but not started, functions of a library."""
    runner = Runner(context)
    after = runner.run(source.tree.root_node, source, state)
    for one in after:
        one.flow = None
    written = [text for one in after[:1] for name, text in one.scripts.items() if name not in one.ran]
    for text in written:
        after = [last for one in after for last in nested(text, one, runner)]
    if not any(one.started for one in after) and (_library(source) or _dispatches(source)):
        after = _library_calls(source, after[0], runner)
    return after


def _library(source: Source) -> bool:
    """Whether a script only defines things."""
    kinds = {child.type for child in source.tree.root_node.named_children}
    return "function_definition" in kinds and kinds <= {
        *("function_definition", "variable_assignment", "variable_assignments", "declaration_command", "comment")
    }


def _dispatches(source: Source) -> bool:
    """Whether a script runs the function that its caller names."""
    return bool(re.search(r"^\s*(\"\$@\"|\"?\$\{?1\}?\"?( |$)|\"\$\{?1)", source.text, re.MULTILINE))


def _library_calls(source: Source, state: State, runner: Runner) -> list[State]:
    for index, function in enumerate(list(state.functions.values())):
        inner = state.fork()
        inner.tags = (("function", index),)
        root = source.tree.root_node
        for one in call_function(function, [], root, source, inner, runner)[:1]:
            state.started += [begun for begun in one.started if begun not in state.started]
    return [state]
