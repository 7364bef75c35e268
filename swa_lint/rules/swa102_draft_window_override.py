"""SWA102: the draft's config, runner or args get a window of their own."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Finding, Severity
from swa_lint.rules.pairing import certainty, finding, follow_target, linked, words
from swa_lint.rules.registry import Rule, register
from swa_lint.sources.facts import Link, ProjectFacts

RULE = Rule(
    code="SWA102",
    name="draft-window-override",
    severity=Severity.ERROR,
    what="The sliding window of the draft - on its Hugging Face config, model config, runner or args - set from a source "
    "that is not the target's.",
    why="Each pool takes its own model's window, so a window written on the draft's side alone gives the two pools another "
    "geometry, and SGLang refuses the pair or reads the wrong rows.",
    bad="""\
target_config = ModelConfig.from_server_args(server_args)
draft_config = ModelConfig.from_server_args(server_args, is_draft_model=True)
draft_config.window_size = 512
""",
    good="""\
target_config = ModelConfig.from_server_args(server_args)
draft_config = ModelConfig.from_server_args(server_args, is_draft_model=True)
draft_config.window_size = target_config.window_size
""",
    fix="Safe: the write is dropped where a copy already carries the target's window, or reads it from the target's config. "
    "Display where no name in scope reads the target's window.",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for pair in linked(project, Link.CONFIG):
        message = (
            f"Draft `{pair.draft.carrier.name}` gets {words(pair.draft, 'sliding window')}, the target has "
            f"{words(pair.target, 'its own')}; give both the target's window"
        )
        yield finding(RULE, pair, message, certainty(pair), follow_target(pair))
