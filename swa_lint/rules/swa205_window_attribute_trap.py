"""SWA205: `swa_window_size` compared as if it were the window."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Remedy, Replace, Severity
from swa_lint.geometry import Location
from swa_lint.rules.pairing import finding, linked
from swa_lint.rules.registry import Rule, register
from swa_lint.sglang.names import WINDOW_TRAP
from swa_lint.sources.facts import Link, ProjectFacts

RULE = Rule(
    code="SWA205",
    name="window-attribute-trap",
    severity=Severity.WARNING,
    what="A geometry comparison reads the window of a pool from `swa_window_size`.",
    why="Up to SGLang 0.5.19 a pool's `swa_window_size` holds the page size of its sliding-window buffers, not the window, so "
    "the comparison passes pools that differ and refuses pools that agree.",
    bad="""\
if target_pool.swa_window_size != draft_pool.swa_window_size:
    raise RuntimeError("the pools differ")
""",
    good="""\
if target_pool.sliding_window != draft_pool.sliding_window:
    raise RuntimeError("the pools differ")
""",
    fix="Unsafe: reads `sliding_window` instead; whether a pool has it depends on the SGLang version.",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for pair in linked(project, Link.WINDOW_TRAP):
        message = (
            f"`{pair.draft.value}` is compared as the window, but holds the page size of the sliding-window buffers up to "
            "SGLang 0.5.19; compare `sliding_window`"
        )
        where = pair.draft.where
        attribute = Location(
            where.path, where.end_line, where.end_column - len(WINDOW_TRAP), where.end_line, where.end_column
        )
        remedy = Remedy(Applicability.UNSAFE, "Read `sliding_window`", (Replace(attribute, "sliding_window"),))
        yield finding(RULE, pair, message, Severity.WARNING, remedy)
