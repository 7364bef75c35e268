"""Launches with `--config FILE`: the file's settings join those of the command line, which come last and win."""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Sequence
from pathlib import Path

from swa_lint.geometry import Const, Role
from swa_lint.sources.facts import FileFacts, Launch, Setting
from swa_lint.sources.launch import launch_role
from swa_lint.sources.yaml import config_settings
from swa_lint.sources.yaml.compose import read_beside


def with_config_files(files: Sequence[FileFacts], root: Path | None) -> tuple[FileFacts, ...]:
    """`files` with the settings of named config files in their launches.

    A config file that a launch names is no launch of its own. Files are looked for beside the launch's file, then from
    `root`; those outside the project are left alone.
    """
    used: set[str] = set()
    changed = [_with_settings(file, root, used) for file in files]
    if not used:
        return tuple(files)
    return tuple(dataclasses.replace(file, launches=()) if file.path in used else file for file in changed)


def _with_settings(file: FileFacts, root: Path | None, used: set[str]) -> FileFacts:
    launches: list[Launch] = []
    depends = list(file.depends)
    for launch in file.launches:
        path, settings = _config_of(launch, root)
        if settings:
            used.add(path)
            depends.append(path)
            joined = (*settings, *launch.settings)
            role = launch_role(joined) if launch.role is Role.UNKNOWN else launch.role
            launch = dataclasses.replace(launch, settings=joined, role=role)
        launches.append(launch)
    if launches == list(file.launches):
        return file
    return dataclasses.replace(file, launches=tuple(launches), depends=tuple(dict.fromkeys(depends)))


def _config_of(launch: Launch, root: Path | None) -> tuple[str, tuple[Setting, ...]]:
    setting = launch.get("config")
    if setting is None or not isinstance(setting.value, Const):
        return "", ()
    for folder in (posixpath.dirname(launch.where.path), ""):
        path = posixpath.normpath(posixpath.join(folder, str(setting.value.value)))
        text = read_beside(root, path)
        if text is not None and path.endswith((".yaml", ".yml")):
            return path, config_settings(path, text)
    return "", ()
