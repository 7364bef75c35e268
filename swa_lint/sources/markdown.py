"""Markdown: every fenced block is read by the source of its language, as a deployment of its own."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeVar, cast

from swa_lint.geometry import Location
from swa_lint.sources.facts import FileFacts


class Delegate(Protocol):
    """The entry point of another source."""

    def __call__(self, path: str, text: str, *, root: pathlib.Path | None = None) -> FileFacts:
        """Read one file."""
        ...


_LANGUAGES = {
    **dict.fromkeys(("bash", "sh", "shell", "zsh", "ksh"), "shell"),
    **dict.fromkeys(("console", "shell-session", "shellsession", "terminal", "sh-session", "bash-session"), "shell"),
    **dict.fromkeys(("python", "py", "python3"), "python"),
    **dict.fromkeys(("yaml", "yml"), "yaml"),
    **dict.fromkeys(("dockerfile", "docker"), "dockerfile"),
    **dict.fromkeys(("json", "jsonc"), "json"),
    "toml": "toml",
}
_OPEN = re.compile(r"(?P<indent>[ \t]*(?:>[ \t]?)*[ \t]*)(?P<mark>`{3,}|~{3,})[ \t]*\{?[.]?(?P<language>[\w+-]*)")
_PROMPT = re.compile(r"\s*\$ ")
_PLACEHOLDER = re.compile(r"<([A-Za-z][\w ./:-]*)>")


@dataclasses.dataclass(frozen=True)
class _Fence:
    """A block: its language, the number of its first line (from 1), its lines and how far each was indented."""

    language: str
    line: int
    lines: tuple[str, ...]
    shifts: tuple[int, ...]


def read(path: str, text: str, *, delegates: Mapping[str, Delegate], root: pathlib.Path | None = None) -> FileFacts:
    """The facts of all blocks; `delegates` has a source by language (shell, python, yaml, dockerfile, json, toml)."""
    if "```" not in text and "~~~" not in text:
        return FileFacts(path)
    found = [
        _fence_facts(path, fence, delegates[fence.language], root)
        for fence in _fences(text.replace("\r\n", "\n"))
        if fence.language in delegates
    ]
    return FileFacts(
        path,
        pairs=tuple(pair for facts in found for pair in facts.pairs),
        launches=tuple(launch for facts in found for launch in facts.launches),
        configs=tuple(config for facts in found for config in facts.configs),
        # A block of a guide may be a fragment: that is no fault of the file.
        problems=(),
        depends=tuple(dict.fromkeys(name for facts in found for name in facts.depends)),
    )


def _fences(text: str) -> Iterator[_Fence]:
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        match = _OPEN.match(lines[index])
        index += 1
        if match is None:
            continue
        first, indent, mark = index, match["indent"], match["mark"]
        close = re.compile(rf"[ \t>]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
        while index < len(lines) and not close.match(lines[index]):
            index += 1
        body = lines[first:index]
        index += 1
        language = _LANGUAGES.get(match["language"].lower())
        if not match["language"] and any("sglang" in line for line in body):
            language = "shell"
        if language is not None:
            shifts = tuple(_shift(line, indent) for line in body)
            cut = tuple(line[shift:] for line, shift in zip(body, shifts, strict=True))
            yield _Fence(language, first + 1, cut, shifts)


def _shift(line: str, indent: str) -> int:
    """How many characters of `line` belong to the fence's indentation or quote marks."""
    if ">" in indent:
        return len(line) if len(line) < len(indent) else len(indent)
    return min(len(indent), len(line) - len(line.lstrip(" \t")))


def _fence_facts(path: str, fence: _Fence, delegate: Delegate, root: pathlib.Path | None) -> FileFacts:
    lines = list(_commands(fence.lines)) if fence.language == "shell" else list(fence.lines)
    facts = delegate(path, "\n" * (fence.line - 1) + "\n".join(lines) + "\n", root=root)
    if any(fence.shifts):
        facts = _moved(facts, fence)
    launches = tuple(
        dataclasses.replace(
            launch,
            deployment=f"{path}#{fence.line}{launch.deployment.removeprefix(path)}",
            # A new line would need the block's indentation and prompt.
            settings=tuple(dataclasses.replace(setting, naming=None) for setting in launch.settings),
        )
        for launch in facts.launches
    )
    return dataclasses.replace(facts, launches=launches)


def _commands(lines: tuple[str, ...]) -> Iterator[str]:
    """Shell lines without prompts, output and ``<placeholders>``; every character keeps its column."""
    session = any(_PROMPT.match(line) for line in lines)
    continued = False
    for line in lines:
        prompt = _PROMPT.match(line)
        if session and prompt:
            line = " " * prompt.end() + line[prompt.end() :]
        elif session and not continued:
            line = ""
        elif session and line.startswith("> "):
            line = "  " + line[2:]
        continued = line.rstrip().endswith("\\")
        yield _PLACEHOLDER.sub(lambda m: "_" + m[1].replace(" ", "_") + "_", line)


_T = TypeVar("_T")


def _moved(thing: _T, fence: _Fence) -> _T:
    """`thing` with every Location in it moved right by the indentation of its lines."""
    if isinstance(thing, Location):
        return cast(_T, _moved_location(thing, fence))
    if isinstance(thing, tuple):
        return cast(_T, tuple(_moved(part, fence) for part in thing))
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        changes: dict[str, Any] = {}
        for item in dataclasses.fields(thing):
            before = getattr(thing, item.name)
            if isinstance(before, tuple) or dataclasses.is_dataclass(before):
                changes[item.name] = _moved(before, fence)
        return cast(_T, dataclasses.replace(cast(Any, thing), **changes))
    return thing


def _moved_location(where: Location, fence: _Fence) -> Location:
    def shift(line: int) -> int:
        row = line - fence.line
        return fence.shifts[row] if 0 <= row < len(fence.shifts) else 0

    column, end_column = where.column + shift(where.line), where.end_column + shift(where.end_line)
    return dataclasses.replace(where, column=column, end_column=end_column)
