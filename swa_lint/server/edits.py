"""Fixes as changes to texts that an editor holds, made by the same machinery as `swa-lint fix`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from swa_lint.finding import Finding, Replace
from swa_lint.fixes.apply import Documents
from swa_lint.fixes.converge import converge
from swa_lint.geometry import Location
from swa_lint.project.kinds import is_python
from swa_lint.project.text import decode
from swa_lint.server.analysis import Analysis
from swa_lint.session import Session

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


def quick_fix(analysis: Analysis, finding: Finding) -> list[Replace]:
    """The edits that fix a finding; none where it has no fix, or the file could not be read after it.

    Editors ask whenever the cursor moves, so the answer is kept with the analysis.
    """
    if finding not in analysis.fixes:
        analysis.fixes[finding] = _fix(analysis.session, finding)
    return analysis.fixes[finding]


def _fix(session: Session, finding: Finding) -> list[Replace]:
    documents = Documents(session.content)
    try:
        changed = documents.apply(documents.edits(finding))
    except UnicodeEncodeError:
        return []
    if any(session.problem_in(path, data) for path, data in changed.items()):
        return []
    return list(_edits(documents, changed))


def fix_all(analysis: Analysis) -> list[Replace]:
    """The edits of all safe fixes of the document together."""
    scratch = Session(analysis.session.request)
    scratch.read()
    before = Documents(scratch.content)
    if before.decoded(analysis.path) is None or not converge(scratch, unsafe=False).count:
        return []
    changed = scratch.content(analysis.path)
    assert changed is not None, "it has been fixed"
    return list(_edits(before, {analysis.path: changed}))


def _edits(documents: Documents, changed: Mapping[str, bytes]) -> Iterator[Replace]:
    for path, data in changed.items():
        before = documents.decoded(path)
        assert before is not None, "it has been changed"
        yield from _line_edits(path, before.text, decode(data, python=is_python(path, data)).text)


def _line_edits(path: str, before: str, after: str) -> Iterator[Replace]:
    """Edits of whole lines that make `after` of `before`; an editor's cursor elsewhere stays where it is."""
    old, new = (_LINE.findall(text) for text in (before, after))
    # The lines that both texts begin and end with are nearly all there are, and finding matches is slow.
    same = _common(old, new)
    rest = _common(old[same:][::-1], new[same:][::-1])
    matcher = difflib.SequenceMatcher(None, old[same : len(old) - rest], new[same : len(new) - rest], autojunk=False)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag != "equal":
            unended = last > first and not old[same + last - 1].endswith(("\n", "\r"))
            end = (same + last, len(old[-1]) + 1) if unended else (same + last + 1, 1)
            text = "".join(new[same + new_first : same + new_last])
            yield Replace(Location(path, same + first + 1, 1, *end), text)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many items two sequences have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(left, right, strict=False)))
