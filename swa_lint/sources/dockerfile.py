"""Dockerfiles: the server that an image starts, with its ENV.

Instructions become the shell text that they stand for, part by part, so that the shell source reads them with their
places in the file.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from swa_lint.geometry import Location
from swa_lint.sources.facts import FileFacts, Insertion, Launch, Setting
from swa_lint.sources.positions import Positions
from swa_lint.sources.shell import mentions, read_source
from swa_lint.sources.shell.source import Joined, Part, Source

_KEYWORD = re.compile(r"[ \t]*([A-Za-z]+)(?:[ \t]+|$)")
_HEREDOC = re.compile(r"<<-?([\"']?)(\w+)\1")
_OPTION = re.compile(r"--[\w-]+=\S+\s+")
_ASSIGNMENT = re.compile(r"""(\w+)=("(?:[^"\\]|\\.)*"|'[^']*'|(?:[^\s\\]|\\.)*)""", re.DOTALL)


@dataclass(frozen=True)
class _Instruction:
    """One instruction; `start`..`end` are its arguments, `first` and `last` the lines it stands on (offsets)."""

    keyword: str
    first: int
    start: int
    end: int
    last: int


@dataclass
class _Stage:
    name: str
    variables: list[_Instruction] = field(default_factory=list)
    entrypoint: _Instruction | None = None
    command: _Instruction | None = None


def read(path: str, text: str, *, root: pathlib.Path | None = None) -> FileFacts:
    """The facts of a Dockerfile: what the last stage runs, and any stage that has a command of its own."""
    if not mentions(text):
        return FileFacts(path)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    positions = Positions(path, text)
    plain = _Plain(text, positions)
    launches: list[Launch] = []
    depends: list[str] = []
    for stage in _stages(text):
        facts = _stage_facts(path, plain, stage, root)
        launches += [_placed(launch, plain, stage) for launch in facts.launches]
        depends += facts.depends
    return FileFacts(path, launches=tuple(launches), depends=tuple(dict.fromkeys(depends)))


class _Plain(Source):
    """The file's text without a shell parse tree: parts of it go into shell texts."""

    def __init__(self, text: str, positions: Positions) -> None:
        self.text = text
        self.where = positions.where


def _instructions(text: str) -> Iterator[_Instruction]:
    escape = re.match(r"\s*#\s*escape\s*=\s*(\S)", text)
    mark = escape[1] if escape else "\\"
    lines = text.splitlines(keepends=True)
    offset = index = 0
    while index < len(lines):
        first = offset
        match = _KEYWORD.match(lines[index])
        body: list[str] = []
        while index < len(lines):
            line = lines[index]
            offset += len(line)
            index += 1
            body.append(line)
            inside = len(body) > 1 and line.lstrip().startswith("#")
            if not inside and not line.rstrip().endswith(mark):
                break
        end = first + len("".join(body).rstrip())
        if match and match[1].upper() in ("RUN", "COPY", "ADD"):
            for heredoc in _HEREDOC.finditer("".join(body)):
                while index < len(lines) and lines[index].strip() != heredoc[2]:
                    offset += len(lines[index])
                    index += 1
        if match:
            yield _Instruction(match[1].upper(), first, min(first + match.end(), end), end, offset)


def _stages(text: str) -> list[_Stage]:
    stages: list[_Stage] = []
    named: dict[str, _Stage] = {}
    for item in _instructions(text):
        arguments = text[item.start : item.end]
        if item.keyword == "FROM":
            match = re.match(r"(?:--\S+\s+)*(\S+)(?:\s+[Aa][Ss]\s+(\S+))?", arguments)
            base = named.get(match[1].lower()) if match else None
            stage = replace(base, variables=list(base.variables)) if base else _Stage("")
            stages.append(stage)
            if match and match[2]:
                named[match[2].lower()] = stage
        elif not stages:
            continue
        elif item.keyword in ("ENV", "ARG"):
            stages[-1].variables.append(item)
        elif item.keyword == "ENTRYPOINT":
            stages[-1].entrypoint, stages[-1].command = item, None
        elif item.keyword == "CMD":
            stages[-1].command = item
    return stages


def _stage_facts(path: str, plain: _Plain, stage: _Stage, root: pathlib.Path | None) -> FileFacts:
    parts: list[Part] = []
    for item in stage.variables:
        parts += _variable_parts(item, plain)
    runs = [item for item in (stage.entrypoint, stage.command) if item is not None]
    if stage.entrypoint is not None and _items(plain.text, stage.entrypoint) is None:
        runs = [stage.entrypoint]  # the shell form ignores CMD
    for item in runs:
        parts += [*_command_parts(item, plain), _added(" ", plain, item.end)]
    if not runs:
        return FileFacts(path)
    return read_source(path, Joined(parts), deployment=path, language="dockerfile", root=root)


def _added(text: str, plain: _Plain, at: int) -> Part:
    """Text that the file does not have."""
    return Part(text, plain, at, at)


