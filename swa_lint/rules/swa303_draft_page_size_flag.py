"""SWA303: a page size for the draft alone in a launch."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Finding, Related, Severity, Side
from swa_lint.geometry import Default, Field, Relation, Unknown, source_of
from swa_lint.project.launch_pairs import Server, effective, literal_default, related, servers
from swa_lint.project.launch_remedies import drop
from swa_lint.rules.registry import Rule, register
from swa_lint.sglang.flags import DRAFT_PAGE_SIZE
from swa_lint.sglang.forced import sole_page_size
from swa_lint.sources.facts import ProjectFacts, Setting

RULE = Rule(
    code="SWA303",
    name="draft-page-size-flag",
    severity=Severity.ERROR,
    what="""A flag or environment variable of a launch that sets the draft's page size alone
(`--speculative-draft-page-size`, `SGLANG_DFLASH_DRAFT_PAGE_SIZE`; forks have them) to another value than `--page-size`.
A warning where the target's page size is not set or not known. Silent where both are equal, or where the model or
backend forces the page size of both.""",
    why="""Under prefill/decode disaggregation the draft's sliding-window buffers are registered with the target's page
list, so both pools must have one page size; the engine refuses other pairs on the first registration, or, up to
0.5.15, answers wrongly.""",
    bad="""python3 -m sglang.launch_server --model-path "$MODEL" --page-size 256 \\
  --speculative-algorithm DFLASH --speculative-draft-model-path "$DRAFT" \\
  --speculative-draft-page-size 32
""",
    good="""python3 -m sglang.launch_server --model-path "$MODEL" --page-size 256 \\
  --speculative-algorithm DFLASH --speculative-draft-model-path "$DRAFT"
""",
    fix="The draft-only setting goes, and the draft follows the target: safe.",
    language="bash",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    seen = set()
    for server in servers(project):
        setting = server.launch.get(DRAFT_PAGE_SIZE)
        if setting is None or setting.where in seen:
            continue
        severity = _severity(setting, server)
        if severity is not None:
            seen.add(setting.where)
            yield _finding(setting, server, severity)


def _severity(setting: Setting, server: Server) -> Severity | None:
    """How sure it is that the draft's page differs from the target's; None where nothing is to be said."""
    if sole_page_size(server.engine) is not None or literal_default(setting.value) == Default():
        return None
    draft = effective(setting.value, server.engine)
    relation = related(draft, server.page)
    if relation is Relation.DIFFERENT:
        return Severity.ERROR
    same_text = server.setting is not None and server.setting.text.strip("\"'") == setting.text.strip("\"'")
    if relation is Relation.EQUAL or same_text or isinstance(draft, Unknown):
        return None
    return Severity.WARNING


def _finding(setting: Setting, server: Server, severity: Severity) -> Finding:
    value = effective(setting.value, server.engine)
    target = server.setting
    if severity is Severity.ERROR:
        known = f"differs from the target's {server.page} ({server.source})"
    elif target is None:
        known = "is set while the target's page size is not"
    else:
        known = f"has another source than the target's {target.text}"
    return Finding(
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        where=setting.where,
        message=f"The draft's own page size {value} {known}; drop it, and the draft follows the target",
        fields=(Field.PAGE_SIZE,),
        target=Side(str(server.page), server.source),
        draft=Side(str(value), source_of(setting.value)),
        related=(
            *((Related(target.where, f"the target's page size is {server.page}"),) if target else ()),
            *(Related(hop.where, hop.message) for hop in setting.via),
        ),
        remedy=drop(setting, server.launch, "Drop the draft's own page size"),
    )
