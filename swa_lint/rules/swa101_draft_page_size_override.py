"""SWA101: the draft's args get a page size of their own."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Finding, Severity
from swa_lint.rules.pairing import certainty, finding, follow_target, linked, words
from swa_lint.rules.registry import Rule, register
from swa_lint.sources.facts import Link, ProjectFacts

RULE = Rule(
    code="SWA101",
    name="draft-page-size-override",
    severity=Severity.ERROR,
    what="A page size on the draft's server arguments, runner or config that does not come from the target's: on a copy, "
    "in a replace or override, in a draft construction, or read from a draft-only field or variable.",
    why="Target and draft pools are registered for transfer with one page list, so their pages must have one size. SGLang "
    "refuses the pair when prefill/decode disaggregation first registers it; versions before the check, and colocated "
    "servers, go on with wrong output.",
    bad="""\
draft_args = deepcopy(server_args)
draft_args.page_size = 32
worker = TpModelWorker(server_args=draft_args, is_draft_worker=True)
""",
    good="""\
draft_args = deepcopy(server_args)
worker = TpModelWorker(server_args=draft_args, is_draft_worker=True)
""",
    fix="Safe: the override is dropped where the copy already carries the target's value, or replaced by a read of it.",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for pair in linked(project, Link.ARGS):
        message = (
            f"Draft `{pair.draft.carrier.name}` gets {words(pair.draft, 'page_size')}, the target has "
            f"{words(pair.target, 'page_size')}; let the draft keep the target's page size"
        )
        yield finding(RULE, pair, message, certainty(pair), follow_target(pair))
