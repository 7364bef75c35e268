"""Here-documents that are shell scripts: fed to a shell, or written to a file that runs later."""

from __future__ import annotations

import re

import tree_sitter

from swa_lint.sources.shell.commands import nested
from swa_lint.sources.shell.context import Interpreter
from swa_lint.sources.shell.expand import fields_of
from swa_lint.sources.shell.source import Joined, Part, Source
from swa_lint.sources.shell.state import State

_REMOTE = re.compile(r"(^|/)(bash|sh|zsh|dash|ksh|ssh|su|sudo|srun|sbatch|qsub|docker|podman|kubectl|salloc)$")
_NOT_SHELL = re.compile(r"\.(ya?ml|json|py|conf|service|md|toml|txt|env|j2|cfg|ini)$", re.IGNORECASE)


def heredoc(
    redirect: tree_sitter.Node, command: tree_sitter.Node | None, source: Source, state: State, shell: Interpreter
) -> list[State]:
    """Run or keep the body of ``<<EOF`` after `command`."""
    body = next((child for child in redirect.named_children if child.type == "heredoc_body"), None)
    start = next((child for child in redirect.named_children if child.type == "heredoc_start"), None)
    if body is None or "sglang" not in source.written(body) or state.flow is not None:
        return [state]
    words = [w.text for child in (command.named_children if command else []) for w in fields_of(child, source, state)]
    quoted = start is not None and source.written(start)[:1] in "\"'\\"
    text = Joined(_body_parts(body, source, quoted=quoted))
    if any(_REMOTE.search(word) for word in words):
        return nested(text, state, shell, [])
    if words[:1] in (["cat"], ["tee"]):
        target = _target(redirect, source, state) or next((w for w in words[1:] if not w.startswith("-")), "")
        if target and not _NOT_SHELL.search(target):
            state.scripts[target.removeprefix("./")] = text
    return [state]


def _body_parts(body: tree_sitter.Node, source: Source, *, quoted: bool) -> list[Part]:
    start, end = source.start(body), source.end(body)
    if quoted:
        return [Part(source.text[start:end], source, start, end)]
    parts: list[Part] = []
    at = start
    for match in re.finditer(r"\\([$`\\])", source.text[start:end]):
        parts.append(Part(source.text[at : start + match.start()], source, at, start + match.start()))
        parts.append(Part(match[1], source, start + match.start(), start + match.end()))
        at = start + match.end()
    parts.append(Part(source.text[at:end], source, at, end))
    return parts


def _target(redirect: tree_sitter.Node, source: Source, state: State) -> str:
    """The file that the command's output goes to."""
    around = [*redirect.named_children, *(redirect.parent.named_children if redirect.parent else [])]
    for child in around:
        destination = child.child_by_field_name("destination") if child.type == "file_redirect" else None
        if destination is not None:
            return "".join(word.text for word in fields_of(destination, source, state))
    return ""
