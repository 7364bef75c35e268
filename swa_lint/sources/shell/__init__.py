"""Shell scripts: what servers a script starts, with which settings, read from its parse tree."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable, Iterator, Sequence

import tree_sitter

from swa_lint.geometry import Location, Role
from swa_lint.sources.facts import FileFacts, Launch, Problem, Setting
from swa_lint.sources.positions import Positions
from swa_lint.sources.shell.context import Context
from swa_lint.sources.shell.deployments import launches
from swa_lint.sources.shell.naming import with_naming
from swa_lint.sources.shell.run import run_script
from swa_lint.sources.shell.source import Source, Where
from swa_lint.sources.shell.state import State

# One of these is in every text that can start a server; plain searches, since most files have none.
_MENTIONS = ("sglang", "page-size", "page_size", "disaggregation-mode", "disaggregation_mode")
# Commands whose variables decide nothing.
_ASIDE = frozenset(
    {"echo", "printf", "mkdir", "rm", "cd", "sleep", "curl", "cat", "tail", "log", "kill", "wait", "trap"}
)


def mentions(text: str) -> bool:
    """Whether a text can hold a server start at all."""
    lowered = text.lower()
    return any(word in lowered for word in _MENTIONS)


def read(path: str, text: str, *, root: pathlib.Path | None = None) -> FileFacts:
    """The facts of a shell script; files that it sources are read when `root` is given (`path` is relative to it)."""
    if not mentions(text):
        return FileFacts(path)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return _facts(Context(path, path, "shell", root), lambda: Source(text, Positions(path, text).where))


def read_fragment(
    path: str,
    text: str,
    where: Where,
    *,
    deployment: str,
    language: str,
    env: Sequence[Setting] = (),
    role_hint: Role = Role.UNKNOWN,
    root: pathlib.Path | None = None,
) -> FileFacts:
    """The facts of shell text inside another file; `where` turns offsets in `text` (no ``\\r``) into ranges of the file."""
    if not mentions(text):
        return FileFacts(path)
    return _facts(Context(path, deployment, language, root, role_hint, env), lambda: Source(text, where))


def read_source(
    path: str, source: Source, *, deployment: str, language: str, root: pathlib.Path | None = None
) -> FileFacts:
    """The facts of a shell text that is put together from parts of a file."""
    return _facts(Context(path, deployment, language, root), lambda: source)


def _facts(context: Context, parse: Callable[[], Source]) -> FileFacts:
    path = context.path
    try:
        source = parse()
        context.relevant = frozenset(_relevant(source))
        found = launches(run_script(source, State(), context), context.deployment)
        if context.language == "shell":
            found = with_naming(found, source, path)
    except RecursionError:
        return FileFacts(
            path, problems=(Problem(Location(path, 1, 1, 1, 1), "nested too deep to be read", skipped=True),)
        )
    return FileFacts(path, launches=found, problems=_problems(source, found), depends=tuple(context.depends))


def _problems(source: Source, found: Sequence[Launch]) -> tuple[Problem, ...]:
    root = source.tree.root_node
    if found or not root.has_error or not re.search(r"sglang[. ](launch_server|serve)\b", source.text):
        return ()
    bad = next(_errors(root), root)
    return (Problem(source.location(bad), "shell syntax that cannot be read", skipped=True),)


def _errors(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    stack = [node]
    while stack:
        current = stack.pop()
        if current.is_error or current.is_missing:
            yield current
        stack.extend(child for child in reversed(current.children) if child.has_error)


def _relevant(source: Source) -> Iterator[str]:
    """Variables that can matter to a server: all that are read outside of messages and redirections."""
    stack = [source.tree.root_node]
    while stack:
        node = stack.pop()
        if node.type == "file_redirect":
            continue
        if node.type == "command":
            name = node.child_by_field_name("name")
            if name is not None and source.written(name) in _ASIDE:
                continue
        if node.type == "variable_name" and node.parent is not None and node.parent.type != "variable_assignment":
            yield source.written(node)
        stack.extend(node.named_children)
