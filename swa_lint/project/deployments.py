"""Which launches run together, across files: kustomize trees, Helm charts, compose projects, files named by role."""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swa_lint.geometry import Role
from swa_lint.project.config_files import with_config_files
from swa_lint.project.kustomize import kustomizations
from swa_lint.sources.facts import FileFacts, Launch
from swa_lint.sources.roles import role_of_name, without_role

_PD = (Role.PREFILL, Role.DECODE)
_COMPOSE = re.compile(r"(?:docker-|podman-)?compose(?P<variant>[._-].+)?\.ya?ml")
_VALUES = re.compile(r"values(?P<variant>[._-].+)?\.ya?ml")


@dataclass
class Unit:
    """Files that are applied together: its own, and those of the units that it is laid over."""

    key: str
    own: set[str] = field(default_factory=set)
    bases: list[Unit] = field(default_factory=list)


def group(files: Sequence[FileFacts], root: Path | None = None) -> tuple[FileFacts, ...]:
    """`files` with equal `Launch.deployment` for launches that run together.

    A launch that several overlays share appears once for each of them beside the launches that they add. Where it is in
    doubt, launches stay apart. `root` is what paths are relative to; without it only names of files are used.
    """
    files = with_config_files(files, root)
    if not any(launch.role in _PD for file in files for launch in file.launches):
        return tuple(files)
    work = _Work(files)
    for unit in _units(work.paths(), root):
        work.apply(unit)
    work.pair_siblings()
    work.split_by_name()
    return work.files()


class _Work:
    """The launches by file while deployments are given out."""

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self._files = files
        self._launches = {file.path: list(file.launches) for file in files if file.launches}
        self._grouped: set[str] = set()

    def paths(self) -> list[str]:
        """The files with servers of a PD role."""
        return sorted(p for p, found in self._launches.items() if any(launch.role in _PD for launch in found))

    def files(self) -> tuple[FileFacts, ...]:
        """The files with their launches as they are now."""
        return tuple(
            dataclasses.replace(file, launches=tuple(self._launches[file.path])) if file.launches else file
            for file in self._files
        )

    def _of(self, paths: Iterable[str], role: Role) -> list[tuple[str, Launch]]:
        return [(p, launch) for p in sorted(paths) for launch in self._launches.get(p, ()) if launch.role is role]

    def apply(self, unit: Unit) -> None:
        """Give the launches of a unit one deployment; what it lacks of a role comes from its bases."""
        under = {path for base in unit.bases for path in _all_files(base)} - unit.own
        own = [role for role in _PD if self._of(unit.own, role)]
        if len(own) == 2:
            self._join(unit.own, unit.key)
        elif len(own) == 1:
            other = _PD[1 - _PD.index(own[0])]
            borrowed = self._of(under, other)
            if borrowed:
                self._join(unit.own, unit.key)
                self._lend(borrowed, unit.key)
        elif self._complete(under) and not any(self._complete(_all_files(base)) for base in unit.bases):
            self._join(under, unit.key)

    def _complete(self, paths: Iterable[str]) -> bool:
        return all(self._of(paths, role) for role in _PD)

    def _join(self, paths: Iterable[str], key: str) -> None:
        for path in paths:
            if path in self._launches:
                self._launches[path] = [_moved(launch, key) for launch in self._launches[path]]
                self._grouped.add(path)

    def _lend(self, launches: Sequence[tuple[str, Launch]], key: str) -> None:
        """Put launches of a base beside those of an overlay; the first overlay of an incomplete base takes them over."""
        lent: set[Launch] = set()
        for path, launch in launches:
            copy = dataclasses.replace(launch, deployment=key)
            if path in self._grouped:
                if copy not in lent:
                    self._launches[path].append(copy)
                lent.add(copy)
            else:
                self._join([path], key)

    def pair_siblings(self) -> None:
        """Join a prefill file and a decode file whose paths differ in the role word only."""
        for with_suffix in (True, False):
            named: dict[str, list[str]] = defaultdict(list)
            for path in self.paths():
                if path not in self._grouped and self._role_in_path(path):
                    stem, suffix = posixpath.splitext(path)
                    named[without_role(stem) + (suffix if with_suffix else "")].append(path)
            for key, paths in named.items():
                if len(paths) == 2 and self._complete(paths):
                    self._join(paths, key)

    def _role_in_path(self, path: str) -> bool:
        """Whether all servers of a file have the one role that its name, or its folder's name, tells."""
        folder, name = posixpath.split(path)
        role = role_of_name(posixpath.splitext(name)[0])
        if role is Role.UNKNOWN:
            role = role_of_name(posixpath.basename(folder))
        return role in _PD and {launch.role for launch in self._launches[path]} <= {role, Role.UNKNOWN}

    def split_by_name(self) -> None:
        """Tell several pairs of one deployment apart by what their launches are called."""
        for members in self._deployments().values():
            roles = [launch.role for _, _, launch in members]
            if len(roles) <= 2 or not all(launch.name for _, _, launch in members):
                continue
            stems: dict[str, set[Role]] = defaultdict(set)
            for _, _, launch in members:
                stems[without_role(launch.name)].add(launch.role)
            if not any(len(found) == 2 for found in stems.values()) or len(stems) == 1:
                continue
            for path, index, launch in members:
                key = f"{launch.deployment}#{without_role(launch.name)}"
                self._launches[path][index] = dataclasses.replace(launch, deployment=key)

    def _deployments(self) -> dict[str, list[tuple[str, int, Launch]]]:
        found: dict[str, list[tuple[str, int, Launch]]] = defaultdict(list)
        for path, launches in self._launches.items():
            for index, launch in enumerate(launches):
                if launch.role in _PD:
                    found[launch.deployment].append((path, index, launch))
        return found


