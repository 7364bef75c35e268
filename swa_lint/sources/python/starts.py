"""What the starts of one file come to: which run together, where values that they share differ, what is said twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from swa_lint.geometry import Choice, Default, Location, Role
from swa_lint.sglang.flags import DRAFT_PAGE_SIZE
from swa_lint.sources.facts import Hop, Insertion, Launch, Setting
from swa_lint.sources.launch import launch_role
from swa_lint.sources.python.modules import Span

_PD = frozenset({Role.PREFILL, Role.DECODE})
_COMPARED = ("page_size", DRAFT_PAGE_SIZE)


@dataclass(frozen=True)
class Call:
    """One activation of a function: its name and a number that no other activation has."""

    name: str
    number: int


@dataclass(frozen=True)
class Start:
    """A server start. `calls` are the activations it happens in, outermost first, `owner` the class of the first one.

    `points` are places for one more flag, `origins` where the values of settings came from before, the last place first;
    `stored`: the command is only kept or returned here.
    """

    launch: Launch
    calls: tuple[Call, ...]
    owner: str | None = None
    points: tuple[Insertion, ...] = ()
    origins: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    stored: bool = False


def collate(starts: Sequence[Start], path: str) -> tuple[Launch, ...]:
    """The launches of a file."""
    used = {start.launch.settings for start in starts if not start.stored}
    kept = [start for start in starts if not start.stored or start.launch.settings not in used]
    deployments = _deployments(kept, path)
    launches = (
        replace(start.launch, deployment=deployments[id(start)], settings=settings, insertion=insertion)
        for start, settings, insertion in zip(kept, _apart(kept), _points(kept), strict=True)
    )
    return tuple(dict.fromkeys(launches))


def _deployments(starts: Sequence[Start], path: str) -> dict[int, str]:
    """The innermost activation with both roles in it is a deployment; else the class or the file is."""
    roles: dict[Call, set[Role]] = defaultdict(set)
    for start in starts:
        for call in start.calls:
            roles[call].add(start.launch.role)
    found = {}
    for start in starts:
        both = next((call for call in reversed(start.calls) if roles[call] >= _PD), None)
        if both is not None and both.name != "<module>":
            found[id(start)] = f"{path}#{both.name}" + (f"#{both.number}" if both.number else "")
        else:
            found[id(start)] = path if start.owner is None else f"{path}#{start.owner}"
    return found


def _apart(starts: Sequence[Start]) -> Iterator[tuple[Setting, ...]]:
    """The settings; those whose places are shared and whose values differ stand where each value came from."""
    values: dict[tuple[str, Location], set[object]] = defaultdict(set)
    for start in starts:
        for setting in start.launch.settings:
            values[setting.name, setting.where].add(setting.value)
    for start in starts:
        yield tuple(
            _at_origin(setting, start.origins.get(setting.name, ()))
            if setting.name in _COMPARED and len(values[setting.name, setting.where]) > 1
            else setting
            for setting in start.launch.settings
        )


def _at_origin(setting: Setting, origins: tuple[Span, ...]) -> Setting:
    """The setting where its value came from last before it was passed on at the place that launches share."""
    origin = next((span for span in origins if not within(span.location, setting.where)), None)
    if origin is None:
        return setting
    where = origin.location
    via = tuple(hop for hop in setting.via if hop.where != where)
    hop = Hop(setting.where, "the launch takes it here")
    return Setting(setting.name, setting.value, where, origin.module.text_of(origin), where, None, (*via, hop))


def _points(starts: Sequence[Start]) -> Iterator[Insertion | None]:
    """For each start the first place for a flag that it does not share with another one."""
    shared: dict[Location, set[object]] = defaultdict(set)
    for start in starts:
        for point in start.points:
            shared[point.where].add((start.launch.where, start.launch.settings))
    for start in starts:
        yield next((point for point in start.points if len(shared[point.where]) == 1), None)


def within(inner: Location, outer: Location) -> bool:
    """Whether one range lies in another."""
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    ends = (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    return outer.path == inner.path and starts and ends


def merged(launches: Sequence[Launch]) -> Launch:
    """One launch of those of several paths: a page size that is not the same on all of them is a choice."""
    first = launches[0]
    settings = [s for s in first.settings if s.name not in _COMPARED]
    for name in _COMPARED:
        found = [launch.get(name) for launch in launches]
        some = next((setting for setting in found if setting is not None), None)
        if some is None:
            continue
        values = tuple(dict.fromkeys(Default() if setting is None else setting.value for setting in found))
        settings.append(some if len(values) == 1 else replace(some, value=Choice(values)))
    return replace(first, settings=tuple(settings), open=any(launch.open for launch in launches))


def by_role(launches: Iterable[Launch]) -> list[Launch]:
    """The launches of several paths, one for each role."""
    groups: dict[Role, list[Launch]] = defaultdict(list)
    for launch in launches:
        groups[launch_role(launch.settings)].append(launch)
    return [merged(group) for group in groups.values()]
