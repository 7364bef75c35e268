"""What a report is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from swa_lint.finding import Applicability, Finding, Replace


@dataclass(frozen=True)
class Result:
    """The outcome of a run: findings in order, the edits of those that have a fix, and what the run cost.

    `text` gives a file's text for excerpts, or None; `files` counts the files of the run.
    """

    findings: tuple[Finding, ...]
    edits: Mapping[Finding, tuple[Replace, ...]] = field(default_factory=dict)
    files: int = 0
    seconds: float = 0.0
    text: Callable[[str], str | None] = lambda path: None

    def fix_of(self, finding: Finding) -> tuple[Applicability, tuple[Replace, ...]] | None:
        """How a finding's remedy can be applied and by which edits; a remedy without edits is only shown."""
        if finding.remedy is None:
            return None
        edits = self.edits.get(finding, ())
        return (finding.remedy.applicability, edits) if edits else (Applicability.DISPLAY, ())

    def fixable(self, applicability: Applicability | None = None) -> int:
        """The number of findings that a fix can be applied to, of one applicability or of both."""
        fixes = [fix for finding in self.findings if (fix := self.fix_of(finding))]
        wanted = {Applicability.SAFE, Applicability.UNSAFE} if applicability is None else {applicability}
        return sum(kind in wanted for kind, _ in fixes)
