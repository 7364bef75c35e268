"""Rounds of fixes: apply those that do not touch each other, read again, until nothing is left that can be applied."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from swa_lint.finding import Applicability, Finding, Replace
from swa_lint.fixes.apply import Documents, Span, compatible

MAX_ROUNDS = 10


class Workspace(Protocol):
    """The files that fixes change, and how they are analysed."""

    def findings(self) -> Sequence[Finding]:
        """The findings as the files now are."""

    def content(self, path: str) -> bytes | None:
        """A file's bytes as they were analysed; None for a file that must not be changed."""

    def problem_in(self, path: str, data: bytes) -> str | None:
        """Why the file could not be read with the content `data`, or None."""

    def commit(self, changed: Mapping[str, bytes]) -> Sequence[str]:
        """Take the new content of files, of all or none, and analyse them again; returns what cannot be written."""


@dataclass
class Fixed:
    """How many findings were fixed, and what could not be, with the reason."""

    count: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Candidate:
    finding: Finding
    edits: tuple[Replace, ...]


def converge(workspace: Workspace, *, unsafe: bool) -> Fixed:
    """Apply all fixes that may be applied, in rounds; `unsafe` includes those that need a choice."""
    return _Rounds(workspace, unsafe).run()


class _Rounds:
    def __init__(self, workspace: Workspace, unsafe: bool) -> None:
        self.workspace = workspace
        self.allowed = {Applicability.SAFE} | ({Applicability.UNSAFE} if unsafe else set())
        self.given_up: set[object] = set()
        self.fixed = Fixed()
        self.seen: dict[str, set[bytes]] = defaultdict(set)

    def run(self) -> Fixed:
        for _ in range(MAX_ROUNDS):
            documents = Documents(self.workspace.content)
            findings = self.workspace.findings()
            accepted, changed = self._accepted(documents, self._planned(documents, findings))
            if not accepted:
                return self.fixed
            if any(data in self.seen[path] for path, data in changed.items()):
                self.fixed.notes.append(f"{', '.join(sorted(changed))}: fixes undo each other; left as it is")
                return self.fixed
            for path in changed:
                self.seen[path].add(self.workspace.content(path) or b"")
            failed = set(self.workspace.commit(changed))
            if failed:
                self._leave(accepted, failed)
            else:
                self._count(accepted, findings)
        self.fixed.notes.append(f"fixes are still left after {MAX_ROUNDS} rounds; run again")
        return self.fixed

    def _planned(self, documents: Documents, findings: Sequence[Finding]) -> list[_Candidate]:
        """The first fixes, in order of findings, whose edits can be made together."""
        taken: dict[str, set[Span]] = defaultdict(set)
        planned = []
        for finding in findings:
            if finding.remedy is None or finding.remedy.applicability not in self.allowed:
                continue
            if _key(finding) in self.given_up:
                continue
            edits = documents.edits(finding)
            if not edits and any(documents.decoded(change.where.path) is None for change in finding.remedy.changes):
                self._give_up(finding, "a file that it changes is not part of this run, or has changed meanwhile")
            spans = [(edit.where.path, documents.span(edit)) for edit in edits]
            if edits and all(span is not None and compatible(span, taken[path]) for path, span in spans):
                planned.append(_Candidate(finding, edits))
                for path, span in spans:
                    assert span is not None
                    taken[path].add(span)
        return planned

    def _accepted(
        self, documents: Documents, planned: list[_Candidate]
    ) -> tuple[list[_Candidate], Mapping[str, bytes]]:
        """The candidates after which every file can still be read, with the new contents."""
        changed, problem = self._try(documents, planned)
        if problem is None:
            return planned, changed
        accepted: list[_Candidate] = []
        for candidate in planned:
            _, problem = self._try(documents, [*accepted, candidate])
            if problem is None:
                accepted.append(candidate)
            else:
                self._give_up(candidate.finding, problem)
        return accepted, self._try(documents, accepted)[0]

    def _try(self, documents: Documents, candidates: list[_Candidate]) -> tuple[Mapping[str, bytes], str | None]:
        try:
            changed = documents.apply(edit for candidate in candidates for edit in candidate.edits)
        except UnicodeEncodeError as error:
            return {}, f"the file's encoding, {error.encoding}, lacks a character of the fix"
        for path, data in changed.items():
            if problem := self.workspace.problem_in(path, data):
                return {}, f"the file could not be read after it: {problem}"
        return changed, None

    def _give_up(self, finding: Finding, reason: str) -> None:
        self.given_up.add(_key(finding))
        where = finding.where
        self.fixed.notes.append(f"{where.path}:{where.line}: {finding.code} not fixed: {reason}")

    def _leave(self, accepted: list[_Candidate], failed: set[str]) -> None:
        """Leave the fixes that need a file which cannot be written; the others come in the next round."""
        for candidate in accepted:
            if any(edit.where.path in failed for edit in candidate.edits):
                self.given_up.add(_key(candidate.finding))

    def _count(self, accepted: list[_Candidate], before: Sequence[Finding]) -> None:
        """Count the fixes that took effect: their findings are gone."""
        gone = Counter(map(_key, before)) - Counter(map(_key, self.workspace.findings()))
        for key, group in _by_key(accepted).items():
            if not gone[key]:
                self._give_up(group[0].finding, "its fix did not remove it")
            self.fixed.count += min(gone[key], len(group))


def _by_key(candidates: Sequence[_Candidate]) -> dict[tuple[object, ...], list[_Candidate]]:
    groups: dict[tuple[object, ...], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        groups[_key(candidate.finding)].append(candidate)
    return groups


def _key(finding: Finding) -> tuple[object, ...]:
    """A finding as it can be known again after lines have moved."""
    return finding.code, finding.where.path, finding.message, finding.fields
