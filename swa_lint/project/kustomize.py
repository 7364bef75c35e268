"""Kustomizations: which files and which other kustomizations each one puts together."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from swa_lint.sources.tree import Items, Mapping, Node, Scalar, Source
from swa_lint.sources.yaml.reader import Unreadable, parse

_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_RESOURCES = ("resources", "bases", "components")
_PATCHES = ("patches", "patchesStrategicMerge", "patchesJson6902")
_MAX_CHARACTERS = 200_000


@dataclass(frozen=True)
class Kustomization:
    """One kustomization: its files and the folders of those that it builds on, relative to the root."""

    path: str
    folder: str
    files: frozenset[str]
    bases: tuple[str, ...]


def kustomizations(paths: Iterable[str], root: Path) -> list[Kustomization]:
    """The kustomizations in the folders of `paths` and above, and those they build on; bases come before overlays."""
    found: dict[str, Kustomization | None] = {}
    waiting = sorted({folder for path in paths for folder in _folders(path)})
    while waiting:
        folder = waiting.pop()
        if folder not in found:
            found[folder] = read = _read(folder, root)
            waiting += read.bases if read else ()
    ordered: dict[str, Kustomization] = {}
    for folder in sorted(found):
        _order(folder, found, ordered, set())
    return list(ordered.values())


def _folders(path: str) -> Iterator[str]:
    while path:
        path = posixpath.dirname(path)
        yield path


def _order(
    folder: str, found: dict[str, Kustomization | None], ordered: dict[str, Kustomization], open_: set[str]
) -> None:
    item = found.get(folder)
    if item is None or folder in ordered or folder in open_:
        return
    for base in item.bases:
        _order(base, found, ordered, open_ | {folder})
    ordered[folder] = item


def _read(folder: str, root: Path) -> Kustomization | None:
    for name in _NAMES:
        path = posixpath.join(folder, name)
        try:
            file = root / path
            if not file.is_file() or file.stat().st_size > _MAX_CHARACTERS:
                continue
            text = file.read_text(encoding="utf-8-sig")
            tree = parse(Source(path, text), 0, text)
        except (OSError, ValueError, Unreadable):
            continue
        if isinstance(tree, Mapping):
            return _of_tree(path, folder, tree, root)
    return None


def _of_tree(path: str, folder: str, tree: Mapping, root: Path) -> Kustomization:
    files: set[str] = set()
    bases: list[str] = []
    for name in (*_RESOURCES, *_PATCHES):
        for text in _texts(tree.get(name)):
            target = posixpath.normpath(posixpath.join(folder, text))
            if "\n" in text or "://" in text or target.startswith("../"):
                continue
            target = "" if target == "." else target
            if name in _RESOURCES and (root / target).is_dir():
                bases.append(target)
            else:
                files.add(target)
    return Kustomization(path, folder, frozenset(files), tuple(dict.fromkeys(bases)))


def _texts(node: Node | None) -> Iterator[str]:
    for item in node.items if isinstance(node, Items) else ():
        if isinstance(item, Scalar):
            yield item.value
        elif isinstance(item, Mapping) and item.text("path"):
            yield item.text("path")
