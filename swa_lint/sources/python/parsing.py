"""One way to parse Python."""

from __future__ import annotations

import ast
import contextlib
import gc
import warnings
from collections.abc import Iterator


def parse(text: str) -> ast.Module:
    """Parse a module; raises what ast.parse raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes are other linters' business
        return ast.parse(text)


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Let the garbage collector rest, and collect only what is new at the end.

    Trees and values are many objects and hardly garbage: looking through all of them again and again takes as long as
    making them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.collect(0)
        if enabled:
            gc.enable()