def _moved(launch: Launch, key: str) -> Launch:
    """A launch in the deployment `key`; one that its own file sets apart (``path#part``) stays apart."""
    _, apart, part = launch.deployment.partition("#")
    return dataclasses.replace(launch, deployment=f"{key}{apart}{part}")


def _all_files(unit: Unit) -> set[str]:
    found: set[str] = set()
    stack = [unit]
    seen: set[int] = set()
    while stack:
        unit = stack.pop()
        if id(unit) not in seen:
            seen.add(id(unit))
            found |= unit.own
            stack += unit.bases
    return found


def _units(paths: Sequence[str], root: Path | None) -> Iterator[Unit]:
    """The units that `paths` belong to, those that others are laid over first."""
    yield from _compose_units(paths)
    if root is not None:
        yield from _chart_units(paths, root)
        yield from _kustomize_units(paths, root)


def _compose_units(paths: Sequence[str]) -> Iterator[Unit]:
    folders: dict[str, dict[str, str]] = defaultdict(dict)
    for path in paths:
        folder, name = posixpath.split(path)
        if found := _COMPOSE.fullmatch(name):
            folders[folder][path] = found["variant"] or ""
    for found_in in folders.values():
        yield from _layered({path: variant == "" for path, variant in found_in.items()})


def _layered(files: dict[str, bool]) -> Iterator[Unit]:
    """One unit for the base files (True), one for each file that is laid over them."""
    base = Unit("+".join(sorted(path for path, is_base in files.items() if is_base)))
    base.own = {path for path, is_base in files.items() if is_base}
    if not base.own:
        return
    yield base
    for path, is_base in sorted(files.items()):
        if not is_base:
            yield Unit(f"{base.key}+{path}", {path}, [base])


def _chart_units(paths: Sequence[str], root: Path) -> Iterator[Unit]:
    charts: dict[str, dict[str, bool]] = defaultdict(dict)
    for path in paths:
        folder, name = posixpath.split(path)
        chart = path.partition("/templates/")[0] if "/templates/" in f"/{path}" else folder
        if path.startswith("templates/"):
            chart = ""
        values = _VALUES.fullmatch(name)
        if (values or chart != folder) and (root / chart / "Chart.yaml").is_file():
            charts[chart][path] = not (values and values["variant"])
    for chart, files in charts.items():
        templates = {path for path in files if "templates/" in path[len(chart) :]}
        if templates and templates != {path for path, is_base in files.items() if is_base}:
            yield Unit(f"{chart}/templates", templates)
        yield from _layered({path: is_base for path, is_base in files.items() if path not in templates} or files)


def _kustomize_units(paths: Sequence[str], root: Path) -> Iterator[Unit]:
    made: dict[str, Unit] = {}
    for found in kustomizations(paths, root):
        made[found.folder] = Unit(f"{found.path}", set(found.files), [made[b] for b in found.bases if b in made])
        yield made[found.folder]
