"""The cache and the workers: the same answer, faster, whatever happens to either."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from project import BAD, BAD_SHELL, FIXED, write

from swa_lint.cli import run
from swa_lint.project import workers
from swa_lint.project.kinds import Kind
from swa_lint.project.read import FileRecord, SourceFile, read_chunk


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project


def check(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    run(["check", "--cache-dir", "../cache", "--output-format", "concise", *args])
    return capsys.readouterr().out


def age(file: Path) -> None:
    """Let a file look old enough for its stamp to be trusted."""
    past = time.time() - 3600
    os.utime(file, (past, past))


def test_a_warm_run_says_the_same(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"a.py": BAD, "b.sh": BAD_SHELL, "c.py": "page = (\n"})
    cold = check(capsys)
    assert len(cold.splitlines()) == 3
    assert check(capsys) == cold


def test_a_warm_run_reads_nothing_again(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, {"a.py": BAD, "b.py": FIXED})
    cold = check(capsys)

    def fail(*args: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr("swa_lint.project.read.read_data", fail)
    assert check(capsys) == cold


@pytest.mark.parametrize("same_size", [False, True])
def test_an_edited_file_is_read_again(root: Path, capsys: pytest.CaptureFixture[str], same_size: bool) -> None:
    write(root, {"a.py": BAD})
    age(root / "a.py")
    assert "SWA101" in check(capsys)
    write(root, {"a.py": BAD.replace("page_size = 1", "page_sise = 1") if same_size else FIXED})
    assert check(capsys) == ""


def test_a_file_depends_on_what_it_imports(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user = BAD.replace("import TpModelWorker", "import TpModelWorker\nfrom sizes import PAGE").replace("= 1", "= PAGE")
    write(root, {"sizes.py": "PAGE = 1\n", "user.py": user})
    assert " 1" in check(capsys, "user.py")
    write(root, {"sizes.py": "PAGE = 7\n"})
    assert "page_size 7" in check(capsys, "user.py")


@pytest.mark.parametrize("damage", [b"", b"junk", b"\x80\x05N."])
def test_a_damaged_cache_is_dropped(root: Path, capsys: pytest.CaptureFixture[str], damage: bytes) -> None:
    write(root, {"a.py": BAD})
    cold = check(capsys)
    (file,) = (root.parent / "cache").iterdir()
    file.write_bytes(damage)
    assert check(capsys) == cold
    assert file.stat().st_size > len(damage)


def test_a_cache_of_another_version_is_not_used(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, {"a.py": BAD})
    cold = check(capsys)
    monkeypatch.setattr("swa_lint.project.cache.__version__", "999")
    monkeypatch.setattr("swa_lint.project.read.kind_of_script", lambda data: None)
    assert check(capsys) == cold


def test_no_cache_keeps_nothing_and_a_cache_that_cannot_be_written_is_no_error(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, {"a.py": BAD})
    assert "SWA101" in check(capsys, "--no-cache")
    assert not (root.parent / "cache").exists()
    (root.parent / "cache").write_bytes(b"a file where the folder should be")
    assert "SWA101" in check(capsys)


def test_output_does_not_depend_on_the_number_of_workers(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {f"pkg/m{number:02}.py": BAD if number % 7 == 0 else FIXED for number in range(60)})
    one = check(capsys, "--no-cache", "--jobs", "1")
    assert len(one.splitlines()) == 9
    assert check(capsys, "--no-cache", "--jobs", "3") == one


def _dies(root: str, chunk: Sequence[workers.Work]) -> list[workers.Result]:
    if any("fatal" in source.path for source, _ in chunk):
        os.kill(os.getpid(), signal.SIGKILL)
    return read_chunk(root, chunk)


def test_a_dead_worker_costs_one_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {f"m{number:02}.py": BAD for number in range(40)} | {"fatal.py": BAD})
    monkeypatch.setattr(workers, "read_chunk", _dies)
    work = [(SourceFile(file.name, Kind.PYTHON), None) for file in sorted(root.iterdir())]
    records: dict[str, FileRecord | None] = {}
    for source, result in workers.read_all(str(root), work, 2):
        assert result is not None and source.path not in records
        records[source.path] = result[1]
    assert len(records) == 41
    for path, record in records.items():
        assert record is not None
        assert [problem.message for problem in record.facts.problems] == (
            ["it cannot be analysed: the process that read it died"] if path == "fatal.py" else []
        )
