"""`noqa`: which lines and codes a comment speaks for, and the report of those that speak for nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from project import BAD, BAD_SHELL, write

from swa_lint.cli import run
from swa_lint.project.kinds import Kind
from swa_lint.project.noqa import suppressions


def lines(text: str, kind: Kind) -> list[tuple[int, int | None, tuple[str, ...] | None]]:
    return [(s.first, s.last, s.codes) for s in suppressions("f", text, kind)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1  # noqa\n", [(1, 1, None)]),
        ("x = 1  # NoQA: swa101,E501\n", [(1, 1, ("SWA101", "E501"))]),
        ("x = 1  # noqa:SWA101 SWA2 because\n", [(1, 1, ("SWA101", "SWA2"))]),
        ("x = 1  # why # noqa: SWA1\n", [(1, 1, ("SWA1",))]),
        ('x = "# noqa"\n', []),
        ('x = """\n"""  # noqa\n', [(1, 2, None)]),
        ("x = 1 + \\\n    2  # noqa\n", [(1, 2, None)]),
        ("f(\n    1,  # noqa\n    2,\n)\n", [(2, 2, None)]),
        ("# flake8: noqa: SWA101\nx = 1\n", [(1, None, ("SWA101",))]),
        ("x = 1  # flake8: noqa\n", []),
        ("x = (  # noqa: SWA902\n", [(1, 1, ("SWA902",))]),
    ],
)
def test_python_comments(text: str, expected: list[object]) -> None:
    assert lines(text, Kind.PYTHON) == expected


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (Kind.SHELL, "run --a 1  # noqa: SWA301\n", [(1, 1, ("SWA301",))]),
        (Kind.SHELL, "run \\\n  --a 1 \\\n  --b 2  # noqa\n", [(1, 3, None)]),
        (Kind.SHELL, "echo 'a # noqa' \"b # noqa\" c#noqa\n", []),
        (Kind.SHELL, "# it's fine # noqa\n", [(1, 1, None)]),
        (Kind.YAML, "- --page-size=1  # noqa: SWA3\n", [(1, 1, ("SWA3",))]),
        (Kind.YAML, 'a: "x # noqa"\n', []),
        (Kind.DOCKERFILE, '# noqa: SWA303\nCMD ["a"]\n', [(1, 2, ("SWA303",))]),
        (Kind.DOCKERFILE, "RUN a \\\n  # noqa\n  b\nRUN c\n", [(1, 3, None)]),
        (Kind.JSON, '{"a": "# noqa"}', []),
    ],
)
def test_other_languages(kind: Kind, text: str, expected: list[object]) -> None:
    assert lines(text, kind) == expected


def codes(capsys: pytest.CaptureFixture[str], *args: str) -> list[tuple[str, int]]:
    run(["check", "--no-cache", "--jobs", "1", "--output-format", "json", *args])
    return [(f["code"], f["line"]) for f in json.loads(capsys.readouterr().out)["findings"]]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("comment", ["# noqa", "# noqa: SWA101", "# noqa: E501,SWA1"])
def test_a_noqa_hides_the_finding_on_its_line(root: Path, capsys: pytest.CaptureFixture[str], comment: str) -> None:
    write(root, {"a.py": BAD.replace("page_size = 1", f"page_size = 1  {comment}")})
    assert codes(capsys) == []


def test_a_noqa_for_another_code_hides_nothing_and_is_reported(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"a.py": BAD.replace("page_size = 1", "page_size = 1  # noqa: SWA102")})
    assert codes(capsys) == [("SWA101", 6), ("SWA901", 6)]
    assert codes(capsys, "--select", "SWA101,SWA901") == [("SWA101", 6)], "SWA102 was not checked"


def test_shell_findings_are_hidden_on_their_command(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = BAD_SHELL.replace(" --page-size 32 &", " \\\n  --page-size 32 &  # noqa: SWA301")
    write(root, {"pd.sh": text})
    assert codes(capsys) == []


@pytest.mark.parametrize(
    ("line", "unused", "after"),
    [
        ("x = 1  # noqa: SWA101", True, "x = 1"),
        ("x = 1  # noqa: SWA101, E501", True, "x = 1  # noqa: E501"),
        ("x = 1  # noqa: SWA101  # why", True, "x = 1  # why"),
        ("x = 1  # noqa: SWA101 because", True, "x = 1  # because"),
        ("x = 1  # noqa: SWA999", True, "x = 1"),
        ("# noqa: SWA101", True, ""),
        ("x = 1  # noqa", False, "x = 1  # noqa"),
        ("x = 1  # noqa: E501", False, "x = 1  # noqa: E501"),
        ("x = 1  # noqa: SWA307", False, "x = 1  # noqa: SWA307"),
        ("x = 1  # noqa: SWA101, SWA901", False, "x = 1  # noqa: SWA101, SWA901"),
    ],
)
def test_unused_codes_are_reported_and_removed(
    root: Path, capsys: pytest.CaptureFixture[str], line: str, unused: bool, after: str
) -> None:
    write(root, {"a.py": f"import os\n{line}\n"})
    assert codes(capsys) == ([("SWA901", 2)] if unused else [])
    run(["fix", "--no-cache", "--jobs", "1"])
    assert (root / "a.py").read_text().rstrip("\n") == f"import os\n{after}".rstrip("\n")
    capsys.readouterr()
    assert codes(capsys) == []
