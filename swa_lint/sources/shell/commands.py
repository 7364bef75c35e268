"""Simple commands: builtins, calls of functions and scripts, strings that are scripts, server starts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import tree_sitter

from swa_lint.sources.shell.assignments import assign, export_name
from swa_lint.sources.shell.context import MAX_DEPTH, Interpreter
from swa_lint.sources.shell.expand import fields_of, scalar_of
from swa_lint.sources.shell.source import Joined, Part, Source
from swa_lint.sources.shell.starts import started, variable_settings, within
from swa_lint.sources.shell.state import Function, State
from swa_lint.sources.shell.words import Field, split_fields

_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_KILLS = frozenset({"kill", "pkill", "killall"})
# Commands whose words are never run.
_TEXT_ONLY = frozenset(
    {
        *("echo", "printf", "grep", "sed", "awk", "cat", "git", "logger", "log", "curl", "pgrep", "trap"),
        *("rm", "chmod", "cp", "scp", "rsync", "mv", "ls", "touch"),
    }
)
_DECLARE = frozenset({"export", "declare", "typeset", "local", "readonly"})


def command(node: tree_sitter.Node, source: Source, state: State, shell: Interpreter) -> list[State]:
    """Run a simple command; assignments before it hold for it alone."""
    prefix = [child for child in node.children if child.type == "variable_assignment"]
    # An argument that follows here-document markers is a child of the redirect, not of the command.
    words_at = [child for child in node.children if child.is_named and "redirect" not in child.type]
    if not prefix:
        words = _words(words_at, source, state)
        return call(words, node, source, state, shell)
    saved = {name: state.scalars.get(name) for name in (_assigned_name(child, source) for child in prefix)}
    exported = dict(state.exported)
    for child in prefix:
        name = assign(child, source, state)
        export_name(name, child, source, state)
    words = _words([child for child in words_at if child.type != "variable_assignment"], source, state)
    after = call(words, node, source, state, shell)
    for one in after:
        one.exported = dict(exported)
        for name, value in saved.items():
            one.scalars.pop(name, None)
            if value is not None:
                one.scalars[name] = value
    return after


def _assigned_name(node: tree_sitter.Node, source: Source) -> str:
    name = node.child_by_field_name("name")
    return source.written(name) if name is not None else ""


def _words(nodes: Sequence[tree_sitter.Node], source: Source, state: State) -> list[Field]:
    return [word for child in nodes for word in fields_of(child, source, state)]


def call(words: list[Field], node: tree_sitter.Node, source: Source, state: State, shell: Interpreter) -> list[State]:
    """Run `words` as a command."""
    if not words:
        return [state]
    name = words[0].text
    if name in state.functions:
        return call_function(state.functions[name], words[1:], node, source, state, shell)
    if _builtin(name, words, node, source, state):
        return [state]
    if name in ("source", ".") and len(words) > 1:
        other = shell.context.sibling(_relative(words[1].text))
        return nested(other, state, shell) if other is not None else [state]
    if name == "eval":
        return nested(Joined(_parts(words[1:])), state, shell)
    if (
        name in ("exec", "nohup", "time", "setsid", "command", "sudo")
        and len(words) > 1
        and _is_call(words[1].text, state)
    ):
        after = call(words[1:], node, source, state, shell)
        return _left(after) if name == "exec" else after
    if name in _TEXT_ONLY:
        return [state]
    place = (source, source.start(node), _last_word_end(node, source))
    begun = started(words, place, state, shell.context)
    if begun is not None:
        state.started.append(begun)
        return _left([state]) if name == "exec" else [state]
    after = _run_strings(words, node, source, state, shell)
    return _left(after) if name == "exec" and len(words) > 1 else after


def _is_call(name: str, state: State) -> bool:
    return name in state.functions or name.rpartition("/")[2] in _SHELLS or name.endswith(".sh")


def _left(states: list[State]) -> list[State]:
    for state in states:
        state.flow = "exit"
    return states


def _last_word_end(node: tree_sitter.Node, source: Source) -> int:
    words = [child for child in node.named_children if "redirect" not in child.type]
    return source.end(words[-1]) if words else source.end(node)


def _relative(name: str) -> str:
    """A sibling's path: what cannot be known before it (``$DIR/``, ``$(dirname ...)``) is taken for this folder."""
    return re.sub(r"^(\$\{?\w+\}?|\$\(.*\)|`.*`)/", "./", name)


