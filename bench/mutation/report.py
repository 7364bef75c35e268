"""The report of a run, as Markdown."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from mutation.trial import Trial


def as_markdown(trials: Sequence[Trial], versions: Sequence[str], seed: int, seconds: float) -> str:
    """Rates by operator, then every survivor and every false alarm with its diff."""
    defects = [t for t in trials if not t.mutant.equivalent]
    harmless = [t for t in trials if t.mutant.equivalent]
    killed = sum(t.right for t in defects)
    alarms = sum(not t.right for t in harmless)
    rate = f"{100 * killed / len(defects):.1f}%" if defects else "-"
    parts = [
        "# Mutants of SGLang releases",
        f"{len(defects)} planted defects: {killed} found ({rate}). {len(harmless)} harmless edits: {alarms} false alarms.",
        f"Releases {', '.join(versions)}; seed {seed}; Python {platform.python_version()}; {seconds:.0f} s. "
        "Made by `python bench/mutants.py --write bench/MUTANTS.md`.",
        _table("Operator", "found on its line", "found elsewhere", defects),
        _table("Equivalent", "silent", "-", harmless),
        _list("Survivors", [t for t in defects if not t.right]),
        _list("False alarms", [t for t in harmless if not t.right]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(title: str, right: str, elsewhere: str, trials: Sequence[Trial]) -> str:
    rows = [f"| {title} | form | mutants | {right} | {elsewhere} |", "|---|---|---|---|---|"]
    kinds = dict.fromkeys((t.mutant.operator, t.mutant.form) for t in trials)
    for operator, form in sorted(kinds):
        these = [t for t in trials if (t.mutant.operator, t.mutant.form) == (operator, form)]
        other = sum(bool(t.added) and not t.right for t in these)
        rows.append(f"| {operator} | {form} | {len(these)} | {sum(t.right for t in these)} | {other} |")
    return "\n".join(rows)


def _list(title: str, trials: Sequence[Trial]) -> str:
    if not trials:
        return ""
    blocks = [f"## {title}"]
    for trial in trials:
        mutant = trial.mutant
        added = "\n".join(f"- {line}" for line in trial.added) or "- nothing"
        lost = f"\n- {trial.lost} findings of the untouched file are gone" if trial.lost else ""
        blocks.append(
            f"### {mutant.version}, {mutant.operator}: {mutant.form}\n\n{added}{lost}\n\n```diff\n{trial.diff}\n```"
        )
    return "\n\n".join(blocks)
