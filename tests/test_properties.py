"""Properties of the Python source and its fixes, on any text and on fixtures that are mutilated at random."""

from __future__ import annotations

import ast
import difflib
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swa_lint.cli import run
from swa_lint.sources.facts import Pair
from swa_lint.sources.python import read

FIXTURES = Path(__file__).parent.parent / "fixtures"
SOURCES = [p.read_text() for p in sorted(FIXTURES.glob("SWA[12]*/*.py"))]
relaxed = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def places(pairs: tuple[Pair, ...]) -> list[tuple[str, int, str]]:
    return sorted(
        (p.link.name, (p.target if p.link.name == "REBOUND" else p.draft).where.line, p.draft.field.value)
        for p in pairs
    )  # type: ignore[union-attr]


@relaxed
@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    read("any.py", f"page_size = 1  # sglang is_draft_worker= draft_args\n{text}")


@relaxed
@given(
    st.sampled_from(SOURCES),
    st.integers(0, 10_000),
    st.integers(0, 60),
    st.sampled_from(["", "(", "]", ":", "\n", "*", "await ", "=", "lambda"]),
)
def test_mutilated_code_is_read(source: str, start: int, length: int, put: str) -> None:
    at = start % len(source)
    read("any.py", source[:at] + put + source[at + length :])


@relaxed
@given(st.sampled_from(SOURCES), st.randoms(use_true_random=False))
def test_code_with_lines_dropped_is_read(source: str, random: object) -> None:
    lines = source.splitlines()
    kept = [line for line in lines if random.random() > 0.15]  # type: ignore[attr-defined]
    read("any.py", "\n".join(kept))


@pytest.mark.parametrize("source", SOURCES)
def test_names_that_mean_nothing_change_nothing(source: str) -> None:
    renamed = re.sub(r"\b(context|sizes|shape|draft_shape|slots|clone|recipe|layers)\b", r"other_\1", source)
    assert renamed == source or places(read("a.py", renamed).pairs) == places(read("a.py", source).pairs)


@relaxed
@given(st.sampled_from(sorted(FIXTURES.glob("SWA[12]*/bad.py"))), st.booleans(), st.integers(0, 4))
def test_a_fix_parses_settles_and_leaves_the_rest_alone(
    tmp_path_factory: pytest.TempPathFactory, file: Path, crlf: bool, blank: int
) -> None:
    root = tmp_path_factory.mktemp("fix")
    text = file.read_text().replace("\n\n\n", "\n" * (2 + blank))
    ends = text.replace("\n", "\r\n") if crlf else text
    target = root / "code.py"
    target.write_bytes(ends.encode())
    options = ["fix", str(target), "--unsafe-fixes", "--no-cache", "--jobs", "1", "--output-format", "concise"]
    run(options)
    once = target.read_bytes()
    ast.parse(once)
    assert crlf == (b"\r\n" in once)
    run(options)
    assert target.read_bytes() == once
    before, after = ends.encode().splitlines(keepends=True), once.splitlines(keepends=True)
    changes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    lost = [line for tag, i, j, _, _ in changes if tag != "equal" for line in before[i:j]]
    # Besides the lines at fault, only the test of a branch that has nothing left goes.
    assert all(b"expect:" in line or re.match(rb"\s+if .*:\s*$", line) for line in lost)
