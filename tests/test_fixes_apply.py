"""Fixes on files: bytes kept, atomic, convergent, and never a file that no longer reads."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from project import BAD, BAD_SHELL, FIXED, write

from swa_lint.cli import run
from swa_lint.finding import Applicability, Finding, Remedy, Replace, Severity
from swa_lint.fixes.apply import Content, Documents, compatible, write_all
from swa_lint.fixes.converge import converge
from swa_lint.geometry import Location
from swa_lint.project.text import Lines
from swa_lint.session import Session


def fix(*args: str) -> int:
    return run(["fix", "--no-cache", "--jobs", "1", *args])


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("plain", BAD.encode(), FIXED.encode()),
        ("crlf", BAD.replace("\n", "\r\n").encode(), FIXED.replace("\n", "\r\n").encode()),
        ("bom", codecs.BOM_UTF8 + BAD.encode(), codecs.BOM_UTF8 + FIXED.encode()),
        (
            "latin-1",
            ("# -*- coding: latin-1 -*-\n# caf\xe9\n" + BAD).encode("latin-1"),
            ("# -*- coding: latin-1 -*-\n# caf\xe9\n" + FIXED).encode("latin-1"),
        ),
        ("no last newline", BAD.rstrip().encode(), FIXED.rstrip().encode()),
    ],
)
def test_all_other_bytes_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, before: bytes, after: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"worker.py": before})
    assert fix() == 0
    assert (tmp_path / "worker.py").read_bytes() == after
    assert fix() == 0
    assert (tmp_path / "worker.py").read_bytes() == after


def test_unsafe_fixes_are_applied_only_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"pd.sh": BAD_SHELL})
    assert fix() == 1
    assert (tmp_path / "pd.sh").read_text() == BAD_SHELL
    assert "Fixed 0 findings." in capsys.readouterr().err
    assert fix("--unsafe-fixes") == 0
    assert (tmp_path / "pd.sh").read_text() != BAD_SHELL
    assert "Fixed 1 finding." in capsys.readouterr().err


def test_diff_writes_nothing_and_exits_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"worker.py": BAD})
    assert fix("--diff") == 1
    streams = capsys.readouterr()
    assert streams.out.startswith("--- a/worker.py\n+++ b/worker.py\n@@ ")
    assert "-    draft_args.page_size = 1\n" in streams.out
    assert "Would fix 1 finding." in streams.err
    assert (tmp_path / "worker.py").read_text() == BAD


def test_mode_and_symbolic_link_are_kept(tmp_path: Path) -> None:
    file, link = tmp_path / "real.py", tmp_path / "link.py"
    file.write_bytes(b"old")
    file.chmod(0o755)
    link.symlink_to(file)
    assert write_all(tmp_path, {"link.py": Content(b"new", b"old")}) == {}
    assert link.is_symlink() and file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o755
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.py", "real.py"]


def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"newer")
    failed = write_all(tmp_path, {"a.py": Content(b"new", b"old")})
    assert failed == {"a.py": "a.py: not changed: the file has changed meanwhile"}
    assert file.read_bytes() == b"newer" and list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("spoil", ["changed", "read-only", "gone", "there already"])
def test_of_several_files_all_are_written_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: str) -> None:
    write(tmp_path, {"a.py": b"old", "b.py": b"old"})
    contents = {"a.py": Content(b"new", b"old"), "made.py": Content(b"new", None), "b.py": Content(b"new", b"old")}
    access = os.access
    if spoil == "changed":
        (tmp_path / "b.py").write_bytes(b"newer")
    elif spoil == "read-only":  # root may write to any file
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "b.py" and access(path, mode))
    elif spoil == "gone":
        (tmp_path / "b.py").unlink()
    else:
        (tmp_path / "made.py").write_bytes(b"")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(write_all(tmp_path, contents)) == {"made.py" if spoil == "there already" else "b.py"}
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_several_files_are_written_together(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": b"old"})
    assert write_all(tmp_path, {"a.py": Content(b"new", b"old"), "made.py": Content(b"new", None)}) == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "made.py"]
    assert (tmp_path / "made.py").stat().st_mode == (tmp_path / "a.py").stat().st_mode


def test_a_read_only_file_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"worker.py": BAD})
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write to any file
    assert fix() == 2
    assert "worker.py: not changed: the file is read-only" in capsys.readouterr().err
    assert (tmp_path / "worker.py").read_text() == BAD


def test_new_lines_end_as_the_file_does() -> None:
    edit = Replace(Location("a", 1, 1, 1, 1), "x\ny\n")
    assert Documents({"a": b"a\r\nb\r\n"}.get).apply([edit]) == {"a": b"x\r\ny\r\na\r\nb\r\n"}


def test_edits_that_touch_are_not_made_together() -> None:
    taken = {(5, 10, "")}
    assert compatible((0, 5, ""), taken) and compatible((10, 12, ""), taken)
    assert compatible((5, 10, ""), taken), "one edit that two findings share"
    assert not compatible((5, 5, "x"), taken) and not compatible((9, 12, ""), taken)
    assert not compatible((5, 10, "x"), taken) and not compatible((0, 20, ""), taken)


@given(st.text(alphabet="ab\r\n\t\N{GREEK SMALL LETTER ALPHA}\N{GRINNING FACE}"))
def test_positions_and_offsets_are_inverse(text: str) -> None:
    lines = Lines(text)
    for offset in range(len(text) + 1):
        assert lines.offset(*lines.position(offset)) == offset


class Files:
    """A workspace in memory: each occurrence of a word is a finding, with its replacement."""

    def __init__(self, files: dict[str, str], word: str, replacement: str) -> None:
        self.files = {path: text.encode() for path, text in files.items()}
        self.word, self.replacement = word, replacement
        self.locked: set[str] = set()

    def findings(self) -> Sequence[Finding]:
        found = []
        for path, data in sorted(self.files.items()):
            lines = Lines(data.decode())
            for number in range(1, len(lines) + 1):
                for match in re.finditer(f"(?={self.word})", lines.line(number)):
                    column = match.start() + 1
                    where = Location(path, number, column, number, column + len(self.word))
                    remedy = Remedy(Applicability.SAFE, "", (Replace(where, self.replacement),))
                    found.append(Finding("SWA101", "", Severity.ERROR, where, "same", remedy=remedy))
        return found

    def content(self, path: str) -> bytes | None:
        return self.files.get(path)

    def problem_in(self, path: str, data: bytes) -> str | None:
        return "broken" if b"!" in data else None

    def commit(self, changed: Mapping[str, bytes]) -> Sequence[str]:
        failed = self.locked.intersection(changed)
        if not failed:
            self.files.update(changed)
        return list(failed)


def test_rounds_go_on_until_nothing_is_left() -> None:
    files = Files({"a": "xxxx\nxx\n"}, "xx", "x")  # overlapping: no round can fix all
    assert converge(files, unsafe=False).count == 4
    assert files.files == {"a": b"x\nx\n"}


def test_an_edit_after_which_the_file_does_not_read_is_left_out() -> None:
    files = Files({"a": "xx\n", "b": "xx !\n"}, "xx", "y")
    fixed = converge(files, unsafe=False)
    assert fixed.count == 1 and files.files == {"a": b"y\n", "b": b"xx !\n"}
    assert [note.split(" not fixed")[0] for note in fixed.notes] == ["b:1: SWA101"]


def test_a_fix_that_does_not_remove_its_finding_is_tried_once_and_not_counted() -> None:
    files = Files({"a": "x\n"}, "x", "x ")
    fixed = converge(files, unsafe=False)
    assert fixed.count == 0 and files.files == {"a": b"x \n"} and len(fixed.notes) == 1


class Pairs(Files):
    """Every finding in the file `x1` is mended together with the same place of `x2`."""

    def findings(self) -> Sequence[Finding]:
        found = []
        for finding in super().findings():
            if finding.where.path.endswith("1") and finding.remedy is not None:
                other = replace(finding.where, path=finding.where.path[0] + "2")
                changes = (*finding.remedy.changes, Replace(other, self.replacement))
                found.append(replace(finding, remedy=replace(finding.remedy, changes=changes)))
        return found


def test_a_fix_of_two_files_changes_both_or_neither() -> None:
    files = Pairs({"a1": "x\n", "a2": "x\n", "b1": "x\n", "b2": "x\n"}, "x", "y")
    files.locked = {"b2"}
    assert converge(files, unsafe=False).count == 1
    assert files.files == {"a1": b"y\n", "a2": b"y\n", "b1": b"x\n", "b2": b"x\n"}


def test_a_fix_of_a_file_outside_the_run_is_not_made() -> None:
    files = Pairs({"a1": "x\n"}, "x", "y")
    fixed = converge(files, unsafe=False)
    assert fixed.count == 0 and files.files == {"a1": b"x\n"}
    assert fixed.notes == [
        "a1:1: SWA101 not fixed: a file that it changes is not part of this run, or has changed meanwhile"
    ]


def test_one_file_that_cannot_be_written_does_not_hold_up_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"a.py": BAD, "b.py": BAD})
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "a.py" and access(path, mode))
    assert fix() == 2
    assert capsys.readouterr().err == "Fixed 1 finding.\nswa-lint: error: a.py: not changed: the file is read-only\n"
    assert (tmp_path / "a.py").read_text() == BAD and (tmp_path / "b.py").read_text() == FIXED


def test_a_file_edited_while_the_fix_is_made_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"a.py": BAD})
    problem_in = Session.problem_in

    def edited(self: Session, path: str, data: bytes) -> str | None:
        write(tmp_path, {"a.py": BAD + "# newer\n"})
        return problem_in(self, path, data)

    monkeypatch.setattr(Session, "problem_in", edited)
    assert fix() == 2
    assert "a.py: not changed: the file has changed meanwhile" in capsys.readouterr().err
    assert (tmp_path / "a.py").read_text() == BAD + "# newer\n"
