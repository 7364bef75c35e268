"""SWA403: a window in the config of a draft that takes none from there."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Remedy, Severity, Side
from swa_lint.geometry import Field
from swa_lint.project.launch_pairs import model_configs
from swa_lint.rules.registry import Rule, register
from swa_lint.sglang.windows import takes_window_flag, window_unread
from swa_lint.sources.facts import ProjectFacts

RULE = Rule(
    code="SWA403",
    name="unread-draft-window",
    severity=Severity.INFO,
    what="""A sliding window in the `config.json` of a draft architecture whose attention never takes one from there, such
as `LlamaForCausalLMEagle3`.""",
    why="""The draft attends to its whole context whatever the key says (`models/llama_eagle3.py`), so its memory and its
acceptance rate are not what the config suggests.""",
    bad="""{"architectures": ["LlamaForCausalLMEagle3"], "sliding_window": 2048}
""",
    good="""{"architectures": ["LlamaForCausalLMEagle3"]}
""",
    fix="Shown only: give the window as `--speculative-draft-window-size`, or remove the key.",
    language="json",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for config in model_configs(project):
        if not config.windows or not window_unread(config.architectures):
            continue
        key = config.windows[0]
        if takes_window_flag(config.architectures):
            advice = f"give it as `--speculative-draft-window-size {key.value}`"
        else:
            advice = "remove it"
        yield Finding(
            code=RULE.code,
            name=RULE.name,
            severity=RULE.severity,
            where=key.where,
            message=f"{key.name} {key.value} is never read from the config of {config.architectures[0]}; {advice}",
            fields=(Field.SLIDING_WINDOW,),
            draft=Side(str(key.value), key.name),
            remedy=Remedy(Applicability.DISPLAY, advice[0].upper() + advice[1:]),
        )
