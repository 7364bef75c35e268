"""Findings on one file of a release, and what stays comparable when the file is edited."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from swa_lint.check import findings, select
from swa_lint.finding import Finding
from swa_lint.sources.facts import ProjectFacts
from swa_lint.sources.python import read


@dataclass(frozen=True)
class Seen:
    """A finding by its code and the text it stands on, so that an edit elsewhere in the file does not change it."""

    code: str
    source: str


def check_text(root: Path, path: str, text: str) -> list[Finding]:
    """What the rules that are on by default find in `text`, as the file `path` below `root`, imports followed."""
    facts = read(path, text, root=root)
    return findings(ProjectFacts(files=(facts,)), lambda _: {}, select(root, None, ()), root)


def seen(found: list[Finding], path: str, text: str) -> Counter[Seen]:
    """The findings of `text`; those in other files, which it made visible, by path and line."""
    lines = text.splitlines()
    return Counter(
        Seen(f.code, lines[f.where.line - 1].strip() if f.where.path == path else f"{f.where.path}:{f.where.line}")
        for f in found
    )
