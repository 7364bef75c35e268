"""SWA304: a `--page-size` that the engine replaces."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Remedy, Severity, Side
from swa_lint.geometry import Field, as_tokens, source_of
from swa_lint.project.launch_pairs import literal_default, servers
from swa_lint.rules.registry import Rule, register
from swa_lint.sglang.forced import effective_page_size
from swa_lint.sources.facts import ProjectFacts

RULE = Rule(
    code="SWA304",
    name="forced-page-size",
    severity=Severity.INFO,
    what="""A `--page-size` that the engine silently replaces for this model or attention backend: DeepSeek-V4 always uses
256 (128 on NPU), `trtllm_mla` takes 32 or 64 only, `flashmla` 64. Silent where the value is the forced one.""",
    why="""Nothing diverges, target and draft are forced alike. But the launch says a number that is not used, and
memory plans or tests that rest on it are wrong.""",
    bad="""python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V4-Flash --page-size 64
""",
    good="""python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V4-Flash
""",
    fix="Shown only: drop the flag, or write the value that is used.",
    language="bash",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    seen = set()
    for server in servers(project):
        setting = server.setting
        given = as_tokens(literal_default(setting.value)) if setting else None
        if setting is None or given is None or setting.where in seen:
            continue
        found = effective_page_size(given, server.engine)
        if found.forced_by is None or given == found.tokens or given in found.elsewhere:
            continue
        seen.add(setting.where)
        yield Finding(
            code=RULE.code,
            name=RULE.name,
            severity=RULE.severity,
            where=setting.where,
            message=f"Page size {given} is not used: {found.forced_by} makes it {found.tokens}; "
            f"drop the flag or write {found.tokens}",
            fields=(Field.PAGE_SIZE,),
            target=Side(str(found.tokens), found.forced_by),
            draft=Side(str(given), source_of(setting.value)),
            remedy=Remedy(Applicability.DISPLAY, f"Drop the flag or write {found.tokens}"),
        )
