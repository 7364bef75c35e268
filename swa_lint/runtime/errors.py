"""What the guard says when two pools disagree: the pools, the fields, both values, likely causes, what to change."""

from __future__ import annotations

from collections.abc import Sequence

from swa_lint.pool_geometry import LAYERS, MAPPING, Difference, Geometry

# For each field: what usually sets it for one pool alone, and what to do about it.
_ADVICE: dict[str, tuple[str, str]] = {
    "page_size": (
        "a page size that reaches one pool only: the draft's copy of the server args, a draft-only flag or variable, "
        "or unequal page_size arguments of the two pools",
        "set one --page-size and read the draft's from the target's args",
    ),
    "sliding_window": (
        "a draft checkpoint (--speculative-draft-model-path) whose config.json has a window of its own, "
        "or code that sets the window on the draft's config",
        "set sliding_window in the draft's config.json to the target's value",
    ),
    "ring": (
        "a window or a number of draft tokens that differs between the two pools",
        "give both models one sliding_window and both pools the same number of draft tokens",
    ),
    "ring_pages": (
        "pools made for different numbers of request slots",
        "build both pools from one --max-running-requests and one request pool",
    ),
    "mode": (
        "the unified-KV switch (SGLANG_HACK_FLASHMLA_BACKEND) changed between the two, or a pool built by other code",
        "set SGLANG_HACK_FLASHMLA_BACKEND once, before the server starts",
    ),
    LAYERS: (
        "a draft model with compressed-attention layers: it is not a NextN/MTP draft of this target",
        "use the target's own NextN layers as the draft",
    ),
    MAPPING: (
        "a draft pool with an allocator of its own",
        "build the draft's pool with the target's token_to_kv_pool_allocator",
    ),
}


class SwaGeometryError(RuntimeError):
    """The target's and the draft's KV pool cannot share pages; `differences` says in which fields."""

    def __init__(self, message: str, differences: Sequence[Difference] = ()) -> None:
        super().__init__(message)
        self.differences = tuple(differences)


def mismatch_message(
    target: tuple[str, Geometry],
    draft: tuple[str, Geometry],
    found: Sequence[Difference],
    *,
    dcp_size: int = 1,
    sglang_says: str | None = None,
) -> str:
    """The text for two pools, each a class name and its geometry, that disagree in `found`.

    `dcp_size` is that of the server, where known; `sglang_says` the error SGLang itself would raise later.
    """
    lines = [
        "target and draft KV pools do not share one SWA geometry: " + "; ".join(map(str, found)),
        f"  target: {target[0]} {target[1]}",
        f"  draft:  {draft[0]} {draft[1]}",
    ]
    for difference in found:
        cause, fix = _ADVICE[difference.field]
        if difference.field == "page_size" and is_dcp_scale(target[1], draft[1], dcp_size):
            cause = f"--dcp-size {dcp_size}: SGLang multiplies the draft's page size by it, not the target's"
            fix = "use --dcp-size 1 with this model, or turn speculative decoding off"
        lines += [f"  likely cause ({difference.field}): {cause}", f"  fix: {fix}"]
    lines.append("  if they cannot be aligned: turn off speculative decoding or disaggregation")
    lines.append("  where it is set: run `swa-lint check` over the launch files and the code")
    if sglang_says:
        lines.append(f"  SGLang itself would stop on the first PD registration: {sglang_says}")
    return "\n".join(lines)


def is_dcp_scale(target: Geometry, draft: Geometry, dcp_size: int) -> bool:
    """Whether the draft's page size is the target's times `dcp_size`, which SGLang does by itself."""
    return dcp_size > 1 and target.page_size is not None and draft.page_size == target.page_size * dcp_size
