"""The geometry of live pools, and what two of them disagree in. Reads plain attributes: no tensor, no device, no SGLang import."""

from __future__ import annotations

import sys
from typing import Any

from swa_lint.pool_geometry import LAYERS, MAPPING, Difference, Geometry, SwaMode, differences
from swa_lint.runtime.errors import SwaGeometryError, mismatch_message
from swa_lint.sglang.versions import DSV4_POOL, Behaviour, Invariant, behaviour, refusal

_EVERYTHING = frozenset(Invariant)


def geometry_of(pool: Any, *, is_draft: bool | None = None) -> Geometry:
    """The geometry of a KV pool; fields that it does not state are None, so any object will do.

    `is_draft` matters for 0.5.23 alone, where SGLang takes the ring of a target from `request_window` and that of a draft
    from `swa_req_ring_size`; None takes whichever is there. `swa_window_size` is never read: up to 0.5.19 it holds a
    page size.
    """
    if getattr(pool, "_unified_kv", False):
        return Geometry(
            page_size=_tokens(pool, "page_size"),
            sliding_window=_tokens(pool, "unified_swa_window"),
            ring=_tokens(pool, "unified_swa_ring_size"),
            ring_pages=_tokens(pool, "unified_swa_pages"),
            mode=SwaMode.UNIFIED,
        )
    ring = None if is_draft else _tokens(getattr(pool, "request_window", None), "capacity")
    if ring is None and is_draft is not False:
        ring = _tokens(pool, "swa_req_ring_size")
    return Geometry(page_size=_tokens(pool, "page_size"), sliding_window=_tokens(pool, "sliding_window"), ring=ring)


def same_geometry(target: Any, draft: Any) -> bool:
    """Whether nothing that both pools state differs; True where there is no draft (None)."""
    return not pool_differences(target, draft, _checks())


def require_same_geometry(target: Any, draft: Any) -> None:
    """Return where the pools can share pages (or `draft` is None); raise SwaGeometryError where they cannot."""
    found = pool_differences(target, draft, _checks())
    if found:
        raise SwaGeometryError(describe(target, draft, found), found)


def is_dsv4(pool: Any) -> bool:
    """Whether this is one of the pools that SGLang compares; by name, so that nothing is imported."""
    return any(base.__name__ == DSV4_POOL for base in type(pool).__mro__)


def running_behaviour() -> Behaviour | None:
    """What the SGLang imported in this process does; None where there is none, or one that is not known here."""
    version = getattr(sys.modules.get("sglang"), "__version__", None)
    return behaviour(version) if isinstance(version, str) else None


def pool_differences(target: Any, draft: Any, checks: frozenset[Invariant] = _EVERYTHING) -> tuple[Difference, ...]:
    """What two pools disagree in; layers and index mapping are looked at for DeepSeek-V4 pools alone."""
    if draft is None or target is None or draft is target:
        return ()
    found = list(differences(geometry_of(target, is_draft=False), geometry_of(draft, is_draft=True)))
    if not (is_dsv4(target) and is_dsv4(draft)):
        return tuple(found)
    ratios = getattr(draft, "compression_ratios", None)
    if Invariant.DRAFT_LAYERS in checks and (not ratios or any(ratios)):
        shown = f"compression ratios {sorted(set(ratios))}" if ratios else "no compression ratios"
        found.insert(0, Difference(LAYERS, "not compared", f"{shown}, expected 0 only"))
    paged = geometry_of(target).mode is geometry_of(draft).mode is SwaMode.PAGED
    mappings = [getattr(pool, MAPPING, None) for pool in (target, draft)]
    if Invariant.MAPPING in checks and paged and mappings[0] is not mappings[1]:
        shown = "none" if mappings[1] is None else "another one"
        found.append(Difference(MAPPING, "none" if mappings[0] is None else "its own", shown))
    return tuple(found)


def describe(
    target: Any, draft: Any, found: tuple[Difference, ...], *, dcp_size: int = 1, refused_by: Behaviour | None = None
) -> str:
    """The message for two live pools; `refused_by` is the SGLang that would stop over them later."""
    geometries = geometry_of(target, is_draft=False), geometry_of(draft, is_draft=True)
    fields = [difference.field for difference in found]
    return mismatch_message(
        (type(target).__name__, geometries[0]),
        (type(draft).__name__, geometries[1]),
        found,
        dcp_size=dcp_size,
        sglang_says=refusal(refused_by, *geometries, fields) if refused_by else None,
    )


def _checks() -> frozenset[Invariant]:
    known = running_behaviour()
    return known.checks if known is not None else _EVERYTHING


def _tokens(owner: Any, name: str) -> int | None:
    """A plain int attribute; anything else (a tensor, whose value may live on a device) is not looked into."""
    value = getattr(owner, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
