"""SWA103: the target changes after the draft copied it."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Related, Remedy, Severity
from swa_lint.rules.pairing import linked, side
from swa_lint.rules.registry import Rule, register
from swa_lint.sources.facts import Link, ProjectFacts

RULE = Rule(
    code="SWA103",
    name="geometry-changed-after-copy",
    severity=Severity.ERROR,
    what="The target's page size or window is bound anew after the draft's args or config were copied from it.",
    why="The copy keeps what it took over, so the target goes on with another geometry than the draft.",
    bad="""\
draft_args = deepcopy(server_args)
server_args.page_size = block_size
target = TpModelWorker(server_args=server_args)
draft = TpModelWorker(server_args=draft_args, is_draft_worker=True)
""",
    good="""\
server_args.page_size = block_size
draft_args = deepcopy(server_args)
target = TpModelWorker(server_args=server_args)
draft = TpModelWorker(server_args=draft_args, is_draft_worker=True)
""",
    fix="Display: take the copy after the target is settled. Moving statements is the author's choice.",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for pair in linked(project, Link.REBOUND):
        target, draft = pair.target, pair.draft
        assert target is not None
        name = target.field.value
        message = (
            f"The target's {name} becomes {target.value} after draft `{draft.carrier.name}` copied {draft.value}; "
            "settle the target before the copy is taken"
        )
        related = [Related(draft.where, "the draft copied it here"), *(Related(h.where, h.message) for h in target.via)]
        advice = Remedy(Applicability.DISPLAY, f"Take the draft's copy after the target's {name} is set")
        yield Finding(
            RULE.code, RULE.name, RULE.severity, target.where, message, (target.field,), side(target), side(draft),
            tuple(related), advice,
        )  # fmt: skip
