"""flake8 and the cache of the last check: findings that only another file explains, while they hold."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from project import write

from swa_lint.cli import run
from swa_lint.flake8_plugin import Plugin
from swa_lint.project.cache import cache_file
from swa_lint.project.elsewhere import _index, said_elsewhere

HELPER = "def shrink(args):\n    args.page_size = 1\n    return args\n"
MAIN = """from copy import deepcopy
from sglang.srt.managers.tp_worker import TpModelWorker
from helper import shrink


def start(server_args):
    draft_args = deepcopy(server_args)
    shrink(draft_args)
    return TpModelWorker(server_args=draft_args, is_draft_worker=True)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return project


def check() -> None:
    run(["check", "--jobs", "1", "--exit-zero", "--output-format", "concise"])


def shown(name: str, text: str) -> list[str]:
    plugin = Plugin(None, name, text.splitlines(keepends=True))  # type: ignore[arg-type]
    return [f"{line}:{column} {message.split()[0]}" for line, column, message, _ in plugin.run()]


def test_a_finding_that_another_file_explains(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"helper.py": HELPER, "main.py": MAIN})
    assert shown("helper.py", HELPER) == [], "nothing is known before a check"
    check()
    assert capsys.readouterr().out.startswith("helper.py:2:5: SWA101")
    assert shown("helper.py", HELPER) == ["2:4 SWA101"]
    assert shown(str(root / "helper.py"), HELPER) == ["2:4 SWA101"]
    assert shown("main.py", MAIN) == []


def test_from_another_working_directory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"helper.py": HELPER, "main.py": MAIN, "sub/a.py": "x = 1\n"})
    check()
    monkeypatch.chdir(root / "sub")
    assert shown("../helper.py", HELPER) == ["2:4 SWA101"]


@pytest.mark.parametrize("name", ["main.py", "helper.py"])
def test_what_has_changed_since_counts_no_more(root: Path, name: str) -> None:
    files = {"helper.py": HELPER, "main.py": MAIN}
    write(root, files)
    check()
    write(root, {name: "# newer\n" + files[name]})
    assert shown("helper.py", (root / "helper.py").read_text()) == []
    check()
    assert shown("helper.py", (root / "helper.py").read_text()) == [f"{2 + (name == 'helper.py')}:4 SWA101"]
    (root / "main.py").unlink()
    assert shown("helper.py", (root / "helper.py").read_text()) == []


def test_a_text_that_is_being_edited_has_only_its_own_findings(root: Path) -> None:
    write(root, {"helper.py": HELPER, "main.py": MAIN})
    check()
    assert shown("helper.py", "\n" + HELPER) == []
    assert shown("stdin", HELPER) == []


def test_line_ends_and_byte_order_mark_make_no_difference(root: Path) -> None:
    write(root, {"helper.py": b"\xef\xbb\xbf" + HELPER.replace("\n", "\r\n").encode(), "main.py": MAIN})
    check()
    assert shown("helper.py", HELPER) == ["2:4 SWA101"]


def test_the_cache_is_only_read(root: Path) -> None:
    write(root, {"helper.py": HELPER, "main.py": MAIN})
    check()
    file = cache_file(root, Path(os.environ["XDG_CACHE_HOME"]) / "swa-lint")
    before = file.read_bytes(), file.stat().st_mtime_ns
    assert shown("helper.py", HELPER) == ["2:4 SWA101"]
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    file.write_bytes(b"junk")
    assert shown("helper.py", HELPER) == []
    assert file.read_bytes() == b"junk"


def test_it_costs_less_than_50_ms_in_a_project_of_5000_files(root: Path) -> None:
    write(root, {"helper.py": HELPER, "main.py": MAIN})
    write(root, {f"pkg{number % 50}/m{number}.py": "x = 1\n" for number in range(5000)})
    check()

    def once() -> float:
        _index.cache_clear()
        start = time.perf_counter()
        said = said_elsewhere(root / "helper.py", HELPER, {})
        cost = time.perf_counter() - start
        assert said is not None and said.facts
        return cost

    assert min(once() for _ in range(5)) < 0.05
