"""GitLab's code quality report: a JSON list with a fingerprint for each finding."""

from __future__ import annotations

import json

from swa_lint.baseline import fingerprints
from swa_lint.finding import Severity
from swa_lint.report.result import Result

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(result: Result) -> str:
    """The report as text; fingerprints stay the same when lines move."""
    issues = [
        {
            "type": "issue",
            "check_name": finding.code,
            "description": f"{finding.code} {finding.message}",
            "categories": ["Bug Risk"],
            "severity": _SEVERITIES[finding.severity],
            "fingerprint": fingerprint,
            "location": {
                "path": finding.where.path,
                "lines": {"begin": finding.where.line, "end": finding.where.end_line},
            },
        }
        for finding, fingerprint in zip(result.findings, fingerprints(result.findings, result.text), strict=True)
    ]
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"
