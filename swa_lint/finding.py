"""Findings, and the remedies that rules state and fixes carry out: pure data between rules, fixes and reports."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias

from swa_lint.geometry import Field, Location


class Severity(str, enum.Enum):
    """error: can only be wrong; warning: can diverge; info: misleading, no divergence."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Applicability(str, enum.Enum):
    """safe: the target is untouched and the draft provably follows it; unsafe: needs a choice; display: text only."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@dataclass(frozen=True)
class Drop:
    """Remove a Python binding: the statement, keyword argument, dict item, tuple item or argv items in `where`."""

    where: Location


@dataclass(frozen=True)
class Replace:
    """Put `text` in the place of the range `where` (an empty range inserts, an empty text deletes)."""

    where: Location
    text: str


Change: TypeAlias = "Drop | Replace"


@dataclass(frozen=True)
class Remedy:
    """What would mend a finding; `changes` is empty for display."""

    applicability: Applicability
    message: str
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Side:
    """One of the two values of a finding and where it comes from."""

    value: str
    source: str


@dataclass(frozen=True)
class Related:
    """Another place that belongs to a finding."""

    where: Location
    message: str


@dataclass(frozen=True)
class Finding:
    """One defect at one place. For prefill/decode rules `target` is prefill's side and `draft` decode's."""

    code: str
    name: str
    severity: Severity
    where: Location
    message: str
    fields: tuple[Field, ...] = ()
    target: Side | None = None
    draft: Side | None = None
    related: tuple[Related, ...] = ()
    remedy: Remedy | None = None
