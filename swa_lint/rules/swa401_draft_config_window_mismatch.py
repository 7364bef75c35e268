"""SWA401: a draft checkpoint whose window is not the target's."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Related, Remedy, Replace, Severity, Side
from swa_lint.geometry import Field
from swa_lint.rules.registry import Rule, register
from swa_lint.sglang.windows import SYNONYMS, family, window_unread
from swa_lint.sources.facts import ConfigPair, ProjectFacts, WindowKey

RULE = Rule(
    code="SWA401",
    name="draft-config-window-mismatch",
    severity=Severity.ERROR,
    what="""Target and draft `config.json` with different sliding windows. The two pair through a launch that names both
local directories, through `--target DIR --draft DIR`, or through `[[tool.swa-lint.pair]]`. Windows are compared within one
model family only, since families differ on whether the current token counts.""",
    why="""Each pool takes the window of its own model's config (`configs/model_config.py`). Under prefill/decode
disaggregation the engine refuses the pair: "DSV4 target and draft pools must share paged SWA geometry". This is the main
cause of that error on stock SGLang.""",
    bad="""{"architectures": ["DeepseekV4ForCausalLMNextN"], "model_type": "deepseek_v4", "sliding_window": 4096}
""",
    good="""{"architectures": ["DeepseekV4ForCausalLMNextN"], "model_type": "deepseek_v4", "sliding_window": 128}
""",
    fix="The draft's window becomes the target's: unsafe, since the draft was perhaps trained with its own.",
    language="json",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    seen = set()
    for pair in project.config_pairs:
        target, draft = pair.target, pair.draft
        if window_unread(draft.architectures) or not target.windows or not draft.windows:
            continue
        name = family(draft.architectures, draft.model_type)
        if name is None or name != family(target.architectures, target.model_type):
            continue
        differs = target.windows[0].value != draft.windows[0].value
        if differs and draft.windows[0].where not in seen:
            seen.add(draft.windows[0].where)
            yield _finding(pair, target.windows[0], draft.windows[0])


def _finding(pair: ConfigPair, target: WindowKey, draft: WindowKey) -> Finding:
    # Keys that agree with the one that is read go with it, or they would contradict it.
    moved = [key for key in pair.draft.windows if key == draft or (key.name in SYNONYMS and key.value == draft.value)]
    return Finding(
        code=RULE.code,
        name=RULE.name,
        severity=RULE.severity,
        where=draft.where,
        message=f"The draft's {draft.name} {draft.value} differs from the target's {target.value} "
        f"({target.where.path}:{target.where.line}); both pools need {target.value}",
        fields=(Field.SLIDING_WINDOW,),
        target=Side(str(target.value), f"{target.where.path} {target.name}"),
        draft=Side(str(draft.value), f"{draft.where.path} {draft.name}"),
        related=(Related(target.where, f"the target's window is {target.value} (paired by {pair.origin})"),),
        remedy=Remedy(
            Applicability.UNSAFE,
            f"Set the draft's window to the target's, {target.value}",
            tuple(Replace(key.value_where, str(target.value)) for key in moved),
        ),
    )
