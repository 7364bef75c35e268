"""Whole deployments as people lay them out: the broken one has its findings at their lines, the sound one has none."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from test_fixtures import expected, laid_out

from swa_lint.cli import run

Place = tuple[str, int, str]
LAYOUTS = sorted((Path(__file__).parent.parent / "fixtures" / "layouts").iterdir())


def place_of(finding: dict[str, Any], wanted: Collection[Place]) -> Place:
    """Where a finding is expected: on one of its lines."""
    places = [(finding["path"], n, finding["code"]) for n in range(finding["line"], finding["end_line"] + 1)]
    return next((place for place in places if place in wanted), places[0])


@pytest.mark.parametrize("state", ["broken", "sound"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda path: path.name)
def test_a_layout(
    layout: Path, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = layout / state
    monkeypatch.chdir(laid_out(case, tmp_path))
    status = run(["check", "--no-cache", "--jobs", "1", "--include-markdown", "--output-format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    files = [file for file in case.rglob("*") if file.is_file() and file.suffix != ".expect"]
    want = Counter(
        (file.relative_to(case).as_posix(), line, code) for file in files for line, code in expected(file).elements()
    )
    found = Counter(place_of(finding, want) for finding in findings)
    assert found == want
    assert status == bool(want) == (state == "broken")
