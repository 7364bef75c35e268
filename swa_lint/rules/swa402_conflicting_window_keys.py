"""SWA402: a model config that names its window twice, with two values."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Related, Remedy, Severity, Side
from swa_lint.geometry import Field
from swa_lint.project.launch_pairs import model_configs
from swa_lint.rules.registry import Rule, register
from swa_lint.sglang.windows import SYNONYMS, window_unread
from swa_lint.sources.facts import ProjectFacts

RULE = Rule(
    code="SWA402",
    name="conflicting-window-keys",
    severity=Severity.WARNING,
    what="""A checkpoint's `config.json` in which two of `sliding_window_size`, `sliding_window` and `window_size` have
different values, or the top level and `text_config` have. The finding sits on the key that the engine does not read.""",
    why="""Which key counts depends on the model and on the code that reads it: `ModelConfig` takes the first that is not
null, DeepSeek-V4 takes `sliding_window`. A tool that reads the other one builds another window.""",
    bad="""{"architectures": ["DeepseekV4ForCausalLM"], "sliding_window": 128, "window_size": 256}
""",
    good="""{"architectures": ["DeepseekV4ForCausalLM"], "sliding_window": 128}
""",
    fix="Shown only: which of the two values is meant is the author's to say.",
    language="json",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for config in model_configs(project):
        windows = [key for key in config.windows if key.name in SYNONYMS]
        if window_unread(config.architectures) or not windows:
            continue
        read = windows[0]
        for key in windows[1:]:
            if key.value == read.value:
                continue
            yield Finding(
                code=RULE.code,
                name=RULE.name,
                severity=RULE.severity,
                where=key.where,
                message=f"{key.name} {key.value} contradicts {read.name} {read.value}, which the engine reads; "
                "keep one of them",
                fields=(Field.SLIDING_WINDOW,),
                target=Side(str(read.value), read.name),
                draft=Side(str(key.value), key.name),
                related=(Related(read.where, f"the engine reads {read.name} {read.value}"),),
                remedy=Remedy(Applicability.DISPLAY, f"Remove {key.name}, or give it {read.name}'s value"),
            )
