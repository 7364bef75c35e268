"""Which servers of a script run together: those of one run, but not those of other recipes, rounds or phases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from swa_lint.geometry import Location, Role
from swa_lint.sources.facts import Launch, Setting
from swa_lint.sources.shell.state import Started, State, Tag

_PD = frozenset({Role.PREFILL, Role.DECODE})
_Key = tuple[Tag, ...]


def launches(states: Sequence[State], deployment: str) -> tuple[Launch, ...]:
    """The servers of all runs of a script, grouped into deployments."""
    begun = [(item, (*state.decisions, *item.tags)) for state in states for item in state.started]
    apart = _separating(begun)
    groups: dict[_Key, dict[Launch, None]] = defaultdict(dict)
    pointed = _pointed(item for item, _ in begun)
    for item, tags in begun:
        key = tuple(tag for tag in tags if tag in apart)
        groups[key][pointed[id(item)]] = None
    return tuple(_numbered(_maximal(list(groups.values())), deployment))


def _separating(begun: Iterable[tuple[Started, tuple[Tag, ...]]]) -> set[Tag]:
    """The tags that set servers apart: one way of a branch, or one round, that has both roles; every phase.

    A branch (or loop) whose ways have one role each is what tells the nodes of one deployment from each other.
    """
    roles: dict[Tag, set[Role]] = defaultdict(set)
    for item, tags in begun:
        for tag in tags:
            roles[tag].add(item.launch.role)
    return {tag for tag, found in roles.items() if found >= _PD or tag[0] == "phase"}


def _maximal(groups: list[dict[Launch, None]]) -> list[dict[Launch, None]]:
    """Groups that are no part of another one; equal ones once."""
    kept: list[dict[Launch, None]] = []
    for group in sorted(groups, key=len, reverse=True):
        if not any(group.keys() <= other.keys() for other in kept):
            kept.append(group)
    return [group for group in groups if any(group is other for other in kept)]


def _numbered(groups: list[dict[Launch, None]], deployment: str) -> Iterable[Launch]:
    for number, group in enumerate(groups, 1):
        name = deployment if len(groups) == 1 else f"{deployment}#{number}"
        for launch in _own_insertions(list(group)):
            yield replace(launch, deployment=name)


def _own_insertions(group: list[Launch]) -> list[Launch]:
    """Launches of different roles that share the place for one more flag have no such place."""
    taken: dict[Location, set[Role]] = defaultdict(set)
    for launch in group:
        if launch.insertion is not None:
            taken[launch.insertion.where].add(launch.role)
    return [
        replace(launch, insertion=None) if launch.insertion and len(taken[launch.insertion.where]) > 1 else launch
        for launch in group
    ]


def _pointed(begun: Iterable[Started]) -> dict[int, Launch]:
    """Launches whose differing values stand in one word (a variable) point at the assignments instead."""
    items = list(begun)
    origins: dict[tuple[str, Location | None], set[object]] = defaultdict(set)
    for item in items:
        for setting in item.launch.settings:
            origins[setting.name, setting.value_where].add(item.origins.get(setting.name))
    found = {}
    for item in items:
        settings = tuple(
            _at_origin(setting, item) if len(origins[setting.name, setting.value_where]) > 1 else setting
            for setting in item.launch.settings
        )
        found[id(item)] = replace(item.launch, settings=settings)
    return found


def _at_origin(setting: Setting, item: Started) -> Setting:
    origin = item.origins.get(setting.name)
    if origin is None:
        return setting
    via = tuple(hop for hop in setting.via if hop.where != origin.where)
    here = replace(setting, where=origin.where, value_where=origin.value_where, text=origin.written, removal=None)
    return replace(here, via=via)