def _builtin(name: str, words: list[Field], node: tree_sitter.Node, source: Source, state: State) -> bool:
    texts = [word.text for word in words[1:]]
    if name in ("exit", "return", "break", "continue"):
        state.flow = name
    elif name == "shift":
        count = int(texts[0]) if texts and texts[0].isdigit() else 1
        if state.arguments is None:
            state.shifted += count
        else:
            del state.arguments[:count]
    elif name == "set":
        _set(words[1:], state)
    elif name == "unset":
        for text in texts:
            state.scalars.pop(text, None)
            state.arrays.pop(text, None)
            state.exported.pop(text, None)
    elif name == "read":
        _read(words[1:], node, source, state)
    elif (name in _KILLS and "-0" not in texts) or (name == "wait" and not texts):
        phase = next((tag for tag in reversed(state.tags) if tag[0] == "phase"), ("phase", 0))
        state.tags = (*(tag for tag in state.tags if tag[0] != "phase"), ("phase", phase[1] + 1))
    elif name in _DECLARE or name in (":", "true", "false", "wait", *_KILLS):
        pass
    else:
        return False
    return True


def _set(words: list[Field], state: State) -> None:
    texts = [word.text for word in words]
    if "--" in texts:
        state.arguments = list(words[texts.index("--") + 1 :])
    if texts[:1] and re.match(r"-\w*a", texts[0]):
        state.allexport = True
    if texts[:1] and re.match(r"\+\w*a", texts[0]):
        state.allexport = False


def _read(words: list[Field], node: tree_sitter.Node, source: Source, state: State) -> None:
    """``read -r a b <<< "x y"``: names get the words of a here-string; other input cannot be known."""
    names = [word.text for word in words if re.fullmatch(r"[A-Za-z_]\w*", word.text)]
    given: list[Field] = []
    for child in node.children:
        if child.type == "herestring_redirect" and child.named_children:
            inner = child.named_children[-1]
            pieces = tuple(replace(piece, split=True) for piece in scalar_of(inner, source, state))
            given = list(split_fields(pieces, (source, source.start(inner), source.end(inner)), keep_empty=False))
    for index, name in enumerate(names):
        state.scalars.pop(name, None)
        if index < len(given):
            state.set(name, given[index].pieces)


def call_function(
    function: Function, arguments: list[Field], node: tree_sitter.Node, source: Source, state: State, shell: Interpreter
) -> list[State]:
    """Run a function (or a script) with arguments; a server started by what the call passes is placed at the call."""
    context = shell.context
    if context.depth >= MAX_DEPTH:
        return [state]
    outer = (state.arguments, state.shifted, state.locals, state.tags)
    before = len(state.started)
    where = source.where(source.start(node), _last_word_end(node, source))
    body = function.source.location(function.body)
    state.arguments, state.shifted, state.locals = list(arguments), 0, {}
    state.tags = (*state.tags, (f"call {where.path}:{where.line}:{where.column}", len(state.started)))
    context.depth += 1
    try:
        after = shell.run(function.body, function.source, state)
    finally:
        context.depth -= 1
    for one in after:
        for name, (scalar, array) in (one.locals or {}).items():
            one.scalars.pop(name, None)
            one.arrays.pop(name, None)
            if scalar is not None:
                one.scalars[name] = scalar
            if array is not None:
                one.arrays[name] = array
        phase = tuple(tag for tag in one.tags if tag[0] == "phase")
        one.arguments, one.shifted, one.locals = outer[0], outer[1], outer[2]
        one.tags = (*(tag for tag in outer[3] if tag[0] != "phase"), *phase)
        if one.flow == "return":
            one.flow = None
        for index in range(before, len(one.started)):
            launch = one.started[index].launch
            mode = launch.get("disaggregation_mode")
            passed = mode is not None and mode.value_where is not None and within(mode.value_where, where)
            if passed and mode is not None and not within(mode.value_where or where, body):
                one.started[index] = replace(one.started[index], launch=replace(launch, where=where))
    return after


