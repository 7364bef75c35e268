"""How often each rule found something."""

from __future__ import annotations

from collections import Counter

from swa_lint.report.result import Result


def render(result: Result) -> str:
    """One line a code: its count, the code and the rule's name, the most frequent first."""
    counts = Counter((finding.code, finding.name) for finding in result.findings)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"{count}\t{code}\t{name}\n" for (code, name), count in ordered)
