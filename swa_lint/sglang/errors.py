"""What SGLang says when the geometry of two pools or two servers differs: each message, its releases, its numbers.

`srt/disaggregation/utils.py`, `setup_state_kv_args` (0.5.16-0.5.23; 0.5.10-0.5.15 have no check);
`srt/disaggregation/common/conn.py`, the checks of the prefill server's info (0.5.10-0.5.23);
`srt/arg_groups/deepseek_v4_hook.py`, `validate_deepseek_v41_features` (0.5.21-0.5.23).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from swa_lint.sglang.advice import CAUSES, CHANGES


@dataclass(frozen=True)
class EngineError:
    """One message: `pattern` has a group for each side's numbers, `fields` name these in order.

    `sides` are the two that the numbers belong to; `rules` find the cause in source files. `causes` and `changes` are
    for the user; where they are empty, those of the fields that differ count.
    """

    title: str
    releases: str
    pattern: re.Pattern[str]
    sides: tuple[str, str]
    fields: tuple[str, ...]
    rules: tuple[str, ...]
    causes: tuple[str, ...]
    changes: tuple[str, ...]


def _message(text: str) -> str:
    """A pattern for `text`, wherever a terminal or a log wrapped it."""
    return r"\s+".join(re.escape(word) for word in text.split())


_TUPLE = r"\((?P<{side}>[^()\n]*)\)"
_BOTH = rf"\s*target\s*=\s*{_TUPLE.format(side='target')}\s*,\s*draft\s*=\s*{_TUPLE.format(side='draft')}"
POOLS = ("target", "draft")

_PAGE_RULES = ("SWA101", "SWA103", "SWA201", "SWA202", "SWA203", "SWA303", "SWA305")
_WINDOW_RULES = ("SWA102", "SWA104", "SWA201", "SWA202", "SWA203", "SWA401")
# By field: the rules that find its cause.
RULES: dict[str, tuple[str, ...]] = {
    "page_size": _PAGE_RULES,
    "sliding_window": _WINDOW_RULES,
}

ERRORS: tuple[EngineError, ...] = (
    EngineError(
        "Target and draft pools have different paged sliding-window geometry",
        "0.5.16-0.5.22",
        re.compile(_message("target and draft pools must share paged SWA geometry:") + _BOTH),
        POOLS,
        ("page_size", "sliding_window"),
        (),
        (),
        (),
    ),
    EngineError(
        "Target and draft pools have different sliding-window geometry",
        "0.5.23",
        re.compile(_message("target and draft pools must share SWA geometry:") + _BOTH),
        POOLS,
        ("page_size", "sliding_window", "request_rows"),
        (),
        (),
        (),
    ),
    EngineError(
        "Target and draft pools have different sliding-window rings (unified KV)",
        "0.5.16-0.5.23",
        re.compile(_message("target and draft pools must share SWA ring geometry:") + _BOTH),
        POOLS,
        ("sliding_window", "ring", "ring_pages"),
        (),
        (),
        (),
    ),
    EngineError(
        "The draft's layers are not all sliding-window layers",
        "0.5.16-0.5.23",
        re.compile(_message("DSV4 draft state transfer expects SWA-only NextN layers")),
        POOLS,
        (),
        ("SWA401",),
        CAUSES["layers"],
        (CHANGES["layers"],),
    ),
    EngineError(
        "Only one of target and draft pool uses the unified-KV layout",
        "0.5.16-0.5.23",
        re.compile(_message("target and draft pools must use the same unified-KV mode")),
        POOLS,
        (),
        ("SWA201", "SWA202"),
        CAUSES["mode"],
        (CHANGES["mode"],),
    ),
    EngineError(
        "Target and draft pool do not share the index from full-attention to sliding-window slots",
        "0.5.16-0.5.23",
        re.compile(_message("target and draft pools must share the SWA index mapping")),
        POOLS,
        (),
        ("SWA201", "SWA202"),
        CAUSES["mapping"],
        (CHANGES["mapping"],),
    ),
    EngineError(
        "Prefill and decode servers have different page sizes",
        "0.5.10-0.5.23",
        re.compile(
            _message("Page size mismatch: prefill server has")
            + r"\s+page_size=(?P<target>\w+),\s+"
            + _message("but decode server has")
            + r"\s+page_size=(?P<draft>\w+)"
        ),
        ("prefill", "decode"),
        ("page_size",),
        ("SWA301", "SWA302"),
        (
            "--page-size differs between the two launches, or only one of them has it",
            "an attention backend of one side rewrites it (trtllm_mla: 32 or 64, flashmla: 64, fa4 on SM100: 128)",
        ),
        ("start both servers with the same --page-size",),
    ),
    EngineError(
        "DeepSeek-V4.1 refuses this launch under prefill/decode disaggregation with DSpark",
        "0.5.21-0.5.23",
        re.compile(_message("DeepSeek-V4.1 DSpark PD requires static verify")),
        POOLS,
        (),
        ("SWA305",),
        (
            "--dcp-size greater than 1, context parallelism on decode, or another transfer backend than mooncake or nixl",
        ),
        ("start without --dcp-size, with --disaggregation-transfer-backend mooncake or nixl",),
    ),
)
