"""SWA901: a `noqa: SWA...` that suppresses nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from swa_lint.finding import Applicability, Finding, Remedy, Replace, Severity
from swa_lint.geometry import Location
from swa_lint.project.noqa import Suppression
from swa_lint.rules.registry import Rule, all_rules, register
from swa_lint.sources.facts import ProjectFacts

RULE = Rule(
    code="SWA901",
    name="unused-suppression",
    severity=Severity.WARNING,
    what="""A `# noqa: SWA...` comment with a code that suppresses no finding on its line. Codes of other tools, codes of
rules that are not selected, and a bare `# noqa` are left alone.""",
    why="""A suppression that outlives its finding hides the next one on that line. A mistyped code suppresses nothing, and
its author believes that it does.""",
    bad="""draft_args.page_size = server_args.page_size  # noqa: SWA101
""",
    good="""draft_args.page_size = server_args.page_size
""",
    fix="The code, and the comment with its last code, is removed: safe.",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    """Nothing: which suppressions are unused is known when all rules have run, see `unused`."""
    return iter(())


def unused(
    suppressions: Iterable[Suppression], used: Collection[tuple[Suppression, str]], selected: Collection[str]
) -> Iterator[Finding]:
    """A finding for each suppression with codes that are not in `used`, though their rules are in `selected`."""
    for suppression in suppressions:
        idle = [
            code
            for code in suppression.codes or ()
            if code.startswith("SWA") and (suppression, code) not in used and _was_checked(code, selected)
        ]
        if idle:
            yield _finding(suppression, idle)


def _was_checked(code: str, selected: Collection[str]) -> bool:
    """Whether all rules that `code` stands for have run; a code of no rule suppresses nothing in any run."""
    rules = [rule for known, (rule, _) in all_rules().items() if known.startswith(code) and known != RULE.code]
    return all(rule.code in selected or (not rule.default and rule.code != code) for rule in rules)


def _finding(suppression: Suppression, idle: list[str]) -> Finding:
    unknown = [code for code in idle if not any(known.startswith(code) for known in all_rules())]
    what = f"`noqa: {', '.join(idle)}` suppresses nothing"
    return Finding(
        code=RULE.code,
        name=RULE.name,
        severity=RULE.severity,
        where=suppression.where,
        message=f"{what}; no rule has the code {', '.join(unknown)}" if unknown else f"{what}; remove it",
        remedy=Remedy(Applicability.SAFE, "Remove the unused code", (_change(suppression, idle),)),
    )


def _change(suppression: Suppression, idle: list[str]) -> Replace:
    where = suppression.where
    kept = [code for code in suppression.codes or () if code not in idle]
    if kept:
        return Replace(where, f"# {'flake8: ' if suppression.last is None else ''}noqa: {', '.join(kept)}")
    rest = suppression.rest.strip()
    if rest and not rest.startswith("#"):
        return Replace(where, "#")
    if rest:
        return Replace(replace(where, end_column=where.end_column + suppression.rest.index("#")), "")
    if suppression.alone:
        return Replace(Location(where.path, where.line, 1, where.line + 1, 1), "")
    return Replace(replace(where, column=where.column - len(suppression.gap)), "")
