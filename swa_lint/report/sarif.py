"""SARIF 2.1.0, with rules, related locations and fixes."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from swa_lint import __version__
from swa_lint.baseline import fingerprints
from swa_lint.finding import Finding, Related, Replace, Severity
from swa_lint.geometry import Location
from swa_lint.report.result import Result
from swa_lint.report.rules import markdown
from swa_lint.rules.registry import Rule, all_rules

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "SRCROOT"


def render(result: Result) -> str:
    """The log as text."""
    rules = [rule for rule, _ in all_rules().values()]
    index = {rule.code: number for number, rule in enumerate(rules)}
    prints = fingerprints(result.findings, result.text)
    run = {
        "tool": {
            "driver": {"name": "swa-lint", "semanticVersion": __version__, "rules": [_rule(rule) for rule in rules]}
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The working directory of the run"}}},
        "results": [
            _result(finding, fingerprint, index[finding.code], result)
            for finding, fingerprint in zip(result.findings, prints, strict=True)
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.name.replace("-", " ")},
        "fullDescription": {"text": rule.what.strip()},
        "help": {"text": rule.why.strip(), "markdown": markdown(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity], "enabled": rule.default},
    }


def _result(finding: Finding, fingerprint: str, index: int, result: Result) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": _physical(finding.where)}],
        "partialFingerprints": {"swaLint/v1": fingerprint},
    }
    if finding.related:
        entry["relatedLocations"] = [_related(number, item) for number, item in enumerate(finding.related)]
    fix = result.fix_of(finding)
    if fix is not None and fix[1] and finding.remedy is not None:
        changes = [_change(path, fix[1]) for path in dict.fromkeys(edit.where.path for edit in fix[1])]
        text = f"{finding.remedy.message} ({fix[0].value} fix)"
        entry["fixes"] = [{"description": {"text": text}, "artifactChanges": changes}]
    return entry


def _related(number: int, related: Related) -> dict[str, Any]:
    return {"id": number, "physicalLocation": _physical(related.where), "message": {"text": related.message}}


def _change(path: str, edits: tuple[Replace, ...]) -> dict[str, Any]:
    return {
        "artifactLocation": _artifact(path),
        "replacements": [
            {"deletedRegion": _region(edit.where), "insertedContent": {"text": edit.text}}
            for edit in edits
            if edit.where.path == path
        ],
    }


def _physical(where: Location) -> dict[str, Any]:
    return {"artifactLocation": _artifact(where.path), "region": _region(where)}


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(path), "uriBaseId": _ROOT}


def _region(where: Location) -> dict[str, int]:
    return {
        "startLine": where.line,
        "startColumn": where.column,
        "endLine": where.end_line,
        "endColumn": where.end_column,
    }
