"""The guard: the same check inside SGLang. Standard library only.

A program that builds both pools itself calls `require_same_geometry(target_pool, draft_pool)` once, after the second is
made; a stock SGLang finds the guard by its entry point (`swa_lint.runtime.plugin`).
"""

from swa_lint.runtime.errors import SwaGeometryError
from swa_lint.runtime.pools import geometry_of, require_same_geometry, same_geometry

__all__ = ["SwaGeometryError", "geometry_of", "require_same_geometry", "same_geometry"]
