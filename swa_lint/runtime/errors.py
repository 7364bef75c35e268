"""What the guard says when two pools disagree: the pools, the fields, both values, likely causes, what to change."""

from __future__ import annotations

from collections.abc import Sequence

from swa_lint.pool_geometry import LAYERS, MAPPING, Difference, Geometry
from swa_lint.sglang.advice import CAUSES, CHANGES, LAST_RESORT

# The fields of `Difference` that the advice names otherwise.
_KEYS = {LAYERS: "layers", MAPPING: "mapping"}


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
        key = _KEYS.get(difference.field, difference.field)
        cause, fix = CAUSES[key][0], CHANGES[key]
        if difference.field == "page_size" and is_dcp_scale(target[1], draft[1], dcp_size):
            cause = f"--dcp-size {dcp_size}: SGLang multiplies the draft's page size by it, not the target's"
            fix = "use --dcp-size 1 with this model, or turn speculative decoding off"
        lines += [f"  likely cause ({difference.field}): {cause}", f"  fix: {fix}"]
    lines.append(f"  {LAST_RESORT}")
    lines.append("  where it is set: run `swa-lint check` over the launch files and the code")
    if sglang_says:
        lines.append(f"  SGLang itself would stop on the first PD registration: {sglang_says}")
    return "\n".join(lines)


def is_dcp_scale(target: Geometry, draft: Geometry, dcp_size: int) -> bool:
    """Whether the draft's page size is the target's times `dcp_size`, which SGLang does by itself."""
    return dcp_size > 1 and target.page_size is not None and draft.page_size == target.page_size * dcp_size
