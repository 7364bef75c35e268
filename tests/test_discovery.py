"""Discovery: which files a run reads, and hostile files that it survives."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from project import BAD, write

from swa_lint.cli import run
from swa_lint.project.discovery import MissingPath, discover
from swa_lint.project.ignore import Globs
from swa_lint.project.kinds import Kind, kind_of_name, kind_of_script
from swa_lint.project.read import MAX_BYTES


def paths(root: Path, *args: str, **options: Any) -> list[str]:
    return [file.path for file in discover(args or (".",), root, **options).files]


def test_ignore_files_as_git_reads_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".git/info/exclude": "secret.py\n",
            ".gitignore": "build/\n*.gen.py\n/only_here.py\n!keep.gen.py\n",
            "a.py": "",
            "a.gen.py": "",
            "keep.gen.py": "",
            "only_here.py": "",
            "secret.py": "",
            "build/b.py": "",
            "sub/.gitignore": "local.py\n!a.gen.py\n",
            "sub/local.py": "",
            "sub/a.gen.py": "",
            "sub/only_here.py": "",
            "sub/deep/local.py": "",
        },
    )
    assert paths(tmp_path) == ["a.py", "keep.gen.py", "sub/a.gen.py", "sub/only_here.py"]
    assert paths(tmp_path, "sub") == ["sub/a.gen.py", "sub/only_here.py"]
    assert paths(tmp_path, "secret.py", "build/b.py") == ["build/b.py", "secret.py"]
    assert paths(tmp_path / "sub") == ["a.gen.py", "only_here.py"]


def test_excluded_and_tool_folders_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, {f"{folder}/x.py": "" for folder in (".venv", "node_modules", "__pycache__", "env", "old", "src")})
    write(tmp_path, {"env/pyvenv.cfg": ""})
    assert paths(tmp_path, exclude=Globs(tmp_path, ["/old/"])) == ["src/x.py"]


def test_kinds() -> None:
    names = {
        "a.PY": Kind.PYTHON,
        "run.sh": Kind.SHELL,
        "Dockerfile.gpu": Kind.DOCKERFILE,
        "x.yml": Kind.YAML,
        "config.json": Kind.MODEL_CONFIG,
        "launch.json": Kind.JSON,
        "start": Kind.SCRIPT,
        "a.txt": None,
        "dockerfile.py": Kind.PYTHON,
    }
    assert {name: kind_of_name(name) for name in names} == names
    assert kind_of_script(b"#!/usr/bin/env bash\n") is Kind.SHELL
    assert kind_of_script(b"#!/usr/bin/python3.11 -E\n") is Kind.PYTHON
    assert kind_of_script(b"#!/usr/bin/perl\n") is None and kind_of_script(b"\x7fELF") is None


def test_markdown_is_read_when_asked_for_or_named(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": ""})
    assert paths(tmp_path) == []
    assert paths(tmp_path, include_markdown=True) == paths(tmp_path, "README.md") == ["README.md"]


def test_symbolic_links(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/a.py": "", "other/b.py": ""})
    (tmp_path / "pkg/loop").symlink_to(tmp_path / "pkg")
    (tmp_path / "pkg/again.py").symlink_to(tmp_path / "pkg/a.py")
    (tmp_path / "pkg/elsewhere.py").symlink_to(tmp_path / "other/b.py")
    (tmp_path / "pkg/broken.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "pkg/self.py").symlink_to(tmp_path / "pkg/self.py")
    assert paths(tmp_path, "pkg") == ["pkg/a.py", "pkg/elsewhere.py"]


def test_a_missing_path_is_an_error_and_an_unread_kind_a_note(tmp_path: Path) -> None:
    with pytest.raises(MissingPath, match=r"gone\.py"):
        discover(["gone.py"], tmp_path)
    write(tmp_path, {"a.txt": ""})
    os.mkfifo(tmp_path / "pipe.py")
    found = discover(["a.txt", "pipe.py"], tmp_path)
    assert found.files == [] and len(found.notes) == 2


@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("a.py", b"page = (\n\n", 1, "does not parse"),
        ("a.py", b"page = 1\ny = \xff\n", 2, "cannot be decoded"),
        ("a.py", b"# coding: latin-1\npage = '\xff'\n", None, ""),
        ("a.py", b"# coding: nonsense\npage = 1\n", 1, "unknown encoding"),
        ("a.py", b"page = 1\n\0\n", 2, "NUL"),
        ("a.py", b"page = 1\n<<<<<<< HEAD\nb = 1\n=======\nb = 2\n>>>>>>> x\n", 2, "merge conflict"),
        ("a.py", b"return 1\n", None, ""),
        ("a.py", b"x = '\\d'\n", None, ""),
        ("a.py", b"page" + b"(" * 5000, 1, "does not parse"),
        ("a.py", b"page = " + b"-" * 200_000 + b"1\n", 1, "does not parse"),
        ("a.py", b"x = (\n<<<<<<< HEAD\n\xff", None, ""),  # it says nothing of geometry
        ("a.sh", b"sglang \xff\n", 1, "cannot be decoded"),
        ("a.sh", b"echo \xff\n", None, ""),
        ("a.sh", b"sglang \0", None, ""),
    ],
)
def test_unreadable_files_are_findings_and_others_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: bytes,
    line: int | None,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {name: content, "bad.py": BAD})
    assert run(["check", "--no-cache", "--jobs", "1", "--output-format", "json"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert "SWA101" in {f["code"] for f in findings}
    broken = [(f["line"], message in f["message"]) for f in findings if f["code"] == "SWA902"]
    assert broken == ([] if line is None else [(line, True)])


def test_a_huge_file_is_skipped_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with open("big.sh", "wb") as stream:
        stream.truncate(2 * MAX_BYTES)
    assert run(["check", "--no-cache"]) == 0
    assert "big.sh:1: skipped: 20 MB" in capsys.readouterr().err
