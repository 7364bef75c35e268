"""SWA203: a draft test chooses the geometry."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Drop, Finding, Remedy, Replace, Severity
from swa_lint.rules.pairing import certainty, finding, linked, words
from swa_lint.rules.registry import Rule, register
from swa_lint.sources.facts import Link, Pair, ProjectFacts

RULE = Rule(
    code="SWA203",
    name="draft-branch-geometry",
    severity=Severity.ERROR,
    what="A page size or window is chosen by asking whether this is the draft, on args, pools and runners alike.",
    why="The same code builds both pools, so a branch on the role is all it takes to give them two geometries.",
    bad="""\
page = 64 if self.is_draft_worker else self.page_size
pool = DeepSeekV4TokenToKVPool(page_size=page, **shape)
""",
    good="""\
pool = DeepSeekV4TokenToKVPool(page_size=self.page_size, **shape)
""",
    fix="Safe: the draft's arm takes the target's expression.",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for pair in linked(project, Link.BRANCH):
        name = pair.draft.field.value
        message = (
            f"The draft gets {words(pair.draft, name)} by a test of its role, the target {words(pair.target, name)}; "
            f"use one {name} for both"
        )
        yield finding(RULE, pair, message, certainty(pair), _remedy(pair))


def _remedy(pair: Pair) -> Remedy:
    name = pair.draft.field.value
    if pair.target_text is not None and pair.draft.value_where is not None:
        return Remedy(
            Applicability.SAFE,
            f"Use the target's {name} in the draft's arm: `{pair.target_text}`",
            (Replace(pair.draft.value_where, pair.target_text),),
        )
    return Remedy(Applicability.SAFE, f"Drop the draft's own {name}", (Drop(pair.draft.where),))
