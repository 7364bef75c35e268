"""One way to parse Python."""

from __future__ import annotations

import ast
import gc
import warnings


def parse(text: str) -> ast.Module:
    """Parse a module; raises what ast.parse raises. The collector rests meanwhile: a tree is many objects, no garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are other linters' business
            return ast.parse(text)
    finally:
        if enabled:
            gc.enable()
