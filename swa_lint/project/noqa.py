"""`# noqa` comments, as flake8 reads them: which lines they speak for, and for which codes.

A comment speaks for its line. In Python a string over several lines and lines joined by backslashes count as one, as
they do in flake8; in shell, YAML and Dockerfile lines that end in a backslash are one with the next. In a Dockerfile,
where an instruction in JSON form takes no comment, a comment line of its own speaks for the instruction below it.
`# flake8: noqa` on a line of its own speaks for the whole file.
"""

from __future__ import annotations

import enum
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from swa_lint.geometry import Location
from swa_lint.project.kinds import Kind

_CODES = r"(?::\s?(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?"
_INLINE = re.compile(r"# noqa" + _CODES, re.IGNORECASE)
_FILE = re.compile(r"# flake8[:=]\s*noqa" + _CODES, re.IGNORECASE)
_CODE = re.compile(r"[A-Z]+[0-9]+", re.IGNORECASE)
_OURS = re.compile(rb"noqa:\s?[^\n]*SWA", re.IGNORECASE)
_BREAK = re.compile(r"\r\n|\n|\r")
_NOT_PYTHON = (tokenize.TokenError, SyntaxError, RecursionError)
_HAS_LINE_COMMENTS = {Kind.SHELL, Kind.YAML, Kind.DOCKERFILE, Kind.TOML, Kind.MARKDOWN}


@dataclass(frozen=True)
class Suppression:
    """A noqa comment: it speaks for the lines `first` to `last` (`last` None: for the whole file).

    `codes` are upper-case codes or prefixes of codes (None: for every code); `where` is the noqa itself, without the
    rest of its comment; `gap` is the white space before it, `alone` says that only white space stands before it on its
    line, and `rest` is what follows it there.
    """

    where: Location
    first: int
    last: int | None
    codes: tuple[str, ...] | None
    gap: str = ""
    alone: bool = False
    rest: str = ""

    def covers(self, line: int, code: str) -> bool:
        """Whether a finding of `code` that begins on `line` is suppressed."""
        if self.last is not None and not self.first <= line <= self.last:
            return False
        return self.codes is None or code.startswith(self.codes)


class Noqa(enum.Enum):
    """What a file's noqa comments may be: none, some, or some with a code of this linter."""

    NONE = enum.auto()
    SOME = enum.auto()
    OURS = enum.auto()


def mentions_noqa(data: bytes) -> Noqa:
    """What noqa comments a file may hold; those of other linters count only where something is found."""
    if b"noqa" not in data and b"noqa" not in data.lower():
        return Noqa.NONE
    return Noqa.OURS if _OURS.search(data) else Noqa.SOME


def suppressions(path: str, text: str, kind: Kind) -> tuple[Suppression, ...]:
    """The noqa comments of a file, in order."""
    if kind is Kind.PYTHON:
        try:
            return tuple(_in_python(path, text))
        except _NOT_PYTHON:
            return tuple(_in_lines(path, text, kind))
    return tuple(_in_lines(path, text, kind)) if kind in _HAS_LINE_COMMENTS else ()


def spans(text: str, kind: Kind) -> Iterator[tuple[int, int]]:
    """The lines, first and last, that one noqa comment speaks for together."""
    if kind is Kind.PYTHON:
        try:
            yield from [lines for lines, _ in _python_spans(text)]
            return
        except _NOT_PYTHON:
            pass
    yield from _line_spans(_BREAK.split(text), kind)


def _in_python(path: str, text: str) -> Iterator[Suppression]:
    for lines, comments in _python_spans(text):
        for comment in comments:
            line, column = comment.start
            before = comment.line.split("\n")[line - comment.start[0]][:column]
            yield from _comment(path, before, comment.string, line, lines)


def _python_spans(text: str) -> Iterator[tuple[tuple[int, int], list[tokenize.TokenInfo]]]:
    """Lines that count as one, with their comments; raises what `tokenize` does."""
    first, last = 0, 0
    comments: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
        if token.type in (tokenize.DEDENT, tokenize.INDENT):
            continue
        first, last = first or token.start[0], max(last, token.end[0])
        if token.type == tokenize.COMMENT:
            comments.append(token)
        if token.type in (tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER):
            yield (first, last), comments
            first, last, comments = 0, 0, []


def _in_lines(path: str, text: str, kind: Kind) -> Iterator[Suppression]:
    lines = _BREAK.split(text)
    for first, last in _line_spans(lines, kind):
        for number in range(first, last + 1):
            line = lines[number - 1]
            at = _comment_start(line)
            if at is not None:
                yield from _comment(path, line[:at], line[at:], number, (first, last))


def _line_spans(lines: Sequence[str], kind: Kind) -> Iterator[tuple[int, int]]:
    """Lines that a backslash joins; in a Dockerfile an instruction, and the comments above it."""
    number = 0
    while number < len(lines):
        first = number
        while lines[number].endswith("\\") and number + 1 < len(lines):
            number += 1
        if kind is Kind.DOCKERFILE:
            while lines[number].lstrip().startswith("#") and number + 1 < len(lines):
                number += 1
            while lines[number].rstrip().endswith("\\") and number + 1 < len(lines):
                number += 1
        yield first + 1, number + 1
        number += 1


def _comment_start(line: str) -> int | None:
    """Where a line's comment starts: at a ``#`` that begins a word and stands in no quotes."""
    if "#" not in line:
        return None
    quote = ""
    for index, char in enumerate(line):
        if quote:
            if char == quote:
                quote = ""
        elif char in "'\"":
            if index == 0 or not line[index - 1].isalnum():
                quote = char
        elif char == "#" and (index == 0 or line[index - 1] in " \t;"):
            return index
    return None


def _comment(path: str, before: str, comment: str, line: int, lines: tuple[int, int]) -> Iterator[Suppression]:
    alone = not before.strip()
    whole_file = _FILE.match(comment) if alone else None
    found = whole_file or _INLINE.search(comment)
    if found is None:
        return
    listed = found.group("codes")
    codes = None if listed is None else tuple(code.upper() for code in _CODE.findall(listed))
    column = len(before) + 1
    where = Location(path, line, column + found.start(), line, column + found.end())
    text = before + comment[: found.start()]
    gap = text[len(text.rstrip()) :]
    first, last = (1, None) if whole_file else lines
    yield Suppression(where, first, last, codes, gap, alone and found.start() == 0, comment[found.end() :])
