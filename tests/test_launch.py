"""The argv reader that all languages share, and the flag table behind it."""

from __future__ import annotations

import pytest

from swa_lint.geometry import Const, Knob, Location, Role, Unknown
from swa_lint.sglang.flags import field_of_flag, field_of_key, field_of_variable, server_entry
from swa_lint.sources.facts import Launch, Setting
from swa_lint.sources.launch import Arg, Inline, build_launch

HERE = Location("f", 1, 1, 1, 100)


def args(line: str) -> list[Arg]:
    """Words of one line with their columns."""
    found, column = [], 1
    for word in line.split(" "):
        found.append(Arg(word, Const(word), Location("f", 1, column, 1, column + len(word))))
        column += len(word) + 1
    return found


def launch(line: str, **options: object) -> Launch | None:
    return build_launch(args(line), where=HERE, deployment="f", language="shell", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "line",
    [
        "python -m sglang.launch_server --tp 2",
        "nohup numactl -N 0 python3 -u -m sglang.launch_server --tp 2",
        "sglang serve --model m",
        "/opt/bin/sglang serve --model m",
        "python /src/python/sglang/launch_server.py --tp 2",
        "python -m sglang.srt.entrypoints.http_server --tp 2",
        "docker run image --model-path m --disaggregation-mode decode",
        "python3 train.py --sglang-page-size 64",
    ],
)
def test_starts_a_server(line: str) -> None:
    assert server_entry(line.split()) is not None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "vllm serve m --page-size 16",
        "python -m vllm.entrypoints.api_server --model m --page-size 16",
        "python -m sglang_router.launch_router --pd-disaggregation --prefill http://a",
        "python -m sglang.bench_serving --backend sglang --model m",
        "echo python -m sglang.launch_server --page-size 4",
        "wkhtmltopdf --page-size A4 a.html",
        "python train.py --page-size 64 --model m",
        "sglang version",
        "grep -r sglang.launch_server .",
    ],
)
def test_starts_no_server(line: str) -> None:
    assert server_entry(line.split()) is None


@pytest.mark.parametrize(
    ("flag", "field"),
    [
        ("--page-size", "page_size"),
        ("--page_size", "page_size"),
        ("--sglang-page-size", "page_size"),
        ("--model", "model_path"),
        ("--tp", "tp_size"),
        ("--tensor-parallel-size", "tp_size"),
        ("--decode-context-parallel-size", "dcp_size"),
        ("--speculative-draft-model", "speculative_draft_model_path"),
        ("--speculative-dflash-draft-window-size", "speculative_draft_window_size"),
        ("--speculative-draft-page-size", "speculative_draft_page_size"),
        ("--speculative-dflash-draft-page-size", "speculative_draft_page_size"),
        ("--nextn-page-size", "speculative_draft_page_size"),
        ("--swa-page-size", None),
        ("--c128-page-size", None),
        ("--eval-page-size", None),
        ("page-size", None),
    ],
)
def test_flag_spellings(flag: str, field: str | None) -> None:
    assert field_of_flag(flag) == field


def test_keys_and_variables() -> None:
    assert field_of_key("page-size") == field_of_key("page_size") == "page_size"
    assert field_of_key("pagesize") is None
    assert field_of_variable("SGLANG_DFLASH_DRAFT_PAGE_SIZE") == "speculative_draft_page_size"
    assert field_of_variable("SGLANG_MTP_PAGE_SIZE") == "speculative_draft_page_size"
    assert field_of_variable("SGLANG_PAGE_SIZE") is None
    assert field_of_variable("MY_DRAFT_PAGE_SIZE") is None


def test_prefixed_flags_belong_to_the_engine_alone() -> None:
    found = launch("python train.py --hf-checkpoint m --sglang-page-size 64 --page-size 7 --eval-page-size 9")
    assert found is not None
    assert [(s.name, s.text) for s in found.settings] == [("model_path", "m"), ("page_size", "64")]


def test_flag_and_value_with_their_places() -> None:
    found = launch("sglang serve --page-size 64 --tp=8")
    assert found is not None
    page, tp = found.settings
    assert (page.where, page.value_where) == (Location("f", 1, 14, 1, 28), Location("f", 1, 26, 1, 28))
    assert (tp.where, tp.value_where, tp.text) == (Location("f", 1, 29, 1, 35), Location("f", 1, 34, 1, 35), "8")


def test_quoted_inline_value_is_found_inside_the_quotes() -> None:
    quoted = Arg("--page-size=64", Const("--page-size=64"), Location("f", 2, 1, 2, 17))
    words = [*args("sglang serve"), quoted]
    found = build_launch(words, where=HERE, deployment="f", language="json")
    assert found is not None
    assert found.settings[0].value_where == Location("f", 2, 14, 2, 16)


def test_inline_value_that_is_no_constant() -> None:
    knob = Knob("PAGE")
    where = Location("f", 1, 30, 1, 35)
    words = [*args("sglang serve"), Arg("--page-size=$PAGE", Unknown("x"), HERE, inline=Inline(knob, where, "$PAGE"))]
    found = build_launch(words, where=HERE, deployment="f", language="shell")
    assert found is not None
    assert (found.settings[0].value, found.settings[0].value_where) == (knob, where)


def test_value_that_a_call_passes_sits_at_the_call() -> None:
    call = Location("f", 9, 5, 9, 7)
    words = args("sglang serve --page-size $1")
    words[-1] = Arg("32", Const("32"), words[-1].where, written="32", bound=call)
    found = build_launch(words, where=HERE, deployment="f", language="shell", removal=lambda flag, value: HERE)
    assert found is not None
    (page,) = found.settings
    assert (page.where, page.value_where, page.removal) == (call, call, None)
    assert page.via[-1].where.column == 14


def test_flag_without_a_value_is_no_setting() -> None:
    found = launch("sglang serve --page-size --tp 2")
    assert found is not None
    assert [s.name for s in found.settings] == ["tp_size"]


def test_last_of_two_wins() -> None:
    found = launch("sglang serve --page-size 1 --page-size 64")
    assert found is not None and found.get("page_size") is found.settings[1]


@pytest.mark.parametrize(
    ("line", "hint", "role"),
    [
        ("sglang serve --disaggregation-mode prefill", Role.UNKNOWN, Role.PREFILL),
        ("sglang serve --disaggregation-mode=decode", Role.PREFILL, Role.DECODE),
        ("sglang serve --disaggregation-mode null", Role.PREFILL, Role.UNKNOWN),
        ("sglang serve --disaggregation-transfer-backend nixl", Role.DECODE, Role.DECODE),
        ("sglang serve --tp 2", Role.DECODE, Role.UNKNOWN),
    ],
)
def test_role(line: str, hint: Role, role: Role) -> None:
    found = launch(line, role_hint=hint)
    assert found is not None and found.role is role


def test_environment_comes_first_and_splices_leave_a_launch_open() -> None:
    env = Setting("speculative_draft_page_size", Const("1"), HERE, "1")
    words = [*args("sglang serve --tp 2"), Arg("$(flags)", Unknown("$(flags)"), HERE, splice=True)]
    found = build_launch(words, where=HERE, deployment="f", language="shell", env=[env])
    assert found is not None
    assert found.settings[0] is env and found.open
    assert not launch("sglang serve --tp 2").open  # type: ignore[union-attr]
