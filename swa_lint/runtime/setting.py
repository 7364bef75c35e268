"""`SWA_LINT_GUARD`: what the guard does about pools that disagree."""

from __future__ import annotations

import enum
import os

VARIABLE = "SWA_LINT_GUARD"


class Action(str, enum.Enum):
    """default: raise where SGLang itself would fail later, warn elsewhere; off: SGLang stays unpatched."""

    DEFAULT = "default"
    RAISE = "raise"
    WARN = "warn"
    OFF = "off"


def read_action() -> tuple[Action, str | None]:
    """The action that the environment asks for, and a complaint about a value that is none (then the default holds)."""
    text = os.environ.get(VARIABLE, "").strip().lower()
    try:
        return Action(text or "default"), None
    except ValueError:
        return Action.DEFAULT, f"{VARIABLE}={text!r} is not one of raise, warn, off: using the default"
