"""The domain: whose geometry (Role), which part of it (Field), what it is (Value), and when two values are equal.

Standard library only: the linter and the guard that runs inside SGLang both stand on this module.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias


class Role(str, enum.Enum):
    """Which model's pool, or which side of a prefill/decode deployment, a fact speaks of."""

    TARGET = "target"
    DRAFT = "draft"
    PREFILL = "prefill"
    DECODE = "decode"
    UNKNOWN = "unknown"


class Field(str, enum.Enum):
    """The two numbers, both in tokens, that target and draft pools must share."""

    PAGE_SIZE = "page_size"
    SLIDING_WINDOW = "sliding_window"


class Relation(enum.Enum):
    """What can be proved about two values."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNPROVEN = "unproven"


@dataclass(frozen=True)
class Const:
    """A value known exactly: an int, float, str, bool or None."""

    value: int | float | str | bool | None

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Symbol:
    """A canonical access path such as ``server_args.page_size``; equal paths are equal values."""

    path: str

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True)
class Knob:
    """A setting of its own: an environment variable or a command-line option, with the default it falls back to."""

    name: str
    default: Value | None = None

    def __str__(self) -> str:
        return self.name if self.default is None else f"{self.name} (default {self.default})"


@dataclass(frozen=True)
class Derived:
    """An expression over `base`; `provably_other` when it cannot equal `base` (``page_size // 2``)."""

    text: str
    base: Value | None = None
    provably_other: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Choice:
    """One of several values, by a condition that is not known here; `options` are at least two and distinct."""

    options: tuple[Value, ...]

    def __str__(self) -> str:
        return " or ".join(str(option) for option in self.options)


@dataclass(frozen=True)
class Default:
    """Not set: the engine's own default applies."""

    def __str__(self) -> str:
        return "default"


@dataclass(frozen=True)
class Unknown:
    """Something that cannot be followed; `text` is what stands in the source."""

    text: str = "?"

    def __str__(self) -> str:
        return self.text


Value: TypeAlias = "Const | Symbol | Knob | Derived | Choice | Default | Unknown"


def as_tokens(value: Value) -> int | None:
    """The number of tokens a constant stands for (``64`` and ``"64"`` alike), or None."""
    if not isinstance(value, Const) or isinstance(value.value, (bool, float)) or value.value is None:
        return None
    try:
        return int(value.value)
    except ValueError:
        return None


def relate(left: Value, right: Value) -> Relation:
    """What can be proved about two values of one field; constants are compared as token counts."""
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return Relation.UNPROVEN
    a, b = as_tokens(left), as_tokens(right)
    if a is not None and b is not None:
        return Relation.EQUAL if a == b else Relation.DIFFERENT
    if left == right:
        return Relation.EQUAL
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Derived) and one.provably_other and one.base == other:
            return Relation.DIFFERENT
        if isinstance(one, Choice):
            found = {relate(option, other) for option in one.options}
            if len(found) == 1:
                return found.pop()
    return Relation.UNPROVEN


def source_of(value: Value) -> str:
    """Where a value comes from, in the words of a message: ``literal``, an access path, a variable's name."""
    if isinstance(value, Const):
        return "literal"
    if isinstance(value, Default):
        return "engine default"
    return value.name if isinstance(value, Knob) else str(value)


@dataclass(frozen=True)
class Location:
    """A range in a file: lines and columns count from 1, columns in characters, the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
