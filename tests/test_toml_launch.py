"""TOML launch files."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swa_lint.geometry import Const, Location, Role
from swa_lint.sources.facts import FileFacts, Launch, Setting
from swa_lint.sources.toml_launch import read


def cut(text: str, where: Location | None) -> str:
    assert where is not None and where.line == where.end_line
    return text.splitlines()[where.line - 1][where.column - 1 : where.end_column - 1]


def page(launch: Launch) -> Setting:
    found = launch.get("page_size")
    assert found is not None
    return found


LISTS = textwrap.dedent(
    """\
    # two servers
    engine = "sglang"
    date = 2025-01-01 10:00:00
    [servers.prefill]
    args = [
      "--model-path", "/m",
      '--page-size', "64",  # tokens
    ]
    [servers."decode"]
    args = ["--model-path", "/m", "--page-size=32"]
    """
)


def test_lists_by_role() -> None:
    prefill, decode = read("a.toml", LISTS).launches
    assert (prefill.role, decode.role) == (Role.PREFILL, Role.DECODE)
    assert (page(prefill).value, page(decode).value) == (Const("64"), Const("32"))
    assert cut(LISTS, page(prefill).value_where) == "64" and cut(LISTS, page(decode).value_where) == "32"
    assert page(prefill).where.line == 7 and prefill.language == "toml"


def test_settings_by_role_and_where_one_more_goes() -> None:
    text = "[sglang.prefill]\npage_size = 64\ntp_size = 1\n\n[sglang.decode]\ntp_size = 8 # wide\n"
    prefill, decode = read("a.toml", text).launches
    assert cut(text, page(prefill).where) == "page_size = 64"
    assert decode.get("page_size") is None and decode.insertion is not None
    assert decode.insertion.template == "\n{field} = {value}" and decode.insertion.where.line == 6
    assert decode.insertion.where.column == len("tp_size = 8 # wide") + 1


def test_commands_in_every_kind_of_string() -> None:
    text = textwrap.dedent(
        """\
        [[jobs]]
        cmd = "python3 -m sglang.launch_server --page-size 1"
        [[jobs]]
        cmd = 'python3 -m sglang.launch_server --page-size 2'
        [[jobs]]
        cmd = \"\"\"
        python3 -m sglang.launch_server \\
          --page-size 3\"\"\"
        [[jobs]]
        cmd = '''
        python3 -m sglang.launch_server --model-path 'it' \\
          --page-size 4
        '''
        """
    )
    found = read("a.toml", text).launches
    assert [page(launch).value for launch in found] == [Const(number) for number in "1234"]
    assert [cut(text, page(launch).where) for launch in found] == [f"--page-size {number}" for number in "1234"]
    assert [launch.name for launch in found] == [f"jobs/{index}" for index in range(4)]


def test_inline_tables() -> None:
    text = 'engine = "sglang"\nprefill = { page_size = 64, tp_size = 2 }\ndecode = { page_size = 32, tp_size = 2 }\n'
    prefill, decode = read("a.toml", text).launches
    assert cut(text, page(prefill).removal) == "page_size = 64, "
    assert decode.insertion is not None and decode.insertion.template == ", {field} = {value}"


@pytest.mark.parametrize(
    "text", ['[vllm]\nargs = ["--page-size", "64"]\n', "[tool.x]\npage_size = 5 # sglang\n", "a = 1\n"]
)
def test_near_misses(text: str) -> None:
    assert read("a.toml", text) == FileFacts("a.toml")


@pytest.mark.parametrize(
    ("text", "line"), [("sglang = [\n", 2), ('x = 1\nsglang = "x\n', 2), ("sglang = 1\nsglang = 2\n", 2)]
)
def test_malformed(text: str, line: int) -> None:
    (problem,) = read("a.toml", text).problems
    assert not problem.skipped and problem.where.line == line


def test_large_files_are_skipped_with_a_note() -> None:
    assert [p.skipped for p in read("a.toml", "sglang = 1\n" + "#" * 1_100_000).problems] == [True]


PIECES = [
    '"',
    "'",
    '"""',
    "[",
    "]",
    "[[a]]\n",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\n",
    "a",
    'args = ["--page-size"]',
    "1",
    "#",
    "\\",
]
PIECES += [
    "[prefill]\n",
    "page_size = 3\n",
    "a.b = {c = 1}\n",
    "x = [1, [2]]\n",
    "d = 1979-05-27 07:32:00\n",
    "'k' = 1\n",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=15).map("".join))
def test_no_text_crashes_it(text: str) -> None:
    read("a.toml", "sglang = 1\n" + text)
