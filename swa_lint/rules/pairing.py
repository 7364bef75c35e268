"""What the rules over Python pairs share: sides, related places, certainty, and the remedy that follows the target."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Drop, Finding, Related, Remedy, Replace, Severity, Side
from swa_lint.geometry import Derived, Knob, Relation, relate, source_of
from swa_lint.rules.registry import Rule
from swa_lint.sources.facts import Fact, Link, Pair, ProjectFacts


def linked(project: ProjectFacts, link: Link) -> Iterator[Pair]:
    """The pairs of one link."""
    return (pair for pair in project.pairs if pair.link is link)


def side(fact: Fact | None) -> Side | None:
    return None if fact is None else Side(str(fact.value), source_of(fact.value))


def certainty(pair: Pair) -> Severity:
    """An error, unless the draft's value may well be the target's: a knob that defaults to it, an unproven derivation."""
    value, target = pair.draft.value, pair.target.value if pair.target else None
    if isinstance(value, Knob) and value.default is not None and target is not None:
        return Severity.WARNING if relate(value.default, target) is Relation.EQUAL else Severity.ERROR
    if isinstance(value, Derived) and value.base is not None and not value.provably_other and value.base == target:
        return Severity.WARNING
    return Severity.ERROR


def words(fact: Fact | None, name: str) -> str:
    """A side in words: `page_size 32`, `server_args.page_size`."""
    if fact is None:
        return f"the target's {name}"
    source = source_of(fact.value)
    text = str(fact.value)
    return f"{name} {text}" if source == "literal" else f"{name} from {text}"


def finding(rule: Rule, pair: Pair, message: str, severity: Severity, remedy: Remedy | None) -> Finding:
    """The finding at the draft's binding, the target's value as a related location."""
    related = [Related(hop.where, hop.message) for hop in pair.draft.via]
    if pair.target is not None:
        related.insert(0, Related(pair.target.where, f"the target: {pair.target.value}"))
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=severity,
        where=pair.draft.where,
        message=message,
        fields=(pair.draft.field,),
        target=side(pair.target),
        draft=side(pair.draft),
        related=tuple(related),
        remedy=remedy,
    )


def follow_target(pair: Pair, applicability: Applicability = Applicability.SAFE) -> Remedy:
    """Drop the override where the copy already carries the target's value, else read the target's value."""
    name = pair.draft.field.value
    if pair.inherited:
        return Remedy(
            applicability, f"Drop it: the copy already carries the target's {name}", (Drop(pair.draft.where),)
        )
    if pair.target_text is not None and pair.draft.value_where is not None:
        change = Replace(pair.draft.value_where, pair.target_text)
        return Remedy(applicability, f"Use the target's {name}: `{pair.target_text}`", (change,))
    return Remedy(Applicability.DISPLAY, f"Use the target's {name} here; no name in scope reads it")
