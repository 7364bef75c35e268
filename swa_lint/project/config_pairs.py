"""Which model configs are target and draft of one deployment."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from swa_lint.project.launch_pairs import config_paths, text_of
from swa_lint.project.text import Undecodable, decode
from swa_lint.sources.facts import ConfigPair, FileFacts, Launch, ModelConfig
from swa_lint.sources.hf_config import FILE_NAME, read_config


class ConfigPairError(Exception):
    """A checkpoint that the user named has no config that can be read."""


def pair_configs(
    files: Iterable[FileFacts], root: Path, named: Sequence[tuple[str, str, str]]
) -> tuple[ConfigPair, ...]:
    """The pairs of a project: those the user named, then those that launches name by local paths.

    `named` holds target directory, draft directory and origin (``"--target/--draft"``), directories relative to `root`.
    Raises ConfigPairError where a named directory has no readable model config; a launch's path that has none is skipped.
    """
    files = tuple(files)
    known = {config.path: config for file in files for config in file.configs}
    pairs: dict[tuple[str, str], ConfigPair] = {}
    for target, draft, origin in named:
        pair = ConfigPair(named_config(target, root, known, origin), named_config(draft, root, known, origin), origin)
        pairs.setdefault((pair.target.path, pair.draft.path), pair)
    for pair in _launched(files, root, known):
        pairs.setdefault((pair.target.path, pair.draft.path), pair)
    return tuple(pair for pair in pairs.values() if pair.target.path != pair.draft.path)


def _launched(files: tuple[FileFacts, ...], root: Path, known: dict[str, ModelConfig]) -> Iterator[ConfigPair]:
    for file in files:
        for launch in file.launches:
            draft_path = text_of(launch.get("speculative_draft_model_path"))
            target = _local(launch, text_of(launch.get("model_path")), root, known)
            draft = _local(launch, draft_path, root, known)
            if target is not None and draft is not None:
                yield ConfigPair(target, draft, f"{launch.where.path}:{launch.where.line}")


def _local(launch: Launch, model: str | None, root: Path, known: dict[str, ModelConfig]) -> ModelConfig | None:
    """The config of a checkpoint that lies in the project, read from disk where the run did not cover it."""
    for path in config_paths(launch, model):
        if path in known:
            return known[path]
        try:
            return read_config(path, _text(root / path))
        except (OSError, ValueError, RecursionError, Undecodable):
            continue
    return None


def named_config(directory: str, root: Path, known: dict[str, ModelConfig], origin: str) -> ModelConfig:
    """The config in a directory that the user named, taken from `known` by its path where that has it.

    Raises ConfigPairError where there is none, or none that can be read; `origin` opens its message.
    """
    place = root / directory
    place = place / FILE_NAME if place.is_dir() else place
    path = _shown(place, root)
    if path in known:
        return known[path]
    try:
        config = read_config(path, _text(place))
    except (OSError, ValueError, RecursionError, Undecodable) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigPairError(f"{origin}: cannot read {path}: {reason}") from None
    if config is None:
        raise ConfigPairError(f"{origin}: {path} is no model config (no architectures)")
    return config


def _shown(place: Path, root: Path) -> str:
    """`place` as findings name it: relative to `root` where it lies below, else absolute."""
    try:
        return Path(os.path.abspath(place)).relative_to(os.path.abspath(root)).as_posix()
    except ValueError:
        return Path(os.path.abspath(place)).as_posix()


def _text(place: Path) -> str:
    return decode(place.read_bytes()).text
