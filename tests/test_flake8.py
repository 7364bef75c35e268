"""The flake8 plugin, under the real flake8 and by itself."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from project import BAD, write

from swa_lint.cli import run
from swa_lint.flake8_plugin import _OFF_BY_DEFAULT, Plugin
from swa_lint.rules.registry import all_rules


def flake8(root: Path, *args: str, text: str | None = None) -> list[str]:
    command = [sys.executable, "-m", "flake8", "--isolated", *args]
    done = subprocess.run(command, cwd=root, input=text, capture_output=True, text=True, check=False)
    assert done.stderr == "" and done.returncode in (0, 1)
    return done.stdout.splitlines()


def test_flake8_reports_what_check_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"pkg/bad.py": BAD})
    run(["check", "--no-cache", "--output-format", "concise"])
    expected = capsys.readouterr().out.splitlines()
    assert len(expected) == 1
    assert flake8(tmp_path, "--select", "SWA", "pkg/bad.py") == expected


def test_flake8_obeys_its_own_settings(tmp_path: Path) -> None:
    write(tmp_path, {"bad.py": BAD, "quiet.py": BAD.replace("page_size = 1", "page_size = 1  # noqa: SWA101")})
    assert [line.split()[1] for line in flake8(tmp_path, "--extend-select", "SWA", "--ignore", "E,F,W", ".")] == [
        "SWA101"
    ]
    assert flake8(tmp_path, "--select", "SWA2", ".") == []
    assert flake8(tmp_path, "--select", "SWA", "--ignore", "SWA101", ".") == []


def test_flake8_reads_standard_input(tmp_path: Path) -> None:
    assert [line.split(":")[:2] for line in flake8(tmp_path, "--select", "SWA", "-", text=BAD)] == [["stdin", "6"]]
    named = flake8(tmp_path, "--select", "SWA", "--stdin-display-name", "pkg/a.py", "-", text=BAD)
    assert [line.split(":")[:2] for line in named] == [["pkg/a.py", "6"]]


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ("", ["a.py", "tests/b.py"]),
        ("extend-ignore = SWA1", []),
        ("per-file-ignores = tests/*: SWA101", ["a.py"]),
        ("exclude = a.py", ["tests/b.py"]),
    ],
)
def test_flake8_settings_hold(tmp_path: Path, settings: str, shown: list[str]) -> None:
    write(tmp_path, {"a.py": BAD, "tests/b.py": BAD, ".flake8": f"[flake8]\nselect = SWA\n{settings}\n"})
    command = [sys.executable, "-m", "flake8", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert sorted(line.split(":")[0].removeprefix("./") for line in done.stdout.splitlines()) == shown


def test_the_project_s_words_for_roles_count(tmp_path: Path) -> None:
    text = BAD.replace("draft_args", "helper_args").replace(
        "TpModelWorker(server_args=helper_args, is_draft_worker=True)", "run(helper_args)"
    )
    write(tmp_path, {"a.py": text})
    assert flake8(tmp_path, "--select", "SWA", "a.py") == []
    write(tmp_path, {"pyproject.toml": '[tool.swa-lint.roles]\ndraft = ["helper"]\n'})
    assert [line.split()[1] for line in flake8(tmp_path, "--select", "SWA", "a.py")] == ["SWA101"]


def test_off_by_default_is_what_the_rules_say() -> None:
    off = {code for code, (rule, _) in all_rules().items() if not rule.default}
    assert off <= set(_OFF_BY_DEFAULT)


def test_the_column_counts_characters() -> None:
    text = BAD.replace("draft_args.page_size = 1", "s = '\u00e9\u6f22'; draft_args.page_size = 1")
    (found,) = Plugin(None, "a.py", text.splitlines(keepends=True)).run()  # type: ignore[arg-type]
    assert found[:2] == (6, text.splitlines()[5].index("draft_args"))


def test_a_failing_analysis_is_silence_not_an_exception(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RecursionError

    monkeypatch.setattr("swa_lint.sources.python.read", fail)
    assert list(Plugin(None, "a.py", BAD.splitlines(keepends=True)).run()) == []  # type: ignore[arg-type]
    assert "could not analyse a.py" in caplog.text


def test_a_file_without_geometry_costs_under_a_millisecond() -> None:
    lines = [f"def function_{number}(argument):\n" if number % 2 else "    return 1\n" for number in range(1500)]

    def once() -> float:
        start = time.perf_counter()
        assert list(Plugin(None, "a.py", lines).run()) == []  # type: ignore[arg-type]
        return time.perf_counter() - start

    assert min(once() for _ in range(20)) < 0.001


def test_importing_the_plugin_loads_nothing_else() -> None:
    code = "import json, sys; import swa_lint.flake8_plugin; print(json.dumps(list(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = set(json.loads(out))
    assert not loaded & {"libcst", "click", "rich", "ruamel", "ruamel.yaml", "pathspec", "tree_sitter"}
    assert {name for name in loaded if name.startswith("swa_lint")} == {"swa_lint", "swa_lint.flake8_plugin"}
