"""SWA305: decode context parallelism scales the pages of the draft's pool only."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Remedy, Severity, Side
from swa_lint.geometry import Field, Role, as_tokens
from swa_lint.project.launch_pairs import Server, literal_default, servers, text_of
from swa_lint.rules.registry import Rule, register
from swa_lint.sglang.forced import DCP_SCALES_SINCE, effective_page_size, is_dsv4, is_dsv41
from swa_lint.sources.facts import ProjectFacts, Setting

RULE = Rule(
    code="SWA305",
    name="dcp-scaled-draft-page",
    severity=Severity.WARNING,
    what="""`--dcp-size` greater than 1 on a DeepSeek-V4 server that has a draft model and is one side of a prefill/decode
deployment.""",
    why="""Since 0.5.17 the draft's pool has pages of `page_size * dcp_size` tokens and the target's has pages of
`page_size` (`mem_cache/kv_cache_configurator.py`, `pool_page_size`), so their sliding-window geometry differs.
DeepSeek-V4.1 refuses the combination at start-up, V4 fails on the first registration.""",
    bad="""python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V4-Flash --disaggregation-mode decode \\
  --speculative-algorithm EAGLE --speculative-num-steps 3 --dcp-size 4
""",
    good="""python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V4-Flash --disaggregation-mode decode \\
  --speculative-algorithm EAGLE --speculative-num-steps 3
""",
    fix="Shown only: leave out one of DCP, the draft and disaggregation.",
    language="bash",
)
# An n-gram draft has no model and so no pool.
_WITHOUT_POOL = frozenset({"NGRAM", "NONE", "NULL", ""})
_CHOICE = "Leave out `--dcp-size`, the draft model or disaggregation"


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    seen = set()
    for server in servers(project):
        setting = server.launch.get("dcp_size")
        ranks = as_tokens(literal_default(setting.value)) if setting else None
        if setting is None or ranks is None or ranks <= 1 or setting.where in seen or not _applies(server):
            continue
        seen.add(setting.where)
        yield _finding(server, setting, ranks)


def _applies(server: Server) -> bool:
    algorithm = server.launch.get("speculative_algorithm")
    return (
        server.launch.role in (Role.PREFILL, Role.DECODE)
        and server.engine.release >= DCP_SCALES_SINCE
        and is_dsv4(server.engine)
        and algorithm is not None
        and (text_of(algorithm) or "?").upper() not in _WITHOUT_POOL
    )


def _finding(server: Server, setting: Setting, ranks: int) -> Finding:
    page = effective_page_size(None, server.engine).tokens or 0
    refused = ", and DeepSeek-V4.1 refuses to start so" if is_dsv41(server.engine) else ""
    return Finding(
        code=RULE.code,
        name=RULE.name,
        severity=RULE.severity,
        where=setting.where,
        message=f"DCP over {ranks} ranks makes the draft pool's pages {page * ranks} tokens while the target's keep "
        f"{page}{refused}; leave out DCP, the draft or disaggregation",
        fields=(Field.PAGE_SIZE,),
        target=Side(str(page), "page_size"),
        draft=Side(str(page * ranks), "page_size * dcp_size"),
        remedy=Remedy(Applicability.DISPLAY, _CHOICE),
    )
