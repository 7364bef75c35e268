"""SWA201: two pools of one pair with provably different geometry."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Severity
from swa_lint.geometry import Const, Relation, relate
from swa_lint.rules.pairing import finding, follow_target, linked
from swa_lint.rules.registry import Rule, register
from swa_lint.sources.facts import Link, ProjectFacts

RULE = Rule(
    code="SWA201",
    name="pool-geometry-mismatch",
    severity=Severity.ERROR,
    what="The KV pools of one target/draft pair are built with page sizes or sliding windows that cannot be equal.",
    why="One page list addresses both pools: SGLang refuses the pair when it registers the pools, or transfers wrong rows.",
    bad="""\
target_pool = SWAKVPool(page_size=64, **shape)
draft_pool = SWAKVPool(page_size=16, **draft_shape)
""",
    good="""\
target_pool = SWAKVPool(page_size=64, **shape)
draft_pool = SWAKVPool(page_size=64, **draft_shape)
""",
    fix="Unsafe: the draft pool takes the target pool's value; which of two literals is meant is a choice. Safe where the "
    "draft's value is derived from the target's.",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for pair in linked(project, Link.POOLS):
        target = pair.target
        if target is None or relate(pair.draft.value, target.value) is not Relation.DIFFERENT:
            continue
        name = pair.draft.field.value
        message = (
            f"Draft pool `{pair.draft.carrier.name}` has {name} {pair.draft.value}, target pool `{target.carrier.name}` "
            f"{target.value}; build both with the target's {name}"
        )
        literals = isinstance(pair.draft.value, Const) and isinstance(target.value, Const)
        applicability = Applicability.UNSAFE if literals else Applicability.SAFE
        yield finding(RULE, pair, message, Severity.ERROR, follow_target(pair, applicability))
