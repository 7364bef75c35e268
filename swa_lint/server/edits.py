"""Fixes as changes to texts that an editor holds, made by the same machinery as `swa-lint fix`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from swa_lint.finding import Finding
from swa_lint.fixes.apply import Documents
from swa_lint.fixes.converge import converge
from swa_lint.geometry import Location
from swa_lint.project.kinds import is_python
from swa_lint.project.text import decode
from swa_lint.server.analysis import Analysis
from swa_lint.session import Session

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


@dataclass(frozen=True)
class Edit:
    """Puts `text` in the place of the range `where`."""

    where: Location
    text: str


def quick_fix(analysis: Analysis, finding: Finding) -> list[Edit] | None:
    """The edits that fix a finding; None where there are none, or the file could not be read after them."""
    session = analysis.session
    documents = Documents(session.content)
    edits = documents.edits(finding)
    if not edits:
        return None
    try:
        changed = documents.apply(edits)
    except UnicodeEncodeError:
        return None
    if any(session.problem_in(path, data) for path, data in changed.items()):
        return None
    return list(_edits(documents, changed))


def fix_all(analysis: Analysis) -> list[Edit]:
    """The edits of all safe fixes of the document together."""
    scratch = Session(analysis.session.request)
    scratch.read()
    before = Documents(scratch.content)
    if before.decoded(analysis.path) is None or not converge(scratch, unsafe=False).count:
        return []
    changed = scratch.content(analysis.path)
    assert changed is not None, "it has been fixed"
    return list(_edits(before, {analysis.path: changed}))


def _edits(documents: Documents, changed: Mapping[str, bytes]) -> Iterator[Edit]:
    for path, data in changed.items():
        before = documents.decoded(path)
        assert before is not None, "it has been changed"
        yield from _line_edits(path, before.text, decode(data, python=is_python(path, data)).text)


def _line_edits(path: str, before: str, after: str) -> Iterator[Edit]:
    """Edits of whole lines that make `after` of `before`; an editor's cursor elsewhere stays where it is."""
    old, new = (_LINE.findall(text) for text in (before, after))
    for tag, first, last, new_first, new_last in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag != "equal":
            open_end = last > first and not old[last - 1].endswith(("\n", "\r"))
            end = (last, len(old[-1]) + 1) if open_end else (last + 1, 1)
            where = Location(path, first + 1, 1, *end)
            yield Edit(where, "".join(new[new_first:new_last]))
