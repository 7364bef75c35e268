"""Command lines in Python strings: read by the shell source, their places moved back to where each part stands."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from swa_lint.geometry import Knob, Location, Unknown, Value
from swa_lint.sources import shell
from swa_lint.sources.facts import Hop, Insertion, Launch, Setting
from swa_lint.sources.launch import launch_role
from swa_lint.sources.python.literals import place_of
from swa_lint.sources.python.values import Lit, Piece, Val
from swa_lint.sources.python.words import ValueOf, hops, text_at
from swa_lint.sources.shell.source import Source

_UNKNOWN = re.compile(r"\$?\{?(UNKNOWN_PART_(\d+))\}?")


def read_command(
    pieces: Sequence[Piece], path: str, value_of: ValueOf, nowhere: Location
) -> list[tuple[Launch, dict[str, Val]]]:
    """The launches of a command line, each with the values behind its settings by field name."""
    back = _Back(pieces, value_of, nowhere)
    source = Source(back.text, lambda start, end: Location(path, 1, start + 1, 1, end + 1))
    facts = shell.read_source(path, source, deployment=path, language="python")
    return [back.launch(launch) for launch in facts.launches]


class _Back:
    """From offsets in the command line to places in the source; unknown parts are shell variables in it."""

    def __init__(self, pieces: Sequence[Piece], value_of: ValueOf, nowhere: Location) -> None:
        self._pieces = pieces
        self._value_of = value_of
        self._nowhere = nowhere
        self._starts: list[int] = []
        self.text = ""
        for index, piece in enumerate(pieces):
            self._starts.append(len(self.text))
            known = piece.value is None or isinstance(piece.value.core, Lit)
            self.text += piece.text if known else f"${{UNKNOWN_PART_{index}}}"

    def _end_of(self, index: int) -> int:
        return self._starts[index + 1] if index + 1 < len(self._starts) else len(self.text)

    def _pieces_in(self, start: int, end: int) -> list[tuple[Piece, int, int]]:
        """The pieces in a range, each with the part of it that is in the range."""
        found = []
        for index, piece in enumerate(self._pieces):
            first, last = self._starts[index], self._end_of(index)
            if first < end and start < last:
                found.append((piece, max(start, first) - first, min(end, last) - first))
        return found

    def _place(self, start: int, end: int) -> Location | None:
        inside = self._pieces_in(start, end)
        places = [_place(piece, first, last) for piece, first, last in inside]
        if not places or places[0] is None:
            return None
        ends = [place for place in places if place is not None and place.path == places[0].path]
        last_place = (
            ends[-1] if (ends[-1].end_line, ends[-1].end_column) >= (places[0].line, places[0].column) else ends[0]
        )
        begin = places[0]
        return Location(begin.path, begin.line, begin.column, last_place.end_line, last_place.end_column)

    def location(self, where: Location) -> Location:
        return self._place(where.column - 1, where.end_column - 1) or self._nowhere

    def launch(self, launch: Launch) -> tuple[Launch, dict[str, Val]]:
        values: dict[str, Val] = {}
        settings = tuple(self._setting(setting, values) for setting in launch.settings)
        found = dataclasses.replace(
            launch,
            where=self.location(launch.where),
            settings=settings,
            insertion=self._insertion(launch.insertion),
            role=launch_role(settings),
        )
        return found, values

    def _setting(self, setting: Setting, values: dict[str, Val]) -> Setting:
        value = self._value(setting.value)
        via = tuple(Hop(self.location(hop.where), hop.message) for hop in setting.via)
        where = self.location(setting.where)
        if setting.value_where is None:
            return dataclasses.replace(setting, value=value, where=where, removal=None, via=via)
        start, end = setting.value_where.column - 1, setting.value_where.end_column - 1
        inside = [part for part in self._pieces_in(start, end) if part[0].text[part[1] : part[2]].strip("\"'")]
        only = inside[0][0] if len(inside) == 1 else None
        if only is None or only.value is None:
            return dataclasses.replace(
                setting,
                value=value,
                where=where,
                value_where=self._place(start, end),
                removal=self._removal(setting.removal),
                via=via,
            )
        val = only.value
        values[setting.name] = val
        value = self._value_of(val)
        own = place_of(only) or (val.expr.location if val.expr is not None else None)
        if val.given and val.where is not None:
            hop = Hop(where, "the command line takes it here")
            return Setting(
                setting.name,
                value,
                val.where.location,
                text_at(val.expr, only.text),
                val.expr.location if val.expr is not None else None,
                None,
                (*hops(val), hop),
            )
        text = text_at(val.expr, only.text) if own is not None else only.text
        flag = self._flag_item(setting.where.column - 1)
        if only.where is None and flag is not None and own is not None and own.path == flag.path:
            where = cut = Location(flag.path, flag.line, flag.column, own.end_line, own.end_column)
            return Setting(setting.name, value, where, text, own, cut, (*hops(val), *_assigned(val)))
        return Setting(setting.name, value, where, text, own, None, (*hops(val), *_assigned(val)))

    def _flag_item(self, start: int) -> Location | None:
        """The string that is the flag at `start` and nothing else, as in a list that was joined."""
        found = (piece for piece, first, _ in self._pieces_in(start, start + 1) if first == 0)
        flag = next((piece for piece in found if re.fullmatch(r"--[\w-]+", piece.text)), None)
        return flag.where.location if flag is not None and flag.where is not None else None

    def _value(self, value: Value) -> Value:
        """A value of the shell with the Python values that its unknown parts are."""
        match = _UNKNOWN.fullmatch(value.name) if isinstance(value, Knob) else None
        if match is not None:
            val = self._pieces[int(match[2])].value
            return self._value_of(val) if val is not None else Unknown()
        return Unknown(_UNKNOWN.sub("...", str(value))) if _UNKNOWN.search(str(value)) else value

    def _removal(self, where: Location | None) -> Location | None:
        if where is None:
            return None
        inside = self._pieces_in(where.column - 1, where.end_column - 1)
        same = {(piece.where, piece.value is None) for piece, _, _ in inside}
        return self.location(where) if len(same) == 1 and inside[0][0].value is None else None

    def _insertion(self, found: Insertion | None) -> Insertion | None:
        if found is None:
            return None
        end = found.where.column - 1
        inside = self._pieces_in(end - 1, end) if end else []
        if not inside or inside[0][0].where is None or inside[0][0].value is not None:
            return None
        place = self._place(end - 1, end)
        if place is None:
            return None
        at = Location(place.path, place.end_line, place.end_column, place.end_line, place.end_column)
        return Insertion(at, " {flag} {value}")


def _place(piece: Piece, first: int, last: int) -> Location | None:
    """Where a part of a piece stands; a value from elsewhere stands where it was given."""
    if piece.where is None:
        val = piece.value
        span = (val.where if val.given else val.expr) if val is not None else None
        return span.location if span is not None else None
    return place_of(piece, first, last)


def _assigned(val: Val) -> tuple[Hop, ...]:
    return () if val.where is None else (Hop(val.where.location, "value comes from here"),)
