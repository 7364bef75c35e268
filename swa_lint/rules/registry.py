"""What a rule is, and where all rules are: one module each in this package, registered by one decorator."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from swa_lint.finding import Finding, Severity
from swa_lint.sources.facts import ProjectFacts

Check = Callable[[ProjectFacts], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """A rule's metadata and documentation; `bad` and `good` are examples, `fix` says how it is mended and how safely."""

    code: str
    name: str
    severity: Severity
    what: str
    why: str
    bad: str
    good: str
    fix: str
    language: str = "python"
    default: bool = True


_rules: dict[str, tuple[Rule, Check]] = {}


def register(rule: Rule) -> Callable[[Check], Check]:
    """Decorate the check of `rule`; raises ValueError when its code is taken."""

    def add(check: Check) -> Check:
        if rule.code in _rules:
            raise ValueError(f"{rule.code} is registered twice")
        _rules[rule.code] = (rule, check)
        return check

    return add


@cache
def all_rules() -> dict[str, tuple[Rule, Check]]:
    """Every rule with its check, by code, in order of code."""
    package = importlib.import_module(__package__)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{__package__}.{module.name}")
    return dict(sorted(_rules.items()))
