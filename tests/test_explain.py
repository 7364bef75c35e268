"""`swa_lint.explain`: the engine's geometry errors are recognised in any log, whatever its release."""

from __future__ import annotations

import pytest

from swa_lint.explain import explain, render

PAGED = "DSV4 target and draft pools must share paged SWA geometry: target=(1, 4096), draft=(32, 4096)"
TRACEBACK = f"""[2026-05-01 10:00:00 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "/sgl/sglang/srt/disaggregation/utils.py", line 1185, in setup_state_kv_args
    raise RuntimeError(
RuntimeError: {PAGED}
"""


def test_names_the_field_at_fault_and_both_values() -> None:
    (found,) = explain(TRACEBACK)
    assert [(d.field, d.values, d.differs) for d in found.differences] == [
        ("page_size", ("1", "32"), True),
        ("sliding_window", ("4096", "4096"), False),
    ]
    assert found.sides == ("target", "draft")
    assert found.releases == "0.5.16-0.5.22"
    assert found.line == 4
    assert "SWA303" in found.rules and "SWA401" not in found.rules


def test_the_window_at_fault_points_at_the_checkpoints() -> None:
    (found,) = explain(PAGED.replace("(1, ", "(32, ").replace("(32, 4096)", "(32, 128)", 1))
    assert [d.field for d in found.differences if d.differs] == ["sliding_window"]
    assert "SWA401" in found.rules and "SWA303" not in found.rules
    assert any("config.json" in cause for cause in found.causes)


def test_three_tuples_of_newer_releases() -> None:
    text = "DSV4 target and draft pools must share SWA geometry: target=(256, 128, None), draft=(256, 128, 8)"
    (found,) = explain(text)
    assert found.releases == "0.5.23"
    assert [(d.field, d.values) for d in found.differences if d.differs] == [("request_rows", ("None", "8"))]


def test_page_size_between_servers_is_another_error() -> None:
    (found,) = explain(
        "Page size mismatch: prefill server has page_size=32, but decode server has page_size=64. "
        "Both servers must use the same --page-size value."
    )
    assert found.sides == ("prefill", "decode")
    assert found.rules == ("SWA301", "SWA302")
    assert not any("speculative" in change for change in found.changes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("RuntimeError: DSV4 draft state transfer expects SWA-only NextN layers", "compressed-attention"),
        ("RuntimeError: DSV4 target and draft pools must use the same unified-KV mode", "unified-KV"),
        ("RuntimeError: DSV4 target and draft pools must share the SWA index mapping", "allocator"),
        (
            "DSV4 target and draft pools must share SWA ring geometry: target=(128, 192, 64), draft=(128, 256, 64)",
            "number of draft tokens",
        ),
        ("ValueError: DeepSeek-V4.1 DSpark PD requires static verify, Mooncake or NIXL, DCP=1", "--dcp-size"),
    ],
)
def test_siblings_are_known(text: str, words: str) -> None:
    (found,) = explain(text)
    assert words in render(found)


def test_one_error_of_many_ranks_is_told_once_and_wrapped_lines_are_joined() -> None:
    wrapped = PAGED.replace("must share", "must\n    share").replace("draft=(32", "\x1b[31mdraft=(32")
    found = explain(TRACEBACK * 8 + wrapped)
    assert len(found) == 1


def test_two_errors_of_one_log_come_in_order() -> None:
    found = explain("Page size mismatch: prefill server has page_size=1, but decode server has page_size=2\n" + PAGED)
    assert [explanation.sides[0] for explanation in found] == ["prefill", "target"]


@pytest.mark.parametrize("text", ["", "CUDA out of memory", "page_size=32 sliding_window=128", "must share geometry"])
def test_unknown_text_has_no_explanation(text: str) -> None:
    assert explain(text) == ()


def test_rendering_marks_the_field_that_differs() -> None:
    (found,) = explain(PAGED)
    lines = render(found).splitlines()
    assert "  page_size       target 1, draft 32  <- differs" in lines
    assert "  sliding_window  4096 on both" in lines
    assert lines[-1].startswith("  - ")


@pytest.mark.parametrize("numbers", ["()", "(1)", "(1, 2, 3, 4, 5)", "(, ,)"])
def test_odd_tuples_do_not_fail(numbers: str) -> None:
    found = explain(f"target and draft pools must share SWA geometry: target={numbers}, draft=(9, 9, 9)")
    assert [render(explanation) for explanation in found]
