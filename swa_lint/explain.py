"""SGLang's geometry errors in plain words: which pool had what, what sets it, which rule finds it, what to change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from swa_lint.sglang.advice import CAUSES, CHANGES, LAST_RESORT
from swa_lint.sglang.errors import ERRORS, POOLS, RULES, EngineError

# Colour codes stand between the words of a message in a terminal's log.
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Difference:
    """One number of the error and its value on both sides; `differs` tells whether this one is at fault."""

    field: str
    values: tuple[str, str]

    @property
    def differs(self) -> bool:
        return self.values[0] != self.values[1]


@dataclass(frozen=True)
class Explanation:
    """One error of the engine, explained; `quote` is its text as found, `sides` name what the values belong to."""

    title: str
    releases: str
    quote: str
    line: int
    sides: tuple[str, str]
    differences: tuple[Difference, ...]
    causes: tuple[str, ...]
    rules: tuple[str, ...]
    changes: tuple[str, ...]


def explain(text: str) -> tuple[Explanation, ...]:
    """The geometry errors in a traceback or log, in order, each kind and each pair of values once; empty for none."""
    text = _COLOUR.sub("", text)
    found = [(match.start(), error, match) for error in ERRORS for match in error.pattern.finditer(text)]
    explanations: dict[tuple[object, ...], Explanation] = {}
    for start, error, match in sorted(found, key=lambda item: item[0]):
        explanation = _explanation(error, match, text.count("\n", 0, start) + 1)
        explanations.setdefault((explanation.title, explanation.differences), explanation)
    return tuple(explanations.values())


def render(explanation: Explanation) -> str:
    """An explanation as lines of plain text."""
    return "\n".join(_lines(explanation)) + "\n"


def _explanation(error: EngineError, match: re.Match[str], line: int) -> Explanation:
    differences = _differences(error, match)
    at_fault = [difference.field for difference in differences if difference.differs]
    changes = error.changes or tuple(dict.fromkeys(CHANGES[field] for field in at_fault))
    return Explanation(
        title=error.title,
        releases=error.releases,
        quote=" ".join(match.group().split()),
        line=line,
        sides=error.sides,
        differences=differences,
        causes=error.causes or _of_fields(CAUSES, at_fault),
        rules=error.rules or tuple(sorted(_of_fields(RULES, at_fault))),
        changes=(*changes, LAST_RESORT) if error.sides == POOLS else changes,
    )


def _differences(error: EngineError, match: re.Match[str]) -> tuple[Difference, ...]:
    if not error.fields:
        return ()
    target, draft = ([value.strip() for value in match[side].rstrip(", ").split(",")] for side in ("target", "draft"))
    return tuple(Difference(field, (a, b)) for field, a, b in zip(error.fields, target, draft, strict=False))


def _of_fields(table: dict[str, tuple[str, ...]], fields: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry for field in fields for entry in table.get(field, ())))


def _lines(explanation: Explanation) -> Iterator[str]:
    yield f"{explanation.title} (SGLang {explanation.releases})"
    yield f"  line {explanation.line}: {explanation.quote}"
    width = max((len(difference.field) for difference in explanation.differences), default=0)
    for difference in explanation.differences:
        (one, other), (a, b) = explanation.sides, difference.values
        verdict = f"{one} {a}, {other} {b}  <- differs" if difference.differs else f"{a} on both"
        yield f"  {difference.field:{width}}  {verdict}"
    yield from _section("What can set it:", explanation.causes)
    if explanation.rules:
        yield f"Found before the start by: {', '.join(explanation.rules)} (`swa-lint rule CODE` tells more)"
    yield from _section("What to change:", explanation.changes)


def _section(heading: str, entries: tuple[str, ...]) -> Iterator[str]:
    if entries:
        yield heading
        yield from (f"  - {entry}" for entry in entries)