def nested(other: Source, state: State, shell: Interpreter, arguments: list[Field] | None = None) -> list[State]:
    """Run another text in this shell (`source`, `eval`), or as a script of its own when it gets `arguments`."""
    context = shell.context
    if context.depth >= MAX_DEPTH:
        return [state]
    context.depth += 1
    saved = (state.arguments, state.shifted)
    if arguments is not None:
        state.arguments, state.shifted = list(arguments), 0
    try:
        after = shell.run(other.tree.root_node, other, state)
    finally:
        context.depth -= 1
    for one in after:
        if arguments is not None:
            one.arguments, one.shifted = saved
            one.flow = None
    return after


def _run_strings(
    words: list[Field], node: tree_sitter.Node, source: Source, state: State, shell: Interpreter
) -> list[State]:
    """``bash -c "..."``, ``ssh host "..."``, ``bash other.sh prefill``, here-documents fed to a shell."""
    texts = [word.text for word in words]
    given = variable_settings(words)
    if given:
        state.exported = {**state.exported, **{setting.text: setting for setting in given}}
    for index, text in enumerate(texts):
        if text.rpartition("/")[2] in _SHELLS or text.rpartition("/")[2].endswith((".sh", ".bash")):
            done = _run_shell(words[index:], source, node, state, shell)
            if done is not None:
                return done
            break
    for index, word in enumerate(words):
        if index and "sglang" in word.text and any(c in " \n" for c in word.text):
            return nested(Joined(_unquoted(word, node, source)), state, shell)
    return [state]


def _run_shell(
    words: list[Field], source: Source, node: tree_sitter.Node, state: State, shell: Interpreter
) -> list[State] | None:
    """A shell with ``-c``, a script beside this one, or one that this one has written; None when it is neither."""
    texts = [word.text for word in words]
    at = 0
    if texts[0].rpartition("/")[2] in _SHELLS:
        at = 1
        while at < len(texts) and texts[at].startswith("-"):
            if re.fullmatch(r"-\w*c", texts[at]) and at + 1 < len(words):
                inner = Joined(_unquoted(words[at + 1], node, source))
                return nested(inner, state, shell, words[at + 3 :] or None)
            at += 2 if texts[at] in ("-o", "+o") else 1
    if at >= len(words):
        return None
    name = _relative(texts[at])
    other = state.scripts.get(name.removeprefix("./"))
    if other is not None:
        state.ran |= {name.removeprefix("./")}
    if shell.context.language == "dockerfile":
        name = name.rpartition("/")[2]  # the image's folder is not the repository's
    other = other or shell.context.sibling(name)
    if other is None or "sglang" not in other.text:
        return None
    body = Function(other, other.tree.root_node)
    after = call_function(body, words[at + 1 :], node, source, state, shell)
    for one in after:
        one.flow = None
    return after


def _parts(words: Sequence[Field]) -> list[Part]:
    parts: list[Part] = []
    for index, word in enumerate(words):
        if index:
            parts.append(Part(" ", word.source, word.start, word.start))
        parts += [Part(piece.text, piece.source, piece.start, piece.end) for piece in word.pieces]
    return parts


def _unquoted(word: Field, node: tree_sitter.Node, source: Source) -> list[Part]:
    """The text of a quoted word with its variables as written, so that they keep their names and places inside."""
    written = word.written
    if word.source is not source or len(written) < 2 or written[0] not in "\"'" or written[-1] != written[0]:
        return _parts([word])
    start, end = word.start + 1, word.end - 1
    if written[0] == "'":
        return [Part(source.text[start:end], source, start, end)]
    parts: list[Part] = []
    at = start
    for match in re.finditer(r'\\(["\\$`])', source.text[start:end]):
        parts.append(Part(source.text[at : start + match.start()], source, at, start + match.start()))
        parts.append(Part(match[1], source, start + match.start(), start + match.end()))
        at = start + match.end()
    parts.append(Part(source.text[at:end], source, at, end))
    return parts
