"""Machine formats against the rules of those who read them: SARIF's schema, GitHub's commands, GitLab's report."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from project import BAD, BAD_SHELL, write
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from swa_lint.cli import run
from swa_lint.rules.registry import all_rules

FIXTURES = Path(__file__).parent.parent / "fixtures"
# Outside the Basic Multilingual Plane: two UTF-16 units, four UTF-8 bytes, one code point.
WIDE = "\N{GRINNING FACE}\N{CUNEIFORM SIGN A}"
FILES = {
    f"d {WIDE}/a,b:c%.py": BAD.replace("    draft_args.page_size", f"    s = '{WIDE}'; draft_args.page_size"),
    "pd.sh": BAD_SHELL.replace("python3", f"export NOTE='{WIDE}'; python3"),
    "pd.yaml": f"sglang:\n  prefill: {{note: '{WIDE}', page_size: 64, model_path: m}}\n"
    f"  decode: {{note: '{WIDE}', page_size: 32, model_path: m}}\n",
}
DRAFT_VALUES = {
    f"d {WIDE}/a,b:c%.py": "draft_args.page_size = 1",
    "pd.sh": "--page-size 32",
    "pd.yaml": "page_size: 32",
}


def report(capsys: pytest.CaptureFixture[str], output_format: str, *args: str) -> str:
    assert run(["check", "--no-cache", "--jobs", "1", "--output-format", output_format, *args]) in (0, 1)
    return capsys.readouterr().out


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, FILES)
    return tmp_path


def cut(text: str, region: dict[str, int]) -> str:
    lines = text.splitlines(keepends=True)
    chosen = lines[region["startLine"] - 1 : region["endLine"]]
    if region["endLine"] <= len(lines):
        chosen[-1] = chosen[-1][: region["endColumn"] - 1]
    chosen[0] = chosen[0][region["startColumn"] - 1 :]
    return "".join(chosen)


def sarif(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    log = json.loads(report(capsys, "sarif", *args))
    Sarif.model_validate_json(json.dumps(log))
    (found,) = log["runs"]
    assert isinstance(found, dict)
    return found


def test_the_schema_refuses_what_it_does_not_know() -> None:
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": []}]}
    Sarif.model_validate(log)
    for spoilt in ({**log, "more": 1}, {**log, "version": "2.0.0"}, {**log, "runs": [{"results": []}]}):
        with pytest.raises(ValueError, match="validation error"):
            Sarif.model_validate(spoilt)


def test_sarif_of_every_rule_is_valid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shutil.copytree(FIXTURES, tmp_path / "fixtures"))
    every = sorted(all_rules())
    found = sarif(capsys, *every, "--select", ",".join(every))
    assert {result["ruleId"] for result in found["results"]} >= set(every) - {"SWA902"}
    assert any("fixes" in result for result in found["results"])
    rules = found["tool"]["driver"]["rules"]
    for result in found["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        for place in (*result["locations"], *result.get("relatedLocations", ())):
            where = place["physicalLocation"]["artifactLocation"]
            assert where["uriBaseId"] in found["originalUriBaseIds"]
            assert Path(unquote(where["uri"])).is_file()
    for rule in rules:
        described = [rule["shortDescription"]["text"], rule["fullDescription"]["text"], rule["help"]["text"]]
        assert all(described) and rule["help"]["markdown"].startswith(f"# {rule['name']}")
    prints = [result["partialFingerprints"]["swaLint/v1"] for result in found["results"]]
    assert len(prints) == len(set(prints))


def test_sarif_columns_count_code_points(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = sarif(capsys)
    assert found["columnKind"] == "unicodeCodePoints"
    shown = {}
    for result in found["results"]:
        place = result["locations"][0]["physicalLocation"]
        path = unquote(place["artifactLocation"]["uri"])
        shown[path] = cut(FILES[path], place["region"])
    assert shown == DRAFT_VALUES


def test_sarif_fixes_are_what_fix_does(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for result in sarif(capsys)["results"]:
        (fix,) = result["fixes"]
        for change in fix["artifactChanges"]:
            file = root / unquote(change["artifactLocation"]["uri"])
            text = file.read_text()
            for replacement in sorted(change["replacements"], key=_start, reverse=True):
                region = replacement["deletedRegion"]
                assert cut(FILES[str(file.relative_to(root))], region) in text
                at = _offset(text, region["startLine"], region["startColumn"])
                end = _offset(text, region["endLine"], region["endColumn"])
                text = text[:at] + replacement["insertedContent"]["text"] + text[end:]
            file.write_text(text)
    by_sarif = {name: (root / name).read_text() for name in FILES}
    write(root, FILES)
    assert run(["fix", "--unsafe-fixes", "--no-cache", "--jobs", "1"]) == 0
    assert by_sarif == {name: (root / name).read_text() for name in FILES}


def _start(replacement: dict[str, Any]) -> tuple[int, int]:
    region = replacement["deletedRegion"]
    return region["startLine"], region["startColumn"]


def _offset(text: str, line: int, column: int) -> int:
    return sum(map(len, text.splitlines(keepends=True)[: line - 1])) + column - 1


COMMAND = re.compile(r"::(error|warning|notice) ((?:\w+=[^,:\r\n]+,)*\w+=[^,:\r\n]+)::([^\r\n]*)")


def unescaped(text: str) -> str:
    for code, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_github_commands_hold_what_they_say(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(report(capsys, "json"))["findings"]
    commands = [COMMAND.fullmatch(line) for line in report(capsys, "github").splitlines()]
    assert len(commands) == len(found) == 3
    for command, finding in zip(commands, found, strict=True):
        assert command is not None
        properties = dict(item.split("=", 1) for item in command[2].split(","))
        assert command[1] == finding["severity"]
        assert unescaped(properties["file"]) == finding["path"]
        assert unescaped(command[3]) == finding["message"]
        assert (properties["line"], properties["col"]) == (str(finding["line"]), str(finding["column"]))


def test_gitlab_report_follows_its_rules(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = BAD + "\n\ndef again(server_args):\n" + BAD.split("\n", 4)[4]
    write(root, {"twice.py": twice})
    issues = json.loads(report(capsys, "gitlab"))
    assert len(issues) == 5
    for issue in issues:
        assert issue["description"] and issue["check_name"] in all_rules()
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        path = issue["location"]["path"]
        assert not path.startswith(("/", "./")) and (root / path).is_file()
        assert issue["location"]["lines"]["begin"] >= 1
    prints = [issue["fingerprint"] for issue in issues]
    assert len(set(prints)) == len(prints)
    write(root, {"twice.py": "# moved\n\n" + twice})
    moved = json.loads(report(capsys, "gitlab"))
    assert [issue["fingerprint"] for issue in moved] == prints
    assert [issue["location"] for issue in moved] != [issue["location"] for issue in issues]


def test_statistics_go_where_the_format_allows(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = "2\tSWA301\tpd-page-size-mismatch\n1\tSWA101\tdraft-page-size-override\n"
    assert report(capsys, "concise", "--statistics").endswith(counts)
    for output_format in ("json", "sarif", "github", "gitlab"):
        args = ["check", "--no-cache", "--jobs", "1", "--statistics", "--output-format", output_format]
        assert run(args) == 1
        streams = capsys.readouterr()
        assert streams.err == counts and counts not in streams.out
        if output_format != "github":
            json.loads(streams.out)
