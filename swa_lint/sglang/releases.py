"""SGLang releases as numbers that compare."""

from __future__ import annotations

import re

Release = tuple[int, int, int]
NEWEST: Release = (0, 5, 23)


def release(version: str | None) -> Release:
    """``"v0.5.17.post1"`` as ``(0, 5, 17)``; the newest release known here when `version` is None or not a number."""
    found = re.match(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?", version or "")
    if found is None:
        return NEWEST
    major, minor, patch = (int(part or 0) for part in found.groups())
    return major, minor, patch
