"""One possible run of a script: its variables, arguments and the servers it has started so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import tree_sitter

from swa_lint.geometry import Knob
from swa_lint.sources.facts import Launch, Setting
from swa_lint.sources.shell.source import Source
from swa_lint.sources.shell.words import Field, Origin, Piece, Scalar

Array: TypeAlias = "list[Field]"
# A decision of a run: the place of the branch (or loop, or call) and which way it went.
Tag: TypeAlias = "tuple[str, int]"


@dataclass(frozen=True)
class Started:
    """A server start, with the loop rounds and calls it happened in; `origins` are assignments behind its values."""

    launch: Launch
    tags: tuple[Tag, ...]
    origins: Mapping[str, Origin] = field(default_factory=dict, compare=False, hash=False)


@dataclass(frozen=True)
class Function:
    """A shell function, or a script that runs with arguments of its own."""

    source: Source
    body: tree_sitter.Node


@dataclass
class State:
    """Variables are scalars or arrays (elements of associative arrays are scalars named ``A[key]``).

    `arguments` is None where the caller is not known; `shifted` then counts what `shift` took off. `known` and
    `excluded` are what branches told about variables that come from outside; `scripts` are files that the script writes,
    `ran` those of them it starts. `flow` is set once the run leaves its block: "exit", "return", "break" or "continue".
    """

    scalars: dict[str, Scalar] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    exported: dict[str, Setting] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    scripts: dict[str, Source] = field(default_factory=dict)
    arguments: list[Field] | None = None
    shifted: int = 0
    allexport: bool = False
    decisions: tuple[Tag, ...] = ()
    tags: tuple[Tag, ...] = ()
    known: dict[str, str] = field(default_factory=dict)
    excluded: dict[str, frozenset[str]] = field(default_factory=dict)
    ran: frozenset[str] = frozenset()
    started: list[Started] = field(default_factory=list)
    locals: dict[str, tuple[Scalar | None, Array | None]] | None = None
    flow: str | None = None

    def fork(self) -> State:
        """An independent copy that may go another way."""
        return replace(
            self,
            scalars=dict(self.scalars),
            arrays={name: list(items) for name, items in self.arrays.items()},
            exported=dict(self.exported),
            functions=dict(self.functions),
            scripts=dict(self.scripts),
            arguments=None if self.arguments is None else list(self.arguments),
            known=dict(self.known),
            excluded=dict(self.excluded),
            started=list(self.started),
            locals=None if self.locals is None else dict(self.locals),
        )

    def set(self, name: str, value: Scalar) -> None:
        self.scalars[name] = value
        self.arrays.pop(name, None)

    def set_array(self, name: str, items: Array) -> None:
        self.arrays[name] = items
        self.scalars.pop(name, None)

    def make_local(self, name: str) -> None:
        """Remember what `name` was, to restore it when the function returns."""
        if self.locals is not None and name not in self.locals:
            self.locals[name] = (self.scalars.get(name), self.arrays.get(name))

    def learn(self, knob: Knob, text: str) -> None:
        """Take the side of a branch on which `knob` equals `text`."""
        self.known[knob.name] = text
        for name, pieces in self.scalars.items():
            self.scalars[name] = tuple(_known(piece, knob, text) for piece in pieces)
        for items in (*self.arrays.values(), self.arguments or []):
            for index, item in enumerate(items):
                if any(piece.value == knob for piece in item.pieces):
                    items[index] = replace(item, pieces=tuple(_known(piece, knob, text) for piece in item.pieces))

    def rule_out(self, knob: Knob, text: str) -> None:
        """Take the side of a branch on which `knob` is not `text`."""
        self.excluded[knob.name] = self.excluded.get(knob.name, frozenset()) | {text}

    def same_as(self, relevant: frozenset[str]) -> tuple[object, ...]:
        """A key equal for two runs whose relevant variables, servers and flow are equal."""
        return (
            tuple(sorted((n, repr(v)) for n, v in self.scalars.items() if n.partition("[")[0] in relevant)),
            tuple(sorted((n, repr(v)) for n, v in self.arrays.items() if n in relevant)),
            repr(self.arguments),
            tuple(self.started),
            tuple(sorted((name, repr(setting)) for name, setting in self.exported.items())),
            tuple(
                sorted((name, *sorted(texts)) for name, texts in self.excluded.items() if self._told(name, relevant))
            ),
            tuple(sorted(pair for pair in self.known.items() if self._told(pair[0], relevant))),
            self.ran,
            self.flow,
            self.shifted,
            len(self.functions),
        )

    @staticmethod
    def _told(name: str, relevant: frozenset[str]) -> bool:
        return name.startswith("$") or name in relevant


def _known(piece: Piece, knob: Knob, text: str) -> Piece:
    return replace(piece, text=text, value=None) if piece.value == knob else piece
