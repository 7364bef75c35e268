"""Page sizes written out in a script, and the variable above them that could hold them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import tree_sitter

from swa_lint.geometry import Location
from swa_lint.sources.facts import Launch, Naming, Setting
from swa_lint.sources.shell.source import Source

_NUMBER = re.compile(r"([\"']?)\d+\1")
_NAMES = ("PAGE_SIZE", "KV_PAGE_SIZE", "PD_PAGE_SIZE")
# Text in which the script's own variables are not read, or not as they are when a line above has run.
_UNREAD = frozenset({"raw_string", "ansi_c_string", "heredoc_body", "comment", "ERROR"})


def with_naming(launches: Sequence[Launch], source: Source, path: str) -> tuple[Launch, ...]:
    """The launches, with a name for each page size that the script `source` itself writes out."""
    name = next((name for name in _NAMES if not re.search(rf"\b{name}\b", source.text)), None)
    if name is None:
        return tuple(launches)
    return tuple(
        replace(launch, settings=tuple(_named(setting, source, path, name) for setting in launch.settings))
        for launch in launches
    )


def _named(setting: Setting, source: Source, path: str, name: str) -> Setting:
    place = setting.value_where
    if setting.name != "page_size" or place is None or place.path != path or not _NUMBER.fullmatch(setting.text):
        return setting
    read = _read(source, place)
    above = _line_above(source, place)
    if read is None or above is None:
        return setting
    return replace(setting, naming=Naming(path, name, above, f"{name}={{value}}\n", place, read))


def _read(source: Source, place: Location) -> str | None:
    """How a variable is read in the place of a value; None where the script's variables are not."""
    start = (place.line - 1, _bytes(source, place.line, place.column))
    end = (place.end_line - 1, _bytes(source, place.end_line, place.end_column))
    node = source.tree.root_node.descendant_for_point_range(start, end)
    quoted = False
    while node is not None:
        if node.type in _UNREAD:
            whole = node.type == "raw_string" and (node.start_point, node.end_point) == (start, end)
            if not whole:
                return None
        quoted = quoted or (node.type == "string" and node.start_point < start)
        node = node.parent
    return "${name}" if quoted else '"${name}"'


def _line_above(source: Source, place: Location) -> Location | None:
    """The start of the line on which the script's statement around `place` begins, its comment above it included."""
    statements = source.tree.root_node.named_children
    around = [child for child in statements if child.start_point.row < place.line <= child.end_point.row + 1]
    if not around:
        return None
    row = around[0].start_point.row
    if any(child.start_point.row < row <= child.end_point.row and child.end_point.column for child in statements):
        return None
    comments = {child.start_point.row for child in statements if child.type == "comment" and _prose(child)}
    while row - 1 in comments:
        row -= 1
    return Location(place.path, row + 1, 1, row + 1, 1)


def _prose(comment: tree_sitter.Node) -> bool:
    """Whether a comment belongs to what follows: ``#!`` and ``#SBATCH`` lines do not."""
    return comment.start_point.column == 0 and (comment.text or b"").startswith(b"# ")


def _bytes(source: Source, line: int, column: int) -> int:
    """A column in characters, from 1, as an offset in bytes."""
    text = source.text.split("\n")[line - 1]
    return len(text[: column - 1].encode("utf-8", "surrogatepass"))
