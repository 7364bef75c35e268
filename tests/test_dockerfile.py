"""Dockerfiles: the server an image starts, its ENV, and edits in the syntax of each form."""

from __future__ import annotations

import pathlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swa_lint.geometry import Const, Knob, Location
from swa_lint.sources.dockerfile import read
from swa_lint.sources.facts import Launch, Setting

FORK = "speculative_draft_page_size"


def one(text: str) -> Launch:
    (launch,) = read("Dockerfile", text).launches
    return launch


def setting(text: str, name: str = "page_size") -> Setting:
    found = one(text).get(name)
    assert found is not None
    return found


def span(text: str, where: Location | None) -> tuple[int, int]:
    assert where is not None
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts[where.line - 1] + where.column - 1, starts[where.end_line - 1] + where.end_column - 1


def at(text: str, where: Location | None) -> str:
    start, end = span(text, where)
    return text[start:end]


def without(text: str, where: Location | None) -> str:
    start, end = span(text, where)
    return text[:start] + text[end:]


def test_json_form() -> None:
    text = 'FROM a\nCMD ["python3", "-m", "sglang.launch_server", \\\n     "--page-size", "64", "--tp=2"]\n'
    page = setting(text)
    assert at(text, page.where) == '"--page-size", "64"'
    assert (at(text, page.value_where), page.text) == ("64", "64")
    assert without(text, page.removal).endswith('"sglang.launch_server", "--tp=2"]\n')
    tp = setting(text, "tp_size")
    assert (at(text, tp.value_where), tp.text) == ("2", "2")
    launch = one(text)
    assert launch.language == "dockerfile" and launch.deployment == "Dockerfile"
    assert launch.insertion is not None and launch.insertion.template == ', "{flag}", "{value}"'
    assert at(text, Location("", 3, 1, 3, launch.insertion.where.column)).endswith('"--tp=2"')


def test_shell_form_with_variables() -> None:
    text = "FROM a\nARG PAGE=64\nENV TP=8\nCMD exec python -m sglang.launch_server --page-size ${PAGE} \\\n  --tp $TP\n"
    assert setting(text).value == Knob("PAGE", Const("64"))
    assert setting(text, "tp_size").value == Const("8")
    assert at(text, setting(text, "tp_size").where) == "--tp $TP"


def test_shell_inside_json() -> None:
    text = 'FROM a\nENV FLAGS="--page-size 64"\nENTRYPOINT ["bash", "-lc", "sglang serve $FLAGS --tp 2"]\n'
    page = setting(text)
    assert at(text, page.where) == "--page-size 64"
    assert one(text).insertion is None


def test_variables_do_not_expand_in_json() -> None:
    text = 'FROM a\nENV PAGE=64\nCMD ["sglang", "serve", "--page-size", "$PAGE"]\n'
    assert setting(text).value == Const("$PAGE")


def test_entrypoint_takes_command_as_arguments() -> None:
    text = 'FROM a\nENTRYPOINT ["sglang", "serve"]\nCMD ["--page-size", "64", "--tp", "2"]\n'
    assert without(text, setting(text).removal).endswith('CMD ["--tp", "2"]\n')


def test_shell_entrypoint_ignores_command() -> None:
    text = 'FROM a\nENTRYPOINT sglang serve --tp 2\nCMD ["--page-size", "64"]\n'
    assert one(text).get("page_size") is None


def test_last_command_counts() -> None:
    text = "FROM a\nCMD sglang serve --page-size 1\nCMD sglang serve --page-size 64\n"
    assert setting(text).value == Const("64")


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ("ENV SGLANG_DRAFT_PAGE_SIZE=1\n", ""),
        ("ENV SGLANG_DRAFT_PAGE_SIZE 1\n", ""),
        ('ENV A=1 \\\n    SGLANG_DRAFT_PAGE_SIZE="1"\n', "ENV A=1\n"),
        ("ENV SGLANG_DRAFT_PAGE_SIZE=1 \\\n    A=1\n", "ENV A=1\n"),
        ("ENV A=1 SGLANG_DRAFT_PAGE_SIZE=1 \\\n    B=1\n", "ENV A=1 \\\n    B=1\n"),
        ("ENV A=1 \\\n# about the next\n    SGLANG_DRAFT_PAGE_SIZE=1\n", None),
    ],
)
def test_draft_variable_and_its_removal(lines: str, left: str | None) -> None:
    text = f'FROM a\n{lines}CMD ["sglang", "serve", "--page-size", "64"]\n'
    found = setting(text, FORK)
    assert found.value == Const("1")
    assert "SGLANG_DRAFT_PAGE_SIZE" in at(text, found.where)
    if left is not None:
        assert without(text, found.removal) == f'FROM a\n{left}CMD ["sglang", "serve", "--page-size", "64"]\n'


def test_stages() -> None:
    text = (
        "FROM a AS base\nENV SGLANG_DRAFT_PAGE_SIZE=1\nCMD sglang serve --page-size 1\n"
        "FROM b\nCMD sglang serve --page-size 2\nFROM base\nCMD sglang serve --page-size 3\n"
    )
    launches = read("Dockerfile", text).launches
    assert [(str(x.settings[-1].value), x.get(FORK) is not None) for x in launches] == [
        ("1", True),
        ("2", False),
        ("3", True),
    ]


def test_entrypoint_script(tmp_path: pathlib.Path) -> None:
    (tmp_path / "entrypoint.sh").write_text('#!/bin/sh\nexec python3 -m sglang.launch_server --tp 2 "$@"\n')
    text = 'FROM a\nCOPY entrypoint.sh /opt/\nENTRYPOINT ["/opt/entrypoint.sh"]\nCMD ["--page-size", "64"]\n'
    found = read("Dockerfile", text, root=tmp_path)
    assert found.depends == ("entrypoint.sh",)
    (launch,) = found.launches
    page = launch.get("page_size")
    assert page is not None and page.where.path == "Dockerfile" and page.value == Const("64")


@pytest.mark.parametrize(
    "text",
    [
        "FROM a\n# CMD sglang serve --page-size 64\n",
        "FROM a\nRUN echo sglang serve --page-size 64\nCMD sleep 1\n",
        "FROM a\nRUN <<EOF\nCMD sglang serve --page-size 64\nEOF\n",
        "FROM a\nHEALTHCHECK CMD sglang serve --page-size 64\n",
        "CMD sglang serve --page-size 64\n",
        'FROM a\nCMD ["vllm", "serve", "sglang", "--page-size", "64"]\n',
    ],
)
def test_nothing_starts(text: str) -> None:
    assert read("Dockerfile", text).launches == ()


LINES = st.lists(
    st.sampled_from(
        [
            "FROM a\n",
            "FROM a AS b\n",
            "FROM b\n",
            "ENV A=1",
            "ENV A 1\n",
            "ARG X=\n",
            'CMD ["sglang", "serve"',
            ', "--page-size"',
            ', "64"]\n',
            "CMD sglang serve --page-size 64\n",
            "ENTRYPOINT [",
            "\\\n",
            '"',
            "'",
            "<<EOF\n",
            "RUN ",
            "é",
            "\r\n",
            "# escape=`\n",
            "ENV SGLANG_DRAFT_PAGE_SIZE=1 ",
            '\\"',
            "$A",
            "${",
        ]
    ),
    max_size=20,
).map("".join)


@settings(max_examples=200, deadline=None)
@given(LINES | st.text(max_size=60).map(lambda text: f"FROM a\nCMD sglang {text}"))
def test_no_text_breaks_the_reader(text: str) -> None:
    for launch in read("Dockerfile", text).launches:
        assert launch.where.path == "Dockerfile"
