"""SWA202: the draft pool's geometry comes from somewhere else than the target pool's."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Finding, Severity
from swa_lint.geometry import Relation, relate
from swa_lint.rules.pairing import finding, follow_target, linked
from swa_lint.rules.registry import Rule, register
from swa_lint.sources.facts import Link, ProjectFacts

RULE = Rule(
    code="SWA202",
    name="pool-geometry-unshared",
    severity=Severity.WARNING,
    what="The draft pool's page size or window is read from another source than the target pool's, and nothing proves the "
    "two equal: an environment variable, the draft's own model config, an option.",
    why="The pools agree only as long as two settings happen to agree; a NextN checkpoint with a window of its own is the "
    "usual way to the refusal at registration.",
    bad="""\
target_pool = SWAKVPool(page_size=server_args.page_size, **shape)
draft_pool = SWAKVPool(page_size=draft_options.kv_page, **draft_shape)
""",
    good="""\
target_pool = SWAKVPool(page_size=server_args.page_size, **shape)
draft_pool = SWAKVPool(page_size=server_args.page_size, **draft_shape)
""",
    fix="Safe: the draft pool reads what the target pool reads, where that is in scope.",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for pair in linked(project, Link.POOLS):
        target = pair.target
        if target is not None and relate(pair.draft.value, target.value) is Relation.DIFFERENT:
            continue
        name = pair.draft.field.value
        theirs = f"`{target.carrier.name}` from {target.value}" if target is not None else "the target pool elsewhere"
        message = (
            f"Draft pool `{pair.draft.carrier.name}` takes its {name} from {pair.draft.value}, {theirs}; "
            "read both from the target"
        )
        yield finding(RULE, pair, message, Severity.WARNING, follow_target(pair))
