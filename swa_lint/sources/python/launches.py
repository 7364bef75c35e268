"""Launches that Python code starts: argv lists, command lines, engines and server arguments."""

from __future__ import annotations

from swa_lint.sources.facts import Launch
from swa_lint.sources.python.engine import Engine
from swa_lint.sources.python.values import State


class LaunchEngine(Engine):
    """Adds what argv lists and engine calls say."""

    def finished(self, end: State) -> list[Launch]:
        return []