def _variable_parts(item: _Instruction, plain: _Plain) -> Iterator[Part]:
    """``ENV A=1 B=2`` and ``ENV A 1`` as an export, ``ARG A=1`` as a default."""
    text = plain.text
    arguments = text[item.start : item.end]
    pairs = list(_ASSIGNMENT.finditer(text, item.start, item.end))
    if not pairs or not re.match(r"\w+=", arguments):
        old = re.match(r"(\w+)[ \t]+(.+)", arguments, re.DOTALL)
        if old and item.keyword == "ENV":
            value = item.start + old.start(2)
            yield from (_added("export ", plain, item.start), Part(old[1], plain, item.start, item.start + len(old[1])))
            yield from (_added('="', plain, value), Part(old[2].replace('"', ""), plain, value, item.end))
            yield _added('"\n', plain, item.end)
        return
    for match in pairs:
        if item.keyword == "ENV":
            yield from (_added("export ", plain, match.start()), Part(match[0], plain, match.start(), match.end()))
            yield _added("\n", plain, match.end())
        else:
            yield _added(f"{match[1]}=${{{match[1]}:-", plain, match.start())
            yield from (Part(match[2], plain, match.start(2), match.end(2)), _added("}\n", plain, match.end()))


def _items(text: str, item: _Instruction) -> list[tuple[str, int, int]] | None:
    """The strings of the JSON form with their ranges (quotes included); None for the shell form."""
    arguments = text[item.start : item.end]
    joined = re.sub(r"\\\n", "  ", arguments)
    try:
        values = json.loads(joined)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return None
    ranges = [m.span() for m in re.finditer(r'"(?:[^"\\]|\\.)*"', joined)]
    return [(value, item.start + a, item.start + b) for value, (a, b) in zip(values, ranges, strict=True)]


def _command_parts(item: _Instruction, plain: _Plain) -> Iterator[Part]:
    items = _items(plain.text, item)
    if items is None:
        yield Part(plain.text[item.start : item.end], plain, item.start, item.end)
        return
    for value, start, end in items:
        yield _added("'", plain, start + 1)
        if plain.text[start + 1 : end - 1] == value and "'" not in value:
            yield Part(value, plain, start + 1, end - 1)
        else:
            yield Part(value.replace("'", "'\\''"), plain, start + 1, end - 1)
        yield _added("' ", plain, end - 1)


def _placed(launch: Launch, plain: _Plain, stage: _Stage) -> Launch:
    """A launch with edits in the syntax of the instruction that each setting stands in."""
    settings = tuple(_setting(setting, plain, stage) for setting in launch.settings)
    runs = [item for item in (stage.entrypoint, stage.command) if item is not None]
    items = _items(plain.text, runs[-1]) if runs else None
    insertion = launch.insertion
    if items and not any(" " in value for value, _, _ in items):
        end = items[-1][2]
        insertion = Insertion(plain.where(end, end), ', "{flag}", "{value}"')
    elif items:
        insertion = None
    return replace(launch, settings=settings, insertion=insertion)


def _setting(setting: Setting, plain: _Plain, stage: _Stage) -> Setting:
    for item in stage.variables:
        if _holds(plain.where(item.start, item.end), setting.where):
            return replace(setting, removal=_variable_removal(setting, item, plain))
    for run in (stage.entrypoint, stage.command):
        if run is not None and _holds(plain.where(run.start, run.end), setting.where):
            items = _items(plain.text, run)
            return setting if items is None else _json_setting(setting, items, plain)
    return setting


def _variable_removal(setting: Setting, item: _Instruction, plain: _Plain) -> Location | None:
    pairs = list(_ASSIGNMENT.finditer(plain.text, item.start, item.end))
    alone = pairs and plain.where(pairs[0].start(), pairs[0].end()) == setting.where
    if len(pairs) < 2 and (alone or not pairs):
        return plain.where(item.first, item.last)
    for index, match in enumerate(pairs):
        if plain.where(match.start(), match.end()) == setting.where:
            if index:
                return plain.where(pairs[index - 1].end(), match.end())
            return plain.where(match.start(), pairs[1].start())
    return setting.removal


def _json_setting(setting: Setting, items: Sequence[tuple[str, int, int]], plain: _Plain) -> Setting:
    inside = [i for i, (_, start, end) in enumerate(items) if _touches(plain.where(start, end), setting.where)]
    value = next(
        (i for i in items if setting.value_where and _holds(plain.where(i[1], i[2]), setting.value_where)), None
    )
    if not inside or value is None or " " in value[0]:
        return replace(setting, removal=None)
    first, last = inside[0], inside[-1]
    start, end = items[first - 1][2] if first else items[0][1], items[last][2]
    if not first and last + 1 < len(items):
        end = items[last + 1][1]
    where = plain.where(items[first][1], items[last][2])
    text = value[0].partition("=")[2] if first == last else value[0]
    return replace(setting, where=where, text=text, removal=plain.where(start, end))


def _holds(outer: Location, inner: Location) -> bool:
    return (outer.line, outer.column) <= (inner.line, inner.column) and (inner.end_line, inner.end_column) <= (
        outer.end_line,
        outer.end_column,
    )


def _touches(item: Location, where: Location) -> bool:
    return (item.line, item.column) < (where.end_line, where.end_column) and (where.line, where.column) < (
        item.end_line,
        item.end_column,
    )
