"""GitHub workflow commands: each finding becomes an annotation on its lines."""

from __future__ import annotations

from swa_lint.finding import Finding, Severity
from swa_lint.report.result import Result

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(result: Result) -> str:
    """One workflow command a finding."""
    return "".join(map(_command, result.findings))


def _command(finding: Finding) -> str:
    where = finding.where
    properties = {
        "title": f"{finding.code} ({finding.name})",
        "file": where.path,
        "line": where.line,
        "col": where.column,
        "endLine": where.end_line,
        "endColumn": where.end_column,
    }
    if where.end_line != where.line:  # GitHub drops an annotation that has columns over several lines
        del properties["col"], properties["endColumn"]
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(finding.message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
