"""JSON launch files."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swa_lint.geometry import Const, Location, Role
from swa_lint.sources.facts import FileFacts
from swa_lint.sources.json_launch import parse, read
from swa_lint.sources.tree import Items, Mapping, Node, Scalar, Source

LAUNCH = """{
  "framework": "sglang",
  "prefill": {"extra_args": ["--page-size", 64, "--tp=4"]},
  "decode": {
    "extra_args": [
      "--tp=8",
      "--page-size",
      "32"
    ]
  }
}
"""


def cut(text: str, where: Location | None) -> str:
    assert where is not None and where.line == where.end_line
    return text.splitlines()[where.line - 1][where.column - 1 : where.end_column - 1]


def test_roles_and_places() -> None:
    prefill, decode = read("launch.json", LAUNCH).launches
    assert (prefill.role, decode.role) == (Role.PREFILL, Role.DECODE)
    assert prefill.language == "json" and prefill.deployment == "launch.json"
    one, two = prefill.get("page_size"), decode.get("page_size")
    assert one is not None and two is not None
    assert (one.value, two.value) == (Const("64"), Const("32"))
    assert cut(LAUNCH, one.value_where) == "64" and cut(LAUNCH, two.value_where) == "32"
    assert cut(LAUNCH, one.removal) == '"--page-size", 64, '
    assert (two.where.line, two.where.end_line) == (7, 8)


def test_removal_and_insertion_give_json_again() -> None:
    decode = read("launch.json", LAUNCH).launches[1]
    page = decode.get("page_size")
    assert page is not None and page.removal is not None and decode.insertion is not None
    lines = LAUNCH.splitlines(keepends=True)
    removal = page.removal
    head = "".join(lines[: removal.line - 1]) + lines[removal.line - 1][: removal.column - 1]
    tail = lines[removal.end_line - 1][removal.end_column - 1 :] + "".join(lines[removal.end_line :])
    assert json.loads(head + tail)["decode"]["extra_args"] == ["--tp=8"]
    at = decode.insertion.where
    more = decode.insertion.template.replace("{flag}", "--page-size").replace("{value}", "96")
    line = lines[at.line - 1]
    lines[at.line - 1] = line[: at.column - 1] + more + line[at.column - 1 :]
    assert json.loads("".join(lines))["decode"]["extra_args"][-1] in ("96", "--page-size=96")


def test_command_strings_with_escapes() -> None:
    text = json.dumps({"cmd": 'python3 -m sglang.launch_server --model-path "mé" \\\n --page-size 64'})
    (launch,) = read("a.json", text).launches
    page = launch.get("page_size")
    assert page is not None and cut(text, page.where) == "--page-size 64"


def test_settings_by_role() -> None:
    text = '{"sglang": {"prefill": {"page_size": 64, "tp_size": 2}, "decode": {"tp_size": 8}}}'
    prefill, decode = read("a.json", text).launches
    assert prefill.get("page_size") is not None and decode.get("page_size") is None
    assert decode.insertion is not None and decode.insertion.template == ', "{field}": {value}'


@pytest.mark.parametrize(
    "text", ['{"vllm": {"args": ["--page-size", "64"]}}', '{"page_size": 5, "a": "sglang"}', '["sglang"]']
)
def test_near_misses(text: str) -> None:
    assert read("a.json", text) == FileFacts("a.json")


@pytest.mark.parametrize(
    "text", ['{"sglang": }', '{"sglang": "x', '["sglang",,]', '"sglang" 1', '{"sglang" 1}', "[" * 9000]
)
def test_malformed(text: str) -> None:
    (problem,) = read("a.json", text + "sglang").problems
    assert not problem.skipped and problem.where.line == 1


def test_comments_and_size_are_skipped_with_a_note() -> None:
    assert [p.skipped for p in read("a.json", '// sglang\n{"a": 1}').problems] == [True]
    assert [p.skipped for p in read("a.json", '["sglang"]' + " " * 5_000_000).problems] == [True]


def plain(node: Node) -> object:
    if isinstance(node, Mapping):
        return {key.value: plain(value) for key, value in node.entries}
    if isinstance(node, Items):
        return [plain(item) for item in node.items]
    return node.value if node.style == '"' else json.loads(node.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None)
@given(JSON, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_reads_what_the_standard_library_writes(value: object, ascii_only: bool, indent: int | str | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    tree = parse(Source("a.json", text))
    assert plain(tree) == value
    if isinstance(tree, Scalar) and tree.style == '"':
        assert tree.range(0, len(tree.value)) == (1, len(text) - 1) or not tree.value


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(['"', "{", "}", "[", "]", ",", ":", '"--page-size"', '"args"', "64", "\\u"]), max_size=20)
)
def test_no_text_crashes_it(parts: list[str]) -> None:
    read("a.json", "".join(parts) + " sglang")
