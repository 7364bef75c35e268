"""The report for people: the draft's value underlined, the target's line beneath it, and what to write instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Severity
from swa_lint.fixes.apply import Documents
from swa_lint.geometry import Location
from swa_lint.project.text import Lines
from swa_lint.report.concise import one_line
from swa_lint.report.excerpt import underlined, visible
from swa_lint.report.result import Result

Segment = tuple[str, str]
"""Text with the name of a rich style; an empty name is plain text."""

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
_MAX_CHANGED_LINES = 8


def render(result: Result) -> str:
    """The report as plain text."""
    return "".join(text for text, _ in segments(result))


def segments(result: Result) -> Iterator[Segment]:
    """The report, piece by piece."""
    page = _Page(result)
    for finding in result.findings:
        yield from page.finding(finding)
    yield from _summary(result)


def _summary(result: Result) -> Iterator[Segment]:
    count = len(result.findings)
    if not count:
        yield "No findings", "bold green"
        yield f" in {_files(result.files)}.\n", ""
        return
    yield f"{count} finding{'s' * (count != 1)}", "bold"
    yield f" in {_files(result.files)}", ""
    safe, unsafe = result.fixable(Applicability.SAFE), result.fixable(Applicability.UNSAFE)
    hints = [f"{safe} fixable with --fix"] * bool(safe) + [f"{unsafe} more with --unsafe-fixes"] * bool(unsafe)
    yield f" ({', '.join(hints)}).\n" if hints else ".\n", ""


def _files(count: int) -> str:
    return f"{count} file{'s' * (count != 1)}"


class _Page:
    def __init__(self, result: Result) -> None:
        self.result = result
        self._lines: dict[str, Lines | None] = {}

    def finding(self, finding: Finding) -> Iterator[Segment]:
        where = finding.where
        yield f"{visible(where.path)}:{where.line}:{where.column}: ", "bold"
        yield f"{finding.code} ", _STYLES[finding.severity]
        yield f"{finding.severity.value}: {visible(one_line(finding.message))}\n", ""
        related = [item for item in finding.related if self._file(item.where.path) is not None]
        gutter = max([len(str(place.line)) for place in (where, *(item.where for item in related))])
        yield from self._excerpt(where, gutter, _STYLES[finding.severity], self._sides(finding))
        for item in related:
            if item.where.path != where.path:
                yield f"{' ' * gutter} --> {visible(item.where.path)}:{item.where.line}\n", "blue"
            yield from self._excerpt(item.where, gutter, "blue", one_line(item.message))
        yield from self._remedy(finding, gutter)
        yield "\n", ""

    @staticmethod
    def _sides(finding: Finding) -> str:
        draft, target = finding.draft, finding.target
        return "" if draft is None or target is None else f"{draft.value}, the other side has {target.value}"

    def _excerpt(self, where: Location, gutter: int, style: str, label: str) -> Iterator[Segment]:
        lines = self._file(where.path)
        if lines is None or not lines.line(where.line).strip():
            return
        line, marks = underlined(lines, where)
        yield f"{where.line:>{gutter}} | ", "blue"
        yield f"{line}\n", ""
        yield f"{' ' * gutter} | ", "blue"
        yield f"{marks} {visible(label)}".rstrip() + "\n", style

    def _remedy(self, finding: Finding, gutter: int) -> Iterator[Segment]:
        fix = self.result.fix_of(finding)
        if fix is None or finding.remedy is None:
            return
        applicability, edits = fix
        kind = "help" if applicability is Applicability.DISPLAY else f"{applicability.value} fix"
        yield f"{' ' * gutter} = ", "blue"
        yield f"{kind}: ", "bold green"
        yield f"{visible(one_line(finding.remedy.message))}\n", ""
        documents = Documents(self._bytes)
        for path, data in documents.apply(edits).items() if edits else ():
            before, after = self._bytes(path) or b"", data
            yield from _changes(before.decode(), after.decode(), gutter)

    def _bytes(self, path: str) -> bytes | None:
        text = self.result.text(path)
        return None if text is None else text.encode("utf-8", "replace")

    def _file(self, path: str) -> Lines | None:
        if path not in self._lines:
            text = self.result.text(path)
            self._lines[path] = None if text is None else Lines(text)
        return self._lines[path]


def _changes(before: str, after: str, gutter: int) -> Iterator[Segment]:
    """The lines that a fix removes and adds, the first few of them."""
    lines = [
        line
        for line in difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
        if line[:1] in "+-" and not line.startswith(("+++ ", "--- "))
    ]
    for line in lines[:_MAX_CHANGED_LINES]:
        yield f"{' ' * gutter} {line[0]} ", "blue"
        yield f"{visible(line[1:])}\n", "green" if line[0] == "+" else "red"
    if len(lines) > _MAX_CHANGED_LINES:
        yield f"{' ' * gutter} ... {len(lines) - _MAX_CHANGED_LINES} more lines\n", "blue"
