"""SWA301: prefill and decode of one deployment with different page sizes."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Finding, Related, Severity, Side
from swa_lint.geometry import Field, Relation
from swa_lint.project.launch_pairs import Server, pd_groups, related
from swa_lint.project.launch_remedies import follow
from swa_lint.rules.registry import Rule, register
from swa_lint.sources.facts import ProjectFacts, Setting

RULE = Rule(
    code="SWA301",
    name="pd-page-size-mismatch",
    severity=Severity.ERROR,
    what="""A prefill and a decode server of one deployment whose effective page sizes provably differ. Servers of one
script, manifest, compose or kustomize project, or Python launcher run together; their roles come from
`--disaggregation-mode`. A page size that the model or the attention backend forces counts as what it becomes.""",
    why="""Prefill sends KV pages by number, so both servers must cut them alike. SGLang notices on the first request only:
"Page size mismatch: prefill server has page_size=64, but decode server has page_size=32"
(`disaggregation/common/conn.py`).""",
    bad="""python3 -m sglang.launch_server --model-path "$MODEL" --disaggregation-mode prefill --page-size 64 &
python3 -m sglang.launch_server --model-path "$MODEL" --disaggregation-mode decode --page-size 32 &
""",
    good="""PAGE_SIZE=64
python3 -m sglang.launch_server --model-path "$MODEL" --disaggregation-mode prefill --page-size "$PAGE_SIZE" &
python3 -m sglang.launch_server --model-path "$MODEL" --disaggregation-mode decode --page-size "$PAGE_SIZE" &
""",
    fix="""Decode gets prefill's value: unsafe, since decode's may be the one that is meant. Where both are written out in one
script, the value moves to a variable above them, in one YAML document to an anchor; both servers read it from there.""",
    language="bash",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    seen = set()
    for group in pd_groups(project):
        prefill = group.prefill[0]
        for decode in group.decode:
            setting = decode.setting
            if prefill.setting is None or setting is None or decode.where in seen:
                continue
            if related(prefill.page, decode.page) is Relation.DIFFERENT:
                seen.add(decode.where)
                yield _finding(group.prefill, decode, setting)


def _finding(together: tuple[Server, ...], decode: Server, setting: Setting) -> Finding:
    prefill = together[0]
    wanted = f"use {prefill.page} on both"
    return Finding(
        code=RULE.code,
        name=RULE.name,
        severity=RULE.severity,
        where=decode.where,
        message=f"Decode's page size {decode.page} ({decode.source}) differs from prefill's {prefill.page} "
        f"({prefill.source}, {prefill.where.path}:{prefill.where.line}); {wanted}",
        fields=(Field.PAGE_SIZE,),
        target=Side(str(prefill.page), prefill.source),
        draft=Side(str(decode.page), decode.source),
        related=(
            Related(prefill.where, f"prefill's page size is {prefill.page}"),
            *(Related(hop.where, hop.message) for hop in setting.via),
        ),
        remedy=follow(setting, decode, together, f"Give decode prefill's page size, {prefill.page}"),
    )
