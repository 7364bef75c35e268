"""What becomes of one mutant: the findings that it adds to those of the untouched file."""

from __future__ import annotations

import difflib
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from linting import check_text
from wheels import release

from mutation.edits import Mutant
from swa_lint.finding import Finding, Severity


@dataclass(frozen=True)
class Trial:
    """A mutant, the findings it added (each as a line of text), and whether one stands on an edited line."""

    mutant: Mutant
    added: tuple[str, ...]
    placed: bool
    lost: int
    diff: str

    @property
    def right(self) -> bool:
        """Whether a defect was found on its line, or an equivalent mutant changed nothing."""
        if self.mutant.equivalent:
            return not self.added and not self.lost
        return self.placed


@dataclass(frozen=True)
class Known:
    """A finding of the untouched file, and the draft's value that it is about."""

    code: str
    line: int
    draft: str


def try_mutant(mutant: Mutant) -> Trial:
    """Check a mutant and, where others take their geometry from it, its users."""
    root = release(mutant.version)
    text = (root / mutant.path).read_text(encoding="utf-8")
    mutated = mutant.apply(text)
    lines = mutant.lines(text)
    known = _baseline(mutant.version, mutant.path)
    found = _real(check_text(root, mutant.path, mutated))
    added = _new(found, known, {k: _moved(mutant, text, k.line) for k in known}, lines)
    lost = max(0, len(known) - (len(found) - len(added)))
    placed = any(_touches(f, mutant.path, lines) for f in added)
    texts = [_text(f) for f in added]
    if mutant.users and not placed:
        for finding in _in_users(mutant, root, mutated):
            texts.append(_text(finding))
            placed |= _touches(finding, mutant.path, lines)
    return Trial(mutant, tuple(texts), placed, lost, _diff(mutant.path, text, mutated))


@cache
def _baseline(version: str, path: str) -> frozenset[Known]:
    root = release(version)
    text = (root / path).read_text(encoding="utf-8")
    return frozenset(Known(f.code, f.where.line, _draft(f)) for f in _real(check_text(root, path, text)))


def _new(found: list[Finding], known: frozenset[Known], moved: dict[Known, int], edited: set[int]) -> list[Finding]:
    """The findings that are not about the draft's value of a known one, nor where one was and nothing was edited."""
    values = {(k.code, k.draft) for k in known}
    places = {(k.code, line) for k, line in moved.items() if line not in edited}
    return [f for f in found if (f.code, _draft(f)) not in values and (f.code, f.where.line) not in places]


def _draft(finding: Finding) -> str:
    return finding.draft.value if finding.draft else ""


def _real(found: list[Finding]) -> list[Finding]:
    return [f for f in found if f.severity is not Severity.INFO]


def _moved(mutant: Mutant, text: str, line: int) -> int:
    """The line of the mutated text that a line of the original became."""
    start = sum(len(row) for row in text.splitlines(keepends=True)[: line - 1])
    moved = line
    for change in mutant.changes:
        if change.end <= start:
            moved += change.text.count("\n") - text.count("\n", change.start, change.end)
    return moved


def _touches(finding: Finding, path: str, lines: set[int]) -> bool:
    places = [finding.where, *(related.where for related in finding.related)]
    return any(w.path == path and lines & set(range(w.line, w.end_line + 1)) for w in places)


def _in_users(mutant: Mutant, root: Path, mutated: str) -> list[Finding]:
    """What the users' files add, in a copy of the release in which only the edited file is another."""
    added: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        _mirror(root, Path(folder), mutant.path, mutated)
        for user in mutant.users:
            known = _baseline(mutant.version, user)
            found = _real(check_text(Path(folder), user, (root / user).read_text(encoding="utf-8")))
            added += _new(found, known, {k: k.line for k in known}, set())
    return added


def _mirror(root: Path, copy: Path, path: str, text: str) -> None:
    """A tree of links to `root`, but for the file at `path`, which has `text`."""
    *folders, name = Path(path).parts
    here, there = root, copy
    for folder in [*folders, None]:
        for entry in here.iterdir():
            if entry.name not in (folder, name if folder is None else None):
                (there / entry.name).symlink_to(entry)
        if folder is not None:
            here, there = here / folder, there / folder
            there.mkdir()
    (there / name).write_text(text, encoding="utf-8")


def _text(finding: Finding) -> str:
    return f"{finding.code} {finding.where.path}:{finding.where.line} {finding.message}"


def _diff(path: str, before: str, after: str) -> str:
    rows = difflib.unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm="", n=2)
    return "\n".join(rows)
