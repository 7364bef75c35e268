"""SWA302: one of prefill and decode sets the page size, the other leaves the default."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Related, Remedy, Severity, Side
from swa_lint.geometry import Const, Default, Field, Location, Relation, Unknown, Value
from swa_lint.project.launch_pairs import PdGroup, Server, literal_default, pd_groups, related
from swa_lint.project.launch_remedies import add
from swa_lint.rules.registry import Rule, register
from swa_lint.sources.facts import ProjectFacts

RULE = Rule(
    code="SWA302",
    name="pd-page-size-one-sided",
    severity=Severity.WARNING,
    what="""A deployment in which only one of prefill and decode sets `--page-size`. Silent where the value set is the
one that the other server uses anyway: 1, or what its attention backend forces.""",
    why="""The server that is not told uses the engine's default, which is 1 on most hardware and up to 128 on some. The
two sizes agree by luck, and where they do not, the first request fails with "Page size mismatch".""",
    bad="""python3 -m sglang.launch_server --model-path "$MODEL" --disaggregation-mode prefill --page-size 64 &
python3 -m sglang.launch_server --model-path "$MODEL" --disaggregation-mode decode &
""",
    good="""PAGE_SIZE=64
python3 -m sglang.launch_server --model-path "$MODEL" --disaggregation-mode prefill --page-size "$PAGE_SIZE" &
python3 -m sglang.launch_server --model-path "$MODEL" --disaggregation-mode decode --page-size "$PAGE_SIZE" &
""",
    fix="The silent server gets the same value: unsafe, since the flag may be the mistake.",
    language="bash",
)
# `ServerArgs.page_size` falls back to 1 where neither hardware nor backend wants another (`_page_size_default`).
_USUAL_DEFAULT = Const(1)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    seen: set[Location] = set()
    for group in pd_groups(project):
        fresh = True  # one insertion into prefill mends all decode servers of the group
        for decode in group.decode:
            if decode.where not in seen and _one_sided(group.prefill[0], decode):
                seen.add(decode.where)
                yield _finding(group, decode, fresh)
                fresh = False


def _one_sided(prefill: Server, decode: Server) -> bool:
    loud, silent = (decode, prefill) if prefill.setting is None else (prefill, decode)
    if loud.setting is None or silent.setting is not None or silent.launch.open:
        return False
    if isinstance(loud.page, Unknown) or isinstance(silent.page, Unknown):
        return False
    used: Value = _USUAL_DEFAULT if isinstance(silent.page, Default) else silent.page
    return related(literal_default(loud.page), used) is not Relation.EQUAL


def _finding(group: PdGroup, decode: Server, fresh: bool) -> Finding:
    prefill = group.prefill[0]
    loud, silent, names = decode, group.prefill, ("Decode", "prefill")
    if decode.setting is None:
        loud, silent, names = prefill, (decode,), ("Prefill", "decode")
    text = f"add `--page-size {loud.page}` to {names[1]}"
    other = silent[0].page
    default = "the engine's default" if isinstance(other, Default) else f"{other} ({silent[0].source})"
    remedy = add(silent, loud, text.capitalize()) if fresh else Remedy(Applicability.DISPLAY, text.capitalize())
    return Finding(
        code=RULE.code,
        name=RULE.name,
        severity=RULE.severity,
        where=decode.where,
        message=f"{names[0]} sets page size {loud.page} ({loud.source}, {loud.where.path}:{loud.where.line}) and "
        f"{names[1]} is left at {default}; {text}",
        fields=(Field.PAGE_SIZE,),
        target=Side(str(prefill.page), prefill.source),
        draft=Side(str(decode.page), decode.source),
        related=(Related(prefill.where, _note(prefill)),),
        remedy=remedy,
    )


def _note(prefill: Server) -> str:
    return f"prefill's page size is {prefill.page}" if prefill.setting else "prefill sets no page size"
