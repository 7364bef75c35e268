"""The JSON report: one object; paths relative to the working directory, lines and columns from 1."""

from __future__ import annotations

import json
from typing import Any

from swa_lint.finding import Finding, Replace, Side
from swa_lint.geometry import Location
from swa_lint.report.result import Result


def render(result: Result) -> str:
    """The report as text."""
    summary = {
        "files": result.files,
        "findings": len(result.findings),
        "fixable": result.fixable(),
        "seconds": round(result.seconds, 3),
    }
    found = [_finding(finding, result) for finding in result.findings]
    return json.dumps({"version": 1, "findings": found, "summary": summary}, indent=2, ensure_ascii=False) + "\n"


def _finding(finding: Finding, result: Result) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        **_place(finding.where),
        "message": finding.message,
        "fields": [field.value for field in finding.fields],
        "target": _side(finding.target),
        "draft": _side(finding.draft),
        "related": [
            {
                "path": related.where.path,
                "line": related.where.line,
                "column": related.where.column,
                "message": related.message,
            }
            for related in finding.related
        ],
        "fix": _fix(finding, result),
    }


def _place(where: Location) -> dict[str, Any]:
    return {
        "path": where.path,
        "line": where.line,
        "column": where.column,
        "end_line": where.end_line,
        "end_column": where.end_column,
    }


def _side(side: Side | None) -> dict[str, str] | None:
    return None if side is None else {"value": side.value, "source": side.source}


def _fix(finding: Finding, result: Result) -> dict[str, Any] | None:
    fix = result.fix_of(finding)
    if fix is None or finding.remedy is None:
        return None
    applicability, edits = fix
    return {
        "applicability": applicability.value,
        "message": finding.remedy.message,
        "edits": [_edit(edit) for edit in edits],
    }


def _edit(edit: Replace) -> dict[str, Any]:
    return {**_place(edit.where), "content": edit.text}
