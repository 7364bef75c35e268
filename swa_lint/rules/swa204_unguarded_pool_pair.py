"""SWA204: the buffers of both pools are registered and nothing compares their geometry."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Remedy, Replace, Severity
from swa_lint.geometry import Location
from swa_lint.rules.pairing import finding, linked
from swa_lint.rules.registry import Rule, register
from swa_lint.sources.facts import Link, Pair, ProjectFacts

RULE = Rule(
    code="SWA204",
    name="unguarded-pool-pair",
    severity=Severity.WARNING,
    what="Code asks a target pool and a draft pool for their buffers, to register both, with no comparison of page size and "
    "window on the path.",
    why="SGLang compares the pair in one place, `setup_state_kv_args`, and only from 0.5.16 on. Code that registers pools by "
    "another way transfers wrong rows when the two differ, and nothing says so.",
    bad="""\
pointers = token_to_kv_pool.get_state_buf_infos()[0]
pointers += draft_token_to_kv_pool.get_state_buf_infos()[0]
engine.batch_register(pointers)
""",
    good="""\
require_same_geometry(token_to_kv_pool, draft_token_to_kv_pool)
pointers = token_to_kv_pool.get_state_buf_infos()[0]
pointers += draft_token_to_kv_pool.get_state_buf_infos()[0]
engine.batch_register(pointers)
""",
    fix="Unsafe: inserts a call of `swa_lint.runtime.require_same_geometry` before the draft pool's buffers are read; it makes "
    "the program need this package and raise where it went on before.",
    default=False,
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for pair in linked(project, Link.UNGUARDED):
        assert pair.target is not None
        message = (
            f"The buffers of `{pair.target.carrier.name}` and draft `{pair.draft.carrier.name}` are registered without a "
            "comparison of their geometry; call `require_same_geometry` first"
        )
        yield finding(RULE, pair, message, Severity.WARNING, _remedy(pair))


def _remedy(pair: Pair) -> Remedy:
    assert pair.target is not None
    statement = pair.draft.carrier.where
    start = Location(statement.path, statement.line, statement.column, statement.line, statement.column)
    indent = " " * (statement.column - 1)
    text = (
        f"from swa_lint.runtime import require_same_geometry\n\n{indent}"
        f"require_same_geometry({pair.target.carrier.name}, {pair.draft.carrier.name})\n{indent}"
    )
    return Remedy(
        Applicability.UNSAFE, "Compare the pools before the draft's buffers are read", (Replace(start, text),)
    )
