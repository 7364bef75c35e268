"""The geometry of a KV pool, and when two pools may share pages: one definition for the linter, the doctor and the guard.

Imports `enum` and `typing` alone: every process of a serving engine loads this module (`dataclasses` costs more than the
rest of the guard together).
"""

from __future__ import annotations

import enum
from typing import NamedTuple


class SwaMode(str, enum.Enum):
    """How a pool stores its sliding-window layers: in pages of its own, or as rings inside the unified buffers."""

    PAGED = "paged"
    UNIFIED = "unified-KV"


class Geometry(NamedTuple):
    """What must agree between a target's and a draft's pool; None where a pool does not say, or has no such thing.

    `page_size`, `sliding_window` and `ring` are in tokens; `ring` is a request's share of a pool that keeps the window
    by request, `ring_pages` the pages of all rings in unified-KV mode.
    """

    page_size: int | None = None
    sliding_window: int | None = None
    ring: int | None = None
    ring_pages: int | None = None
    mode: SwaMode = SwaMode.PAGED

    def __str__(self) -> str:
        sizes = [f"{name}={value}" for name, value in zip(_SIZES, self, strict=False) if value is not None]
        return " ".join([*sizes, f"mode={self.mode.value}"])


# Two things beside the sizes that two pools can disagree in.
LAYERS = "draft layers"
MAPPING = "full_to_swa_index_mapping"


class Difference(NamedTuple):
    """One field in which two pools disagree, with both values as text; a field of `Geometry`, `LAYERS` or `MAPPING`."""

    field: str
    target: str
    draft: str

    def __str__(self) -> str:
        return f"{self.field}: target {self.target}, draft {self.draft}"


_SIZES = ("page_size", "sliding_window", "ring", "ring_pages")
_COMPARED = {
    SwaMode.PAGED: ("page_size", "sliding_window", "ring"),
    SwaMode.UNIFIED: ("sliding_window", "ring", "ring_pages"),
}


def differences(target: Geometry, draft: Geometry) -> tuple[Difference, ...]:
    """The fields in which two pools disagree, as SGLang's `setup_state_kv_args` compares them.

    Paged pools must agree in page size, window and ring; unified-KV pools in window, ring and number of ring pages.
    A page size or window that one of them does not state is no disagreement.
    """
    if target.mode is not draft.mode:
        return (Difference("mode", target.mode.value, draft.mode.value),)
    found = []
    for name in _COMPARED[target.mode]:
        left, right = getattr(target, name), getattr(draft, name)
        stated = name == "ring" or None not in (left, right)
        if stated and left != right:
            found.append(Difference(name, str(left), str(right)))
    return tuple(found)
