"""`# noqa` for each finding: where the comment goes in each language, and where it cannot go."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from swa_lint.finding import Finding, Replace
from swa_lint.fixes.apply import MEANWHILE, Documents
from swa_lint.fixes.meaning import same_meaning
from swa_lint.geometry import Location
from swa_lint.project.kinds import Kind
from swa_lint.project.noqa import Suppression, spans, suppressions
from swa_lint.project.text import Lines
from swa_lint.sources.facts import FileFacts, Insertion

_NO_COMMENTS = {
    Kind.JSON: "JSON has no comments",
    Kind.MODEL_CONFIG: "JSON has no comments",
    Kind.MARKDOWN: "a comment would be part of the page",
}
_ELSEWHERE = "use per-file-ignores or a baseline"
_NO_NOQA = {
    "SWA901": "it is a suppression itself; --fix removes it",
    "SWA902": f"the file cannot be read; {_ELSEWHERE}",
}


@dataclass
class Suppressed:
    """The new content of files, how many findings comments in each speak for, and notes on the others."""

    changed: dict[str, bytes] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Comment:
    """One edit that suppresses findings which share a line, or lines that count as one; `adds_line`: above them."""

    edit: Replace
    findings: tuple[Finding, ...]
    adds_line: bool = False


def suppress(
    findings: Iterable[Finding],
    documents: Documents,
    kind_of: Callable[[str], Kind | None],
    facts_of: Callable[[str, bytes], FileFacts],
) -> Suppressed:
    """Plan a noqa comment for each finding.

    `kind_of` tells a file's kind (None: it is not of this run), `facts_of` what a file with another content would say.
    """
    plan = Suppressed()
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_path[finding.where.path].append(finding)
    for path, group in by_path.items():
        kind = kind_of(path)
        lines = documents.lines(path)
        if kind is None:
            _note(plan, group, "the file is not part of this run")
        elif lines is None:
            _note(plan, group, MEANWHILE)
        elif kind in _NO_COMMENTS:
            _note(plan, group, f"{_NO_COMMENTS[kind]}; {_ELSEWHERE}")
        else:
            _File(path, kind, lines, documents, facts_of, plan).suppress(group)
    return plan


def _note(plan: Suppressed, findings: Iterable[Finding], reason: str) -> None:
    for finding in findings:
        where = finding.where
        plan.notes.append(f"{where.path}:{where.line}: {finding.code} not suppressed: {reason}")


@dataclass(frozen=True)
class _File:
    path: str
    kind: Kind
    lines: Lines
    documents: Documents
    facts_of: Callable[[str, bytes], FileFacts]
    plan: Suppressed

    def suppress(self, findings: Sequence[Finding]) -> None:
        for code, reason in _NO_NOQA.items():
            _note(self.plan, [f for f in findings if f.code == code], reason)
        planned = list(self._comments([f for f in findings if f.code not in _NO_NOQA]))
        accepted = planned if self._holds(planned) else [comment for comment in planned if self._holds([comment])]
        if not accepted or not self._holds(accepted):
            accepted = []
        refused = [f for comment in planned if comment not in accepted for f in comment.findings]
        _note(self.plan, refused, f"no comment can stand on its line; {_ELSEWHERE}")
        if accepted:
            self.plan.changed |= self.documents.apply(comment.edit for comment in accepted)
            self.plan.counts[self.path] = sum(len(comment.findings) for comment in accepted)

    def _comments(self, findings: Sequence[Finding]) -> Iterator[_Comment]:
        """The edits, in order of lines; each line's findings share one."""
        known = suppressions(self.path, self.lines.text, self.kind)
        for first, last in spans(self.lines.text, self.kind):
            group = tuple(finding for finding in findings if first <= finding.where.line <= last)
            if group:
                codes = ", ".join(sorted({finding.code for finding in group}))
                yield self._comment(first, last, codes, group, known)

    def _comment(
        self, first: int, last: int, codes: str, group: tuple[Finding, ...], known: Sequence[Suppression]
    ) -> _Comment:
        for there in known:
            if there.last is not None and there.codes and first <= there.where.line <= last:
                end = there.where.end_column
                return _Comment(Replace(self._range(there.where.line, end, end), f", {codes}"), group)
        if self.kind is Kind.DOCKERFILE:
            while first < last and self.lines.line(first).lstrip().startswith("#"):
                first += 1
            line = self.lines.line(first)
            indent = line[: len(line) - len(line.lstrip())]
            return _Comment(Replace(self._range(first, 1, 1), f"{indent}# noqa: {codes}\n"), group, adds_line=True)
        line = self.lines.line(last)
        return _Comment(Replace(self._range(last, len(line.rstrip()) + 1, len(line) + 1), f"  # noqa: {codes}"), group)

    def _range(self, line: int, column: int, end_column: int) -> Location:
        return Location(self.path, line, column, line, end_column)

    def _holds(self, comments: Sequence[_Comment]) -> bool:
        """Whether the file with these comments says the same, and they speak for their findings."""
        if not comments:
            return True
        decoded = self.documents.decoded(self.path)
        assert decoded is not None, "its lines are known"
        try:
            data = self.documents.apply(comment.edit for comment in comments)[self.path]
        except UnicodeEncodeError:
            return False
        text = data[len(decoded.bom) :].decode(decoded.encoding)
        if not same_meaning(self.kind, decoded.text, text):
            return False
        before = self.facts_of(self.path, decoded.encode(decoded.text))
        return _alike(before, self.facts_of(self.path, data)) and self._covered(comments, text)

    def _covered(self, comments: Sequence[_Comment], text: str) -> bool:
        there = suppressions(self.path, text, self.kind)
        added = [comment.edit.where.line for comment in comments if comment.adds_line]
        for finding in (finding for comment in comments for finding in comment.findings):
            line = finding.where.line + sum(above <= finding.where.line for above in added)
            if not any(suppression.covers(line, finding.code) for suppression in there):
                return False
        return True


def _alike(one: object, two: object) -> bool:
    """Whether facts are equal but for the places they name."""
    return _without_places(one) == _without_places(two)


def _without_places(value: object) -> object:
    if value is None or isinstance(value, (Location, Insertion)):
        return None
    if isinstance(value, (str, int, float, Enum)):
        return value
    if isinstance(value, Mapping):
        return {key: _without_places(item) for key, item in value.items()}
    if isinstance(value, (tuple, list, frozenset)):
        return [_without_places(item) for item in value]
    assert dataclasses.is_dataclass(value)
    return type(value).__name__, [_without_places(getattr(value, f.name)) for f in dataclasses.fields(value)]
