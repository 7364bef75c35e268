"""SWA307: `--speculative-draft-window-size` on a model with a window of its own (opt-in)."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Remedy, Severity, Side
from swa_lint.geometry import Field, source_of
from swa_lint.project.launch_pairs import Server, config_paths, servers, text_of
from swa_lint.rules.registry import Rule, register
from swa_lint.sglang.forced import is_dsv4
from swa_lint.sglang.windows import window_unread
from swa_lint.sources.facts import ModelConfig, ProjectFacts

RULE = Rule(
    code="SWA307",
    name="draft-window-flag",
    severity=Severity.INFO,
    default=False,
    what="""`--speculative-draft-window-size` on a launch whose draft has a sliding window of its own: DeepSeek-V4, or a
draft checkpoint in the project whose config names a window that the engine reads.""",
    why="""The flag limits the draft's attention only, it does not set the window of its pool, and SGLang ignores it, with
a warning, where the draft model has a native window.""",
    bad="""python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V4-Flash \\
  --speculative-algorithm EAGLE --speculative-draft-window-size 4096
""",
    good="""python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V4-Flash --speculative-algorithm EAGLE
""",
    fix="Shown only: drop the flag.",
    language="bash",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    configs = {config.path: config for config in project.configs}
    seen = set()
    for server in servers(project):
        setting = server.launch.get("speculative_draft_window_size")
        native = _native_window(server, configs) if setting else None
        if setting is None or native is None or setting.where in seen:
            continue
        seen.add(setting.where)
        yield Finding(
            code=RULE.code,
            name=RULE.name,
            severity=RULE.severity,
            where=setting.where,
            message=f"Draft window {setting.text} is ignored: the draft has a window of its own ({native}); drop the flag",
            fields=(Field.SLIDING_WINDOW,),
            target=Side(native, "config.json"),
            draft=Side(str(setting.value), source_of(setting.value)),
            remedy=Remedy(Applicability.DISPLAY, "Drop `--speculative-draft-window-size`"),
        )


def _native_window(server: Server, configs: dict[str, ModelConfig]) -> str | None:
    """The draft's own window: of its config where the launch names a local one, else DeepSeek-V4's."""
    draft = text_of(server.launch.get("speculative_draft_model_path"))
    for path in config_paths(server.launch, draft):
        config = configs.get(path)
        if config is not None:
            read = config.windows and not window_unread(config.architectures)
            return str(config.windows[0].value) if read else None
    return "sliding_window of DeepSeek-V4" if draft is None and is_dsv4(server.engine) else None
