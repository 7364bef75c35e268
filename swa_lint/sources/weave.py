"""Shell code inside a document: read by the shell source, its places moved back into the document's scalars."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterable

from swa_lint.geometry import Location
from swa_lint.sources import shell
from swa_lint.sources.argv import Variable
from swa_lint.sources.facts import Hop, Insertion, Launch, Problem, Setting
from swa_lint.sources.tree import Scalar, Source

_REFERENCE = re.compile(r"\$\{\w")
_KUBERNETES_REFERENCE = re.compile(r"\$\((\w+)\)")


@dataclasses.dataclass(frozen=True)
class Read:
    """What a script says, in places of the document."""

    launches: tuple[Launch, ...]
    problems: tuple[Problem, ...]
    depends: tuple[str, ...]


class Script:
    """A script put together from scalars and from assignments of the variables that it is run with."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._text: list[str] = []
        self._spans: list[tuple[int, int]] = []
        self._block: Scalar | None = None

    def assign(self, variables: Iterable[Variable]) -> None:
        """Set `variables` before what follows."""
        for variable in variables:
            if variable.scalar.source is self._source and "\n" not in variable.value:
                whole = variable.scalar.range(0, len(variable.value))
                self._add(f'export {variable.name}="', whole)
                spans = variable.scalar.spans or []
                for index in range(len(variable.value)):
                    span = spans[index] if len(spans) == len(variable.value) else whole
                    self._add(_escaped(variable.value, index), span)
                self._add('"\n', whole)

    def append(self, scalar: Scalar, known: Iterable[str] = (), *, compose: bool = False) -> bool:
        """Add a scalar's value; False when its characters cannot be placed. ``$(X)`` of a `known` X is a variable."""
        if scalar.source is not self._source or scalar.spans is None:
            return False
        if self._text:
            self._add(" " if self._block else "", (scalar.start, scalar.start))
        names = frozenset(known)
        value = _KUBERNETES_REFERENCE.sub(lambda m: f"${{{m[1]}}}" if m[1] in names else m[0], scalar.value)
        spans = scalar.spans
        if compose and "$$" in value:
            keep = [i for i, char in enumerate(value) if not (char == "$" and _odd_dollar(value, i))]
            value, spans = "".join(value[i] for i in keep), [spans[i] for i in keep]
        self._text.append(value)
        self._spans += spans
        self._block = scalar
        return True

    def _add(self, text: str, span: tuple[int, int]) -> None:
        self._text.append(text)
        self._spans += [span] * len(text)

    def read(self, root: pathlib.Path | None) -> Read:
        """The script's launches, problems and dependencies."""
        text = "".join(self._text)
        facts = shell.read(self._source.path, text, root=root)
        back = _Back(self._source, text, self._spans, self._block)
        launches = tuple(back.launch(launch) for launch in facts.launches)
        problems = tuple(dataclasses.replace(p, where=back.location(p.where)) for p in facts.problems)
        return Read(launches, problems, facts.depends)


def _escaped(value: str, index: int) -> str:
    """A character of a value as it stands between double quotes; ``${X}`` stays a reference."""
    char = value[index]
    special = char in '"\\`' or (char == "$" and not _REFERENCE.match(value, index))
    return f"\\{char}" if special else char


def _odd_dollar(value: str, index: int) -> bool:
    """Whether the dollar sign at `index` is the second of a pair (compose writes ``$$`` for ``$``)."""
    start = index
    while start and value[start - 1] == "$":
        start -= 1
    return (index - start) % 2 == 1


class _Back:
    """From places in a script to places in the document."""

    def __init__(self, source: Source, text: str, spans: list[tuple[int, int]], last: Scalar | None) -> None:
        self._source = source
        self._text = text
        self._spans = spans
        self._last = last
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def _offset(self, line: int, column: int) -> int:
        if line > len(self._starts):
            return len(self._text)
        return min(self._starts[line - 1] + column - 1, len(self._text))

    def _offsets(self, where: Location) -> tuple[int, int]:
        return self._offset(where.line, where.column), self._offset(where.end_line, where.end_column)

    def location(self, where: Location) -> Location:
        if where.path != self._source.path or not self._spans:
            return where
        start, end = self._offsets(where)
        if start >= end:
            at = self._spans[start][0] if start < len(self._spans) else self._spans[-1][1]
            return self._source.location(at, at)
        return self._source.location(self._spans[start][0], self._spans[end - 1][1])

    def removal(self, where: Location | None) -> Location | None:
        """The range to delete; one of whole lines takes the document's indentation along."""
        if where is None or where.path != self._source.path:
            return where
        start, end = self._offsets(where)
        if start >= end:
            return None
        first, last = self._spans[start][0], self._spans[end - 1][1]
        line = self._source.line_start(first)
        breaks = "\n" in self._source.text[self._spans[end - 1][0] : last]
        if breaks and not self._source.text[line:first].strip():
            first, last = line, self._source.line_start(last)
        return self._source.location(first, last)

    def insertion(self, found: Insertion | None) -> Insertion | None:
        if found is None or found.where.path != self._source.path:
            return found
        where = self.location(found.where)
        template = found.template
        if "\n" in template:
            if self._last is not None and self._last.style == "|":
                line = self._source.text[self._source.line_start(self._last.end - 1) :]
                own = len(line) - len(line.lstrip(" "))
                inside = self._text.rstrip().rpartition("\n")[2]
                extra = own - (len(inside) - len(inside.lstrip(" ")))
                template = template.replace("\n", "\n" + " " * max(extra, 0))
            else:
                template = " {flag} {value}"
        return Insertion(where, template)

    def hop(self, hop: Hop) -> Hop:
        return Hop(self.location(hop.where), hop.message)

    def setting(self, setting: Setting) -> Setting:
        return dataclasses.replace(
            setting,
            where=self.location(setting.where),
            value_where=setting.value_where and self.location(setting.value_where),
            removal=self.removal(setting.removal),
            via=tuple(self.hop(hop) for hop in setting.via),
        )

    def launch(self, launch: Launch) -> Launch:
        return dataclasses.replace(
            launch,
            where=self.location(launch.where),
            settings=tuple(self.setting(setting) for setting in launch.settings),
            insertion=self.insertion(launch.insertion),
        )
