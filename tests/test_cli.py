"""The command: exit codes, options, configuration, errors."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from project import BAD, BAD_SHELL, FIXED, write

from swa_lint.cli import run

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*args: str) -> int:
    return run(["check", "--no-cache", "--jobs", "1", *args])


def found(capsys: pytest.CaptureFixture[str], *args: str) -> list[dict[str, Any]]:
    assert check(*args, "--output-format", "json") in (0, 1)
    findings: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return findings


def test_clean_exits_0_and_findings_exit_1(root: Path) -> None:
    write(root, {"clean.py": FIXED})
    assert check() == 0
    write(root, {"bad.py": BAD})
    assert check() == 1
    assert check("--exit-zero") == 0
    assert check("clean.py") == 0


def test_empty_folder_is_clean(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check() == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere.py"], "nowhere.py: No such file"),
        (["--select", "SWA999"], "SWA999"),
        (["--ignore", "E501"], "E501"),
        (["--target", "a"], "--target and --draft need each other"),
        (["--target", "a", "--draft", "b"], "cannot read"),
        (["--stdin-filename", "x.py"], "needs the path"),
        (["--sglang-version", "newest"], "version"),
        (["--jobs", "0"], "--jobs"),
        (["--nonsense"], "--nonsense"),
        (["--baseline", "none.json"], "none.json"),
    ],
)
def test_misuse_exits_2_with_the_reason(
    root: Path, capsys: pytest.CaptureFixture[str], args: list[str], message: str
) -> None:
    write(root, {"a.py": FIXED})
    assert check(*args) == 2
    streams = capsys.readouterr()
    assert message in streams.err and "Traceback" not in streams.err
    assert streams.out == ""


def test_json_has_the_schema_and_only_json_on_stdout(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"pkg/bad.py": BAD})
    assert check("--output-format", "json") == 1
    report = json.loads(capsys.readouterr().out)
    (finding,) = report["findings"]
    assert report["version"] == 1
    assert report["summary"].items() >= {"files": 1, "findings": 1, "fixable": 1}.items()
    place = {"path": "pkg/bad.py", "line": 6, "column": 5, "end_line": 6, "end_column": 29}
    assert finding.items() >= {"code": "SWA101", "severity": "error", "fields": ["page_size"], **place}.items()
    assert finding["draft"]["value"] == "1" and finding["target"] is not None
    assert finding["fix"]["applicability"] == "safe"
    assert [edit["path"] for edit in finding["fix"]["edits"]] == ["pkg/bad.py"]


def test_select_and_ignore_take_prefixes_and_lists(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"bad.py": BAD, "pd.sh": BAD_SHELL})
    assert [f["code"] for f in found(capsys)] == ["SWA101", "SWA301"]
    assert [f["code"] for f in found(capsys, "--select", "SWA1,swa2")] == ["SWA101"]
    assert [f["code"] for f in found(capsys, "--ignore", "SWA1")] == ["SWA301"]
    assert found(capsys, "--select", "SWA1", "--ignore", "SWA101") == []


def test_stdin_is_checked_under_its_name(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD_SHELL.encode())))
    assert check("--output-format", "concise", "--stdin-filename", "deploy/pd.sh", "-") == 1
    assert capsys.readouterr().out.startswith("deploy/pd.sh:2:")


def test_stdin_cannot_be_fixed_but_its_diff_shown(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    assert check("--fix", "-") == 2
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    assert check("--fix", "--diff", "--stdin-filename", "a.py", "-") == 1
    assert "-    draft_args.page_size = 1" in capsys.readouterr().out
    assert not (root / "a.py").exists()


def test_config_applies_below_its_folder(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = """[tool.swa-lint]
ignore = ["SWA301"]
exclude = ["vendor/"]
[tool.swa-lint.per-file-ignores]
"legacy/*" = ["SWA1"]
"""
    write(root, {"pyproject.toml": config, "sub/pd.sh": BAD_SHELL, "sub/bad.py": BAD})
    write(root, {"legacy/old.py": BAD, "vendor/theirs.py": BAD})
    assert [f["path"] for f in found(capsys)] == ["sub/bad.py"]
    assert [f["path"] for f in found(capsys, "vendor/theirs.py")] == ["vendor/theirs.py"]
    assert found(capsys, "vendor/theirs.py", "--force-exclude") == []
    assert [f["path"] for f in found(capsys, "vendor/theirs.py", "sub/bad.py", "--force-exclude")] == ["sub/bad.py"]
    monkeypatch.chdir(root / "sub")
    assert [f["path"] for f in found(capsys)] == ["bad.py"]
    assert [f["path"] for f in found(capsys, "../legacy", "../sub")] == ["bad.py"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("selct = []", "pyproject.toml:3: unknown key `selct`"),
        ("select = 'SWA1'", "pyproject.toml:3: `select` takes a list of strings"),
        ("include-markdown = 1", "pyproject.toml:3: `include-markdown` takes true or false"),
        ("sglang-version = 'new'", "pyproject.toml:3: `sglang-version` takes a version"),
        ("pair = [{target = 'a'}]", "pyproject.toml:3: `pair` takes tables"),
        ("share-source = 'geometry'", "pyproject.toml:3: `share-source` takes MODULE:NAME"),
        ("roles = {helper = ['x']}", "pyproject.toml:3: `roles` takes a table"),
        ("select = ['SWA8']", "pyproject.toml:3: `select` is wrong: no rule has the code 'SWA8'"),
        ("per-file-ignores = {a = ['E501']}", "pyproject.toml:3: `per-file-ignores` is wrong: no rule"),
        ("select = [", "pyproject.toml:3: "),
        ("select = ]", "pyproject.toml:3: "),
    ],
)
def test_bad_config_names_file_line_and_key(
    root: Path, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    write(root, {"pyproject.toml": f"[tool.swa-lint]\n# first\n{line}\n"})
    assert check() == 2
    assert message in capsys.readouterr().err


def test_a_config_that_is_no_text_is_an_error(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"pyproject.toml": b"[tool.swa-lint]\n\xff = 1\n"})
    assert check() == 2
    assert "pyproject.toml:2: byte 0xff is not UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a.py", "a.sh", "a.yaml", "Dockerfile", "config.json", "a.toml"])
def test_empty_input_is_clean(root: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    write(root, {name: b""})
    assert check(name) == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert check("-", "--stdin-filename", name) == 0


def started(root: Path, *args: str) -> subprocess.Popen[str]:
    """The command as a process of its own, its output in pipes."""
    command = [sys.executable, "-m", "swa_lint", *args]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=root, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_it_quietly(root: Path, jobs: str) -> None:
    write(root, {f"m{number}.py": BAD + f"# {number}\n" for number in range(3000)})
    process = started(root, "check", "--no-cache", "--jobs", jobs)
    time.sleep(1.5)
    assert process.poll() is None, "it must not be done yet"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    sent = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, "", "swa-lint: interrupted")
    assert time.monotonic() - sent < 3, "workers must not go on"


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_leaves_is_no_error(root: Path) -> None:
    write(root, {f"m{number}.py": BAD for number in range(400)})
    process = started(root, "check", "--no-cache", "--jobs", "1")
    assert process.stdout is not None
    assert "SWA101" in process.stdout.readline()
    process.stdout.close()
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 1


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
@pytest.mark.parametrize("no_color", ["", "1"])
def test_colours_on_a_terminal_unless_unwanted(root: Path, no_color: str) -> None:
    write(root, {"a.py": BAD})
    master, terminal = os.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": no_color}
    command = [sys.executable, "-m", "swa_lint", "check", "--no-cache"]
    assert subprocess.run(command, cwd=root, stdout=terminal, env=env, check=False).returncode == 1
    os.close(terminal)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert "SWA101" in shown
    assert ("\x1b[" in shown) == (not no_color)


def test_rule_describes_each_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "swa101"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# draft-page-size-override (SWA101)") and "Bad:" in text and "Good:" in text
    assert run(["rule", "--all"]) == 0
    assert capsys.readouterr().out.count("## Why it matters") >= 15
    assert run(["rule", "SWA999"]) == 2
    assert run(["rule"]) == 2


def test_explain_points_at_the_code(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = "DSV4 target and draft pools must share paged SWA geometry: target=(256, 128), draft=(1, 128)"
    write(root, {"src/bad.py": BAD, "log.txt": f"RuntimeError: {error}\n"})
    assert run(["explain", "log.txt", "--in", "src"]) == 0
    out = capsys.readouterr().out
    assert "target 256, draft 1" in out and "src/bad.py:6:5: SWA101" in out
    assert run(["explain", "ModuleNotFoundError: no module"]) == 1


def test_an_internal_error_is_one_line_and_exits_2(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise KeyError("broken")

    monkeypatch.setattr("swa_lint.session.findings", fail)
    assert check() == 2
    assert "internal error" in capsys.readouterr().err


def test_the_command_starts_without_the_analysis() -> None:
    code = "import sys, swa_lint.cli as c; c.run(['--version']); print(sorted(m.split('.')[0] for m in sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = out.splitlines()[-1]
    assert "swa-lint" in out
    assert not any(f"'{name}'" in loaded for name in ("rich", "pathspec", "ruamel", "tree_sitter", "libcst"))
