"""Defects planted in real SGLang sources are found on their line, under their code; harmless edits change nothing.

An edit replaces text that must stand in the release exactly once. A line of the new text that ends in `# SWA...` is
where that finding is expected, and no other new finding is.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from linting import Seen, check_text, seen
from planted_common import COMMON
from planted_configurator import CONFIGURATOR
from planted_edits import Case, Edit
from planted_worker import WORKER
from wheels import Unavailable, release

pytestmark = pytest.mark.sglang

CASES = (WORKER, COMMON, CONFIGURATOR)
_EXPECTED = re.compile(r"# (SWA\d{3})$")


@dataclass(frozen=True)
class Original:
    """An untouched file of a release and what is found in it."""

    root: Path
    text: str
    found: Counter[Seen]


@cache
def _original(case: Case) -> Original:
    root = release(case.version)
    text = (root / case.path).read_text(encoding="utf-8")
    return Original(root, text, seen(check_text(root, case.path, text), case.path, text))


@pytest.fixture
def original(case: Case) -> Original:
    try:
        return _original(case)
    except Unavailable as error:
        pytest.skip(str(error))


def _apply(edit: Edit, text: str) -> str:
    for before, after in edit.changes:
        if edit.everywhere:
            assert before in text, f"the release has no {before!r}"
        else:
            assert text.count(before) == 1, f"the release has {text.count(before)} times {before!r}"
        text = text.replace(before, after)
    ast.parse(text)
    return text


def _each(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("case", "edit"),
        [pytest.param(case, edit, id=f"{case.version}-{edit.name}") for case in CASES for edit in getattr(case, kind)],
    )


@_each("defects")
def test_a_planted_defect_is_found_on_its_line(case: Case, edit: Edit, original: Original) -> None:
    text = _apply(edit, original.text)
    expected = {(m[1], n) for n, line in enumerate(text.splitlines(), 1) if (m := _EXPECTED.search(line))}
    assert expected, "the edit says where nothing is expected"
    remaining = Counter(original.found)
    new = []
    for finding in check_text(original.root, case.path, text):
        (key,) = seen([finding], case.path, text)
        if remaining[key]:
            remaining[key] -= 1
        else:
            new.append(finding)
    places = {(f.code, n) for f in new for n in range(f.where.line, f.where.end_line + 1)}
    assert expected <= places, f"found instead: {[(f.code, f.where.line, f.message) for f in new]}"
    assert len(new) == len(expected), f"found also: {[(f.code, f.where.line, f.message) for f in new]}"
    assert bool(+remaining) == edit.supersedes, "a finding of the untouched file is gone"


@_each("harmless")
def test_a_harmless_edit_changes_nothing(case: Case, edit: Edit, original: Original) -> None:
    text = _apply(edit, original.text)
    found = check_text(original.root, case.path, text)
    assert Counter(f.code for f in found) == Counter(key.code for key in original.found.elements()), [
        (f.code, f.where.line, f.message) for f in found
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.version)
def test_every_file_has_eight_edits_of_each_kind(case: Case) -> None:
    assert len(case.defects) >= 8
    assert len(case.harmless) >= 8
