"""`[tool.swa-lint.roles]`: a code base's own words count as SGLang's do, and only where they are set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from project import write

from swa_lint.cli import run
from swa_lint.geometry import Role
from swa_lint.sglang import own_words
from swa_lint.sglang.names import draft_flag, draft_word, target_word
from swa_lint.sources.roles import is_role_key, role_of_name, without_role

COPY = """from copy import deepcopy
from sglang.srt.managers.tp_worker import TpModelWorker


def start(server_args):
    helper_args = deepcopy(server_args)
    helper_args.page_size = 1
    return make(helper_args)
"""
CLASS = COPY.replace("helper_args", "args").replace("make(args)", "HelperWorker(args)")
FLAG = COPY.replace("helper_args", "args").replace("make(args)", "TpModelWorker(server_args=args, is_helper=True)")
BRANCH = """from sglang.srt.managers.tp_worker import TpModelWorker


def start(server_args, is_helper):
    page = 1 if is_helper else server_args.page_size
    return DeepSeekV4TokenToKVPool(8, page_size=page)
"""
POOLS = """from sglang.srt.mem_cache.memory_pool import SWAKVPool


def pools():
    verifier_pool = SWAKVPool(8, page_size=64)
    helper_pool = SWAKVPool(8, page_size=32)
    return verifier_pool, helper_pool
"""
RECIPE = """backend: sglang
context:
  args: [--model-path, m, --page-size, "64"]
generation:
  args: [--model-path, m, --page-size, "32"]
"""
ROLES = """[tool.swa-lint.roles]
target = ["verifier"]
draft = ["helper"]
prefill = ["context"]
decode = ["generation"]
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture(autouse=True)
def no_words_stay() -> object:
    yield
    own_words.use({})


def codes(capsys: pytest.CaptureFixture[str], *args: str) -> list[str]:
    run(["check", "--cache-dir", "../cache", "--output-format", "json", *args])
    return [finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]]


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("copy.py", COPY, "SWA101"),
        ("made.py", CLASS, "SWA101"),
        ("flag.py", FLAG, "SWA101"),
        ("branch.py", BRANCH, "SWA203"),
        ("pools.py", POOLS, "SWA201"),
        ("recipe.yaml", RECIPE, "SWA301"),
    ],
)
def test_own_words_are_found_once_they_are_set(
    root: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, code: str
) -> None:
    write(root, {name: text})
    assert codes(capsys) == []
    write(root, {"pyproject.toml": ROLES})
    assert codes(capsys) == [code]
    write(root, {"pyproject.toml": "[tool.swa-lint]\n"})
    assert codes(capsys) == []


def test_workers_know_them_too(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {f"m{number:02}.py": COPY for number in range(40)})
    write(root, {"pyproject.toml": ROLES})
    assert codes(capsys, "--jobs", "2") == ["SWA101"] * 40


def test_a_word_is_part_of_a_name_in_every_style() -> None:
    own_words.use(
        {Role.DRAFT: ("spec_head",), Role.TARGET: ("verifier",), Role.PREFILL: ("ctx",), Role.DECODE: ("gen",)}
    )
    for name in (
        "spec_head",
        "spec_head_args",
        "my_spec_head",
        "SpecHeadWorker",
        "runSpecHead",
        "specHead",
        "SPEC_HEAD",
    ):
        assert draft_word(name), name
    for name in ("spec_heads", "inspec_head", "SpecHeader", "head", "specs_head"):
        assert not draft_word(name), name
    assert draft_flag("is_spec_head") and draft_flag("for_spec_head") and not draft_flag("spec_head")
    assert target_word("verifier_pool") and target_word("target_pool") and not target_word("verifiers")
    assert role_of_name("ctx-worker") is Role.PREFILL and role_of_name("GenServer") is Role.DECODE
    assert role_of_name("prefill-0") is Role.PREFILL and role_of_name("ctx-gen") is Role.UNKNOWN
    assert role_of_name("generate") is Role.UNKNOWN
    assert without_role("chat-ctx-0") == without_role("chat-gen-0") == "chat-*-0"
    assert is_role_key("ctx") and not is_role_key("ctx-chat")
    own_words.use({})
    assert not draft_word("spec_head") and role_of_name("ctx") is Role.UNKNOWN


@pytest.mark.parametrize("word", ["*helper", "", "3d", "a b", "a__b"])
def test_what_is_no_word_is_an_error(root: Path, capsys: pytest.CaptureFixture[str], word: str) -> None:
    write(root, {"pyproject.toml": f'[tool.swa-lint]\nroles = {{draft = ["{word}"]}}\n'})
    assert run(["check", "--no-cache"]) == 2
    assert "pyproject.toml:2: `roles` takes words of letters" in capsys.readouterr().err
