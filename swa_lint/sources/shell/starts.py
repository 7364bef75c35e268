"""A command of a script that starts a server: its settings, where a flag can be taken out or put in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from swa_lint.geometry import Const, Location
from swa_lint.sglang.flags import field_of_variable, server_entry
from swa_lint.sources.facts import Insertion, Launch, Setting
from swa_lint.sources.launch import Arg, build_launch
from swa_lint.sources.shell.conditions import settled
from swa_lint.sources.shell.context import Context
from swa_lint.sources.shell.source import Source
from swa_lint.sources.shell.state import Started, State
from swa_lint.sources.shell.words import Field, Origin, Piece, argument, value_of

_TEMPLATE = " {flag} {value}"


def started(words: Sequence[Field], place: tuple[Source, int, int], state: State, context: Context) -> Started | None:
    """The server that a command with `words` starts, or None; `place` is the command with its continuation lines."""
    entry = server_entry([word.text for word in words])
    if entry is None:
        return None
    arguments = [_argument(word, state) for word in words]
    ranges = {id(arg): (word.source, word.start, word.end) for arg, word in zip(arguments, words, strict=True)}

    def removal(flag: Arg, value: Arg | None) -> Location | None:
        source, start, end = ranges[id(flag)]
        last, _, stop = ranges[id(flag if value is None else value)]
        return flag_removal(source, start, stop) if last is source and stop >= end else None

    given = variable_settings(words[: entry.index])
    source, start, end = place
    launch = build_launch(
        arguments,
        where=source.where(start, end),
        deployment=context.deployment,
        language=context.language,
        env=(*context.env, *state.exported.values(), *given),
        role_hint=context.role_hint,
        removal=removal,
    )
    if launch is None:
        return None
    origins = _origins(launch, words)
    return Started(replace(launch, insertion=_insertion(launch, words, place)), state.tags, origins)


def _argument(word: Field, state: State) -> Arg:
    arg = argument(word)
    role = settled(arg.value, state)
    return arg if role is None else replace(arg, text=role, value=Const(role))


def variable_settings(words: Sequence[Field]) -> list[Setting]:
    """The settings of ``NAME=VALUE`` words before a command (``env``, ``docker run -e``)."""
    pairs = zip((None, *words), words, strict=False)
    return [setting for before, word in pairs if (setting := _variable_setting(before, word)) is not None]


def _variable_setting(before: Field | None, word: Field) -> Setting | None:
    match = re.match(r"(?:--env=|-e)?(\w+)=", word.text)
    name = field_of_variable(match[1]) if match else None
    if match is None or name is None or not word.pieces or not word.pieces[0].exact:
        return None
    first = word.pieces[0]
    rest: tuple[Piece, ...] = tuple(word.pieces[1:])
    tail = first.text[len(match[0]) :]
    if tail:
        rest = (replace(first, text=tail, start=first.end - len(tail)), *rest)
    start = first.start + len(match[0])
    quote = word.written[:1] in ("'", '"')
    value_where = word.source.where(start, word.end - quote)
    text = word.source.text[start : word.end - quote]
    option = before is not None and before.text in ("-e", "--env") and before.source is word.source
    removal = flag_removal(word.source, before.start if before is not None and option else word.start, word.end)
    return Setting(name, value_of(rest), word.where, text, value_where, removal)


def _origins(launch: Launch, words: Sequence[Field]) -> dict[str, Origin]:
    by_place = {word.where: word.origin for word in words if word.origin is not None}
    found = {}
    for setting in launch.settings:
        origin = by_place.get(setting.value_where) if setting.value_where is not None else None
        if origin is not None:
            found[setting.name] = origin
    return found


def _insertion(launch: Launch, words: Sequence[Field], place: tuple[Source, int, int]) -> Insertion | None:
    """After the last word, or after the mode where the mode comes from an array or a call that is this server's own."""
    source, start, end = place
    mode = launch.get("disaggregation_mode")
    own = source.where(start, end)
    last: Field | None
    if mode is None or mode.value_where is None or within(mode.value_where, own):
        last = next((w for w in reversed(words) if w.source is source and start <= w.start and w.end <= end), None)
        if last is not None and source.one_place(last.start, last.end):
            return _after(source.where(last.start, end))
        return None
    last = next((word for word in words if word.where == mode.value_where), None)
    if last is None:
        # The call passes the mode: a flag can follow only where it passes words through (``"$@"``).
        line = (mode.value_where.path, mode.value_where.line)
        passed = [w for w in words if (w.where.path, w.where.line) == line and not within(w.where, own)]
        last = passed[-1] if passed else None
    return _after(last.where) if last is not None and last.source.one_place(last.start, last.end) else None


def _after(where: Location) -> Insertion:
    return Insertion(
        Location(where.path, where.end_line, where.end_column, where.end_line, where.end_column), _TEMPLATE
    )


def within(inner: Location, outer: Location) -> bool:
    """Whether one range lies in another."""
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return (
        outer.path == inner.path
        and starts
        and (inner.end_line, inner.end_column)
        <= (
            outer.end_line,
            outer.end_column,
        )
    )


def flag_removal(source: Source, start: int, end: int) -> Location | None:
    """What to delete so that ``text[start:end]`` goes without a hole: blanks, its line, the backslash before it."""
    if not source.one_place(start, end):
        return None
    left, right = _removal_range(source.text, start, end)
    return source.where(left, right) if source.one_place(left, right) else source.where(start, end)


def _removal_range(text: str, start: int, end: int) -> tuple[int, int]:
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    before, after = text[line_start:start], text[end:line_end]
    if _statement_alone(before, after):
        return line_start, min(line_end + 1, len(text))
    if before.strip() or after.strip() not in ("", "\\"):
        blanks = len(before) - len(before.rstrip(" \t"))
        if before.strip():
            return start - blanks, end
        return start, end + len(after) - len(after.lstrip(" \t"))
    previous = text[:line_start]
    if after.strip() == "" and previous.endswith("\\\n"):
        # The last line of a continued command: the backslash of the line above goes too.
        return len(previous[:-2].rstrip(" \t")), end
    return line_start, min(line_end + 1, len(text))


def _statement_alone(before: str, after: str) -> bool:
    """Whether the line does nothing but append this flag (``A+=(--page-size 16)``, ``A+=" ..."``) or set this variable."""
    appends = re.fullmatch(r"""\s*\w+\+=(\(|"|')\s*""", before) and re.fullmatch(r"""\s*(\)|"|')\s*;?\s*""", after)
    return bool(appends) or bool(
        re.fullmatch(r"\s*(export|declare -x)?\s*", before) and not after.strip() and "e" in before
    )
