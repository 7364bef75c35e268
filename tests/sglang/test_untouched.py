"""Whole untouched releases: no crash, and no finding that docs/sglang-findings.md does not argue to be true."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from wheels import Unavailable, release

pytestmark = pytest.mark.sglang

_ARGUED = Path(__file__).resolve().parents[2] / "docs" / "sglang-findings.md"
_ROW = re.compile(
    r"^\| (0\.\d+\.\d+) \| `([^`]+)` \| (\d+) \| (SWA\d{3}) \| (error|warning) \| (\w+) \|$", re.MULTILINE
)
_CLI = "import sys; from swa_lint.cli import run; sys.exit(run())"
_SECONDS = 300


def _argued() -> list[tuple[str, ...]]:
    rows = [match.groups() for match in _ROW.finditer(_ARGUED.read_text(encoding="utf-8"))]
    assert rows, f"{_ARGUED} has no table"
    return rows


def test_every_finding_that_is_argued_is_true() -> None:
    assert [row for row in _argued() if row[-1] != "true"] == []


@pytest.mark.parametrize("version", ["0.5.12", "0.5.17", "0.5.23"])
def test_a_whole_release_has_the_argued_findings_alone(version: str) -> None:
    try:
        root = release(version)
    except Unavailable as error:
        pytest.skip(str(error))
    command = [sys.executable, "-c", _CLI, "check", "sglang", "--output-format", "json", "--no-cache"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["files"] > 1000
    found = {
        (version, f["path"], str(f["line"]), f["code"], f["severity"])
        for f in report["findings"]
        if f["severity"] != "info"
    }
    assert found == {row[:-1] for row in _argued() if row[0] == version}
