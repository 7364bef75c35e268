"""The baseline: known findings are hidden wherever their lines move, new ones and stale entries are shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import BAD, BAD_SHELL, FIXED, write

from swa_lint.cli import run


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*args: str) -> int:
    return run(["check", "--no-cache", "--jobs", "1", "--output-format", "concise", *args])


def write_baseline(*args: str) -> None:
    assert run(["baseline", "--no-cache", "--jobs", "1", *args]) == 0


def test_known_findings_are_hidden_though_lines_move(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"a.py": BAD, "pd.sh": BAD_SHELL})
    write_baseline("--output", "known.json")
    assert check() == 1
    write(root, {"a.py": "# moved\n\n" + BAD})
    capsys.readouterr()
    assert check("--baseline", "known.json") == 0
    streams = capsys.readouterr()
    assert streams.out == "" and streams.err == ""


def test_a_second_equal_finding_is_new(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"a.py": BAD})
    write_baseline()
    write(root, {"a.py": BAD + BAD.split("\n", 3)[3].replace("def start", "def again")})
    capsys.readouterr()
    assert check("--baseline", "swa-lint-baseline.json") == 1
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_stale_entries_are_reported_until_it_is_written_anew(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"a.py": BAD, "b.py": BAD, "pyproject.toml": '[tool.swa-lint]\nbaseline = "known.json"\n'})
    write_baseline()
    write(root, {"a.py": FIXED})
    capsys.readouterr()
    assert check("b.py") == 0
    assert capsys.readouterr().err == "", "a.py was not checked"
    assert check("--select", "SWA2") == 0
    assert capsys.readouterr().err == "", "SWA101 was not checked"
    assert check() == 0
    assert "stale: a.py: SWA101" in capsys.readouterr().err
    write_baseline()
    capsys.readouterr()
    assert check() == 0
    assert capsys.readouterr().err == ""


def test_it_holds_wherever_the_run_starts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"sub/a.py": BAD, "pyproject.toml": '[tool.swa-lint]\nbaseline = "known.json"\n'})
    write_baseline()
    monkeypatch.chdir(root / "sub")
    assert check() == 0


def test_fixes_leave_known_findings_alone(root: Path) -> None:
    write(root, {"a.py": BAD})
    write_baseline()
    assert check("--fix", "--baseline", "swa-lint-baseline.json") == 0
    assert (root / "a.py").read_text() == BAD


@pytest.mark.parametrize(
    "content", ["", "[]", '{"version": 9, "findings": {}}', '{"version": 1, "findings": {"a": 1}}']
)
def test_what_is_no_baseline_is_an_error(root: Path, capsys: pytest.CaptureFixture[str], content: str) -> None:
    write(root, {"known.json": content})
    assert check("--baseline", "known.json") == 2
    assert "known.json: " in capsys.readouterr().err
