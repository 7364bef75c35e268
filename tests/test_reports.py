"""Reports: what each format says about the same findings."""

from __future__ import annotations

import dataclasses
import json

import pytest

from swa_lint.finding import Applicability, Finding, Related, Remedy, Replace, Severity, Side
from swa_lint.geometry import Field, Location
from swa_lint.report import concise, github, gitlab, sarif, statistics
from swa_lint.report import json as json_report
from swa_lint.report import text as text_report
from swa_lint.report.result import Result

TEXTS = {"a/b.py": "target = 256\n\n\tdraft = f(\u6f22, page=1)  # \x1b[31m\n", "c.py": "x\n"}
EDIT = Replace(Location("a/b.py", 3, 20, 3, 21), "target")
FINDING = Finding(
    code="SWA101",
    name="draft-page-size-override",
    severity=Severity.ERROR,
    where=Location("a/b.py", 3, 15, 3, 21),
    message="Draft gets 1, 50% off:\nthe target has 256",
    fields=(Field.PAGE_SIZE,),
    target=Side("256", "literal"),
    draft=Side("1", "literal"),
    related=(Related(Location("a/b.py", 1, 1, 1, 13), "the target: 256"),),
    remedy=Remedy(Applicability.SAFE, "Read the target's", (EDIT,)),
)
SHOWN = dataclasses.replace(
    FINDING, code="SWA205", name="window-attribute-trap", where=Location("c.py", 1, 1, 1, 2), severity=Severity.WARNING
)
RESULT = Result((FINDING, SHOWN), {FINDING: (EDIT,)}, 2, 0.25, TEXTS.get)


def test_text_underlines_the_draft_and_shows_the_target_and_the_new_line() -> None:
    lines = text_report.render(RESULT).splitlines()
    assert lines[0] == "a/b.py:3:15: SWA101 error: Draft gets 1, 50% off: the target has 256"
    assert lines[1] == "3 |     draft = f(\u6f22, page=1)  # ?[31m"
    marks = lines[2].removeprefix("  | ")
    assert marks.startswith(" " * 18 + "^" * 6 + " 1, "), marks
    assert lines[3:5] == ["1 | target = 256", "  | ^^^^^^^^^^^^ the target: 256"]
    assert lines[5] == "  = safe fix: Read the target's"
    assert lines[7].startswith("  +     draft = f(\u6f22, page=target)")
    assert lines[-1] == "2 findings in 2 files (1 fixable with --fix)."
    assert "\x1b" not in "".join(lines)


def test_text_without_findings() -> None:
    assert text_report.render(Result((), files=1)) == "No findings in 1 file.\n"


def test_concise_is_one_line_each() -> None:
    first, second = concise.render(RESULT).splitlines()
    assert first == "a/b.py:3:15: SWA101 Draft gets 1, 50% off: the target has 256"
    assert second.startswith("c.py:1:1: SWA205 ")


def test_json() -> None:
    report = json.loads(json_report.render(RESULT))
    first, second = report["findings"]
    assert report["summary"] == {"files": 2, "findings": 2, "fixable": 1, "seconds": 0.25}
    assert first["related"] == [{"path": "a/b.py", "line": 1, "column": 1, "message": "the target: 256"}]
    edit = {"path": "a/b.py", "line": 3, "column": 20, "end_line": 3, "end_column": 21, "content": "target"}
    assert first["fix"] == {"applicability": "safe", "message": "Read the target's", "edits": [edit]}
    assert second["fix"]["applicability"] == "display" and second["fix"]["edits"] == []


def test_github_escapes_what_its_commands_mean_by() -> None:
    first, second = github.render(RESULT).splitlines()
    head = "::error title=SWA101 (draft-page-size-override),file=a/b.py,line=3,col=15,endLine=3,endColumn=21::"
    assert first == f"{head}Draft gets 1, 50%25 off:%0Athe target has 256"
    assert second.startswith("::warning title=SWA205")
    odd = dataclasses.replace(FINDING, where=Location("a,b:c.py", 1, 1, 2, 1))
    assert "file=a%2Cb%3Ac.py,line=1,endLine=2::" in github.render(Result((odd,)))


def test_gitlab_fingerprints_survive_moved_lines() -> None:
    issues = json.loads(gitlab.render(RESULT))
    assert [issue["severity"] for issue in issues] == ["critical", "minor"]
    assert issues[0]["location"] == {"path": "a/b.py", "lines": {"begin": 3, "end": 3}}
    moved = dataclasses.replace(FINDING, where=Location("a/b.py", 4, 15, 4, 21))
    later = Result((moved,), text={"a/b.py": "\n" + TEXTS["a/b.py"]}.get)
    assert json.loads(gitlab.render(later))[0]["fingerprint"] == issues[0]["fingerprint"]
    twice = json.loads(gitlab.render(Result((FINDING, FINDING), text=TEXTS.get)))
    assert twice[0]["fingerprint"] != twice[1]["fingerprint"]


def test_sarif_has_rules_places_and_fixes() -> None:
    log = json.loads(sarif.render(RESULT))
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    rules = run["tool"]["driver"]["rules"]
    first, second = run["results"]
    assert rules[first["ruleIndex"]]["id"] == first["ruleId"] == "SWA101"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a/b.py", "uriBaseId": "SRCROOT"}
    assert place["region"] == {"startLine": 3, "startColumn": 15, "endLine": 3, "endColumn": 21}
    assert first["relatedLocations"][0]["message"] == {"text": "the target: 256"}
    (change,) = first["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": "target"}
    assert second["level"] == "warning" and "fixes" not in second


def test_statistics_count_rules() -> None:
    assert statistics.render(Result((FINDING, SHOWN, FINDING))) == (
        "2\tSWA101\tdraft-page-size-override\n1\tSWA205\twindow-attribute-trap\n"
    )


@pytest.mark.parametrize(
    "render", [text_report.render, concise.render, json_report.render, sarif.render, gitlab.render]
)
def test_a_file_that_is_gone_does_not_stop_a_report(render: object) -> None:
    assert callable(render)
    assert "SWA101" in render(Result((FINDING,)))
