"""What each SGLang release does about a target's and a draft's pool: where they are made, what it compares, what it says.

Read in the wheels of 0.5.10 to 0.5.23: `disaggregation/utils.py` (`setup_state_kv_args`), `model_executor/model_runner.py`,
`mem_cache/deepseek_v4_memory_pool.py`. Loaded by every process of a serving engine, so it imports next to nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Collection
from typing import NamedTuple

from swa_lint.pool_geometry import LAYERS, MAPPING, Geometry, SwaMode

# The class whose pools SGLang compares; NPU and downstream pools derive from it.
DSV4_POOL = "DeepSeekV4TokenToKVPool"
STATE_HOOK = "sglang.srt.disaggregation.utils.setup_state_kv_args"
PLUGIN_GROUP = "sglang.srt.plugins"
# The first release that loads plugins and has DeepSeek-V4 pools.
OLDEST = (0, 5, 12)

_RUNNER_HOOK = "sglang.srt.model_executor.model_runner.ModelRunner.alloc_memory_pool"
_MIXIN_HOOK = "sglang.srt.model_executor.model_runner_kv_cache_mixin.ModelRunnerKVCacheMixin.init_memory_pool"


class Invariant(str, enum.Enum):
    """What must hold between the two pools."""

    DRAFT_LAYERS = "the draft has sliding-window layers only"
    GEOMETRY = "both pools have one page size, window and ring, in one mode"
    MAPPING = "both pools share one full-to-SWA index mapping"


class Behaviour(NamedTuple):
    """One release: `pool_hook` is what makes a runner's pool, `checks` what can be compared of two DeepSeek-V4 pools.

    `refuses`: SGLang itself compares them, at the first registration under prefill/decode disaggregation.
    `npu_exempt`: not on Ascend NPUs. `window_trap`: `pool.swa_window_size` holds the page size of the window layers.
    `has_ring`: paged pools are compared in their rings too.
    """

    release: tuple[int, int, int]
    pool_hook: str
    checks: frozenset[Invariant]
    refuses: bool
    npu_exempt: bool
    window_trap: bool
    has_ring: bool


def behaviour(version: str | None) -> Behaviour | None:
    """How that release of SGLang behaves; None for one without plugins, a newer one than is known here, or no number."""
    from swa_lint.sglang.releases import NEWEST, release  # brings in `re`, which the guard needs only here

    if not version or not version.lstrip("v")[:1].isdigit():
        return None
    number = release(version)
    if not OLDEST <= number <= NEWEST:
        return None
    refuses = number >= (0, 5, 16)
    # Before 0.5.16 a draft's pool was not given the mapping, and its layers were never looked at.
    checks = frozenset(Invariant) if refuses else frozenset({Invariant.GEOMETRY})
    return Behaviour(
        release=number,
        pool_hook=_RUNNER_HOOK if number >= (0, 5, 14) else _MIXIN_HOOK,
        checks=checks,
        refuses=refuses,
        npu_exempt=number < (0, 5, 18),
        window_trap=number < (0, 5, 20),
        has_ring=number >= (0, 5, 23),
    )


def refusal(known: Behaviour, target: Geometry, draft: Geometry, fields: Collection[str]) -> str | None:
    """SGLang's own error for two pools that disagree in `fields`, word for word; None where the release has none."""
    if not known.refuses or not fields:
        return None
    if LAYERS in fields:
        return "DSV4 draft state transfer expects SWA-only NextN layers"
    if "mode" in fields:
        return "DSV4 target and draft pools must use the same unified-KV mode"
    if MAPPING in fields:
        return "DSV4 target and draft pools must share the SWA index mapping"
    compared: tuple[str, ...]
    if target.mode is SwaMode.UNIFIED:
        what, compared = "SWA ring geometry", ("sliding_window", "ring", "ring_pages")
    elif known.has_ring:
        what, compared = "SWA geometry", ("page_size", "sliding_window", "ring")
    else:
        what, compared = "paged SWA geometry", ("page_size", "sliding_window")
    values = [tuple(getattr(pool, name) for name in compared) for pool in (target, draft)]
    return f"DSV4 target and draft pools must share {what}: target={values[0]}, draft={values[1]}"
