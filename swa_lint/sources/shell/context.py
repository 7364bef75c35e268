"""What all parts of the shell interpreter share: the file in hand, its limits, and the way back into the interpreter."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import tree_sitter

from swa_lint.geometry import Role
from swa_lint.sources.facts import Setting
from swa_lint.sources.positions import Positions
from swa_lint.sources.shell.source import Source
from swa_lint.sources.shell.state import State

MAX_STATES = 24
MAX_ROUNDS = 16
MAX_DEPTH = 12
MAX_STEPS = 20_000


@dataclass
class Context:
    """One reading of a script. `steps` and `depth` bound the work; `depends` are the files read beside it."""

    path: str
    deployment: str
    language: str
    root: pathlib.Path | None = None
    role_hint: Role = Role.UNKNOWN
    env: Sequence[Setting] = ()
    relevant: frozenset[str] = frozenset()
    depends: list[str] = field(default_factory=list)
    steps: int = 0
    depth: int = 0
    opened: dict[str, Source | None] = field(default_factory=dict)

    def sibling(self, name: str) -> Source | None:
        """The script `name` beside this one (or under the root), parsed; None where there is no such file."""
        if self.root is None:
            return None
        if name not in self.opened:
            self.opened[name] = self._open(name)
        return self.opened[name]

    def _open(self, name: str) -> Source | None:
        if self.root is None or not name or "\0" in name or name.startswith(("/", "~")):
            return None
        root = self.root.resolve()
        for folder in (root / pathlib.PurePosixPath(self.path).parent, root):
            try:
                file = (folder / name).resolve()
                relative = file.relative_to(root).as_posix()
                if not file.is_file() or file.stat().st_size > 1_000_000:
                    continue
                text = file.read_text(encoding="utf-8-sig")
            except (OSError, ValueError):
                continue
            if relative == self.path:
                return None
            if relative not in self.depends:
                self.depends.append(relative)
            return Source(text, Positions(relative, text).where)
        return None


class Interpreter(Protocol):
    """The way back into the interpreter, for commands that run other commands."""

    context: Context

    def run(self, node: tree_sitter.Node, source: Source, state: State) -> list[State]:
        """Run a node and return the possible states after it."""
        ...
