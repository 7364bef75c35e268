"""From linked facts to the findings of a run: rules run, codes selected, suppressions obeyed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swa_lint.finding import Finding
from swa_lint.project.ignore import Globs
from swa_lint.project.noqa import Suppression
from swa_lint.rules.registry import all_rules
from swa_lint.rules.swa901_unused_suppression import RULE as UNUSED
from swa_lint.rules.swa901_unused_suppression import unused
from swa_lint.sources.facts import ProjectFacts


class UnknownCode(ValueError):
    """A code, or prefix of codes, that no rule has."""


@dataclass(frozen=True)
class Selection:
    """Which rules run, and which of their findings are left out in which files."""

    codes: frozenset[str]
    per_file: tuple[tuple[Globs, frozenset[str]], ...] = ()

    def allows(self, code: str, path: str) -> bool:
        """Whether a finding of `code` in the file at the absolute `path` is shown."""
        return not any(code in codes and globs.covers(path) for globs, codes in self.per_file)


def matching(selector: str) -> frozenset[str]:
    """The codes that a code or prefix stands for; raises UnknownCode when there are none."""
    codes = frozenset(code for code in all_rules() if code.startswith(selector.upper()))
    if not selector or not codes:
        raise UnknownCode(f"no rule has the code {selector!r} (see `swa-lint rule --all`)")
    return codes


def select(
    base: Path,
    selected: Sequence[str] | None,
    ignored: Sequence[str],
    per_file: Mapping[str, Sequence[str]] | None = None,
) -> Selection:
    """The selection that codes and prefixes make; a rule that is off by default needs its whole code.

    Globs of `per_file` are relative to `base`. Raises UnknownCode, and ValueError for a glob that is none.
    """
    defaults = frozenset(code for code, (rule, _) in all_rules().items() if rule.default)
    codes = defaults if selected is None else frozenset[str]()
    for selector in selected or ():
        codes |= matching(selector) & (defaults | {selector.upper()})
    for selector in ignored:
        codes -= matching(selector)
    tables = []
    for glob, selectors in (per_file or {}).items():
        tables.append((Globs(base, [glob]), frozenset[str]().union(*map(matching, selectors))))
    return Selection(codes, tuple(tables))


def findings(
    project: ProjectFacts,
    suppressions_in: Callable[[set[str]], Mapping[str, Sequence[Suppression]]],
    selection: Selection,
    root: Path,
) -> list[Finding]:
    """What the selected rules find in a project, without what a noqa suppresses, in order of place.

    `suppressions_in` gives the noqa comments of a run, told the files in which something was found.
    """
    found: dict[object, Finding] = {}
    for code, (_, check) in all_rules().items():
        if code in selection.codes:
            for finding in check(project):
                found.setdefault((finding.code, finding.where, finding.fields), finding)
    suppressions = suppressions_in({finding.where.path for finding in found.values()})
    kept, used = _without_suppressed(found.values(), suppressions)
    if UNUSED.code in selection.codes:
        readable = (file.path for file in project.files if not file.problems)
        every = (item for path in readable for item in suppressions.get(path, ()))
        kept += _without_suppressed(unused(every, used, selection.codes), _explicit(suppressions))[0]
    shown = (f for f in kept if selection.allows(f.code, os.path.normpath(os.path.join(root, f.where.path))))
    return sorted(shown, key=_place)


def _without_suppressed(
    found: Iterable[Finding], suppressions: Mapping[str, Sequence[Suppression]]
) -> tuple[list[Finding], set[tuple[Suppression, str]]]:
    """The findings that no noqa speaks for, and the codes of noqa comments that spoke for the others."""
    kept: list[Finding] = []
    used: set[tuple[Suppression, str]] = set()
    for finding in found:
        matched = [s for s in suppressions.get(finding.where.path, ()) if s.covers(finding.where.line, finding.code)]
        for suppression in matched:
            used.update((suppression, code) for code in suppression.codes or () if finding.code.startswith(code))
        if not matched:
            kept.append(finding)
    return kept, used


def _explicit(suppressions: Mapping[str, Sequence[Suppression]]) -> dict[str, list[Suppression]]:
    """The suppressions that name SWA901 itself: a bare noqa does not hide that another one is unused."""
    return {path: [s for s in items if s.codes and UNUSED.code in s.codes] for path, items in suppressions.items()}


def _place(finding: Finding) -> tuple[object, ...]:
    where = finding.where
    return where.path, where.line, where.column, finding.code, tuple(field.value for field in finding.fields)
