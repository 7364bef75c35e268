"""Which paths are left out: Git's ignore files and the configured globs, with Git's meaning of a pattern."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pathspec


class Globs:
    """Patterns in `.gitignore` syntax, relative to `base`. Raises ValueError for a pattern that is none."""

    def __init__(self, base: Path, patterns: Iterable[str]) -> None:
        self.base = str(base)
        self._prefix = self.base.rstrip("/\\") + "/"
        self._spec = pathspec.GitIgnoreSpec.from_lines(patterns)
        self._empty = not any(pattern.include is not None for pattern in self._spec.patterns)

    def verdict(self, path: str, is_dir: bool = False) -> bool | None:
        """Whether the absolute `path` is left out; None when no pattern speaks of it."""
        if self._empty or not path.startswith(self._prefix):
            return None
        relative = path[len(self._prefix) :]
        return self._spec.check_file(relative + "/" if is_dir else relative).include

    def covers(self, path: str) -> bool:
        """Whether the file at the absolute `path`, or a folder above it, matches."""
        return bool(self.verdict(path))


@dataclass(frozen=True)
class IgnoreStack:
    """The ignore files that hold in a folder, the nearest last; the nearest one that speaks of a path decides."""

    files: tuple[Globs, ...] = ()

    def ignores(self, path: str, is_dir: bool) -> bool:
        for globs in reversed(self.files):
            verdict = globs.verdict(path, is_dir)
            if verdict is not None:
                return verdict
        return False

    def below(self, folder: str) -> IgnoreStack:
        """The stack inside `folder`, with that folder's own ignore file."""
        return self.with_file(Path(folder), Path(folder, ".gitignore"))

    def with_file(self, base: Path, file: Path) -> IgnoreStack:
        """The stack with one more ignore file, whose patterns are relative to `base`."""
        try:
            patterns = file.read_text("utf-8", "replace").splitlines()
        except OSError:
            return self
        return IgnoreStack((*self.files, Globs(base, _valid(patterns))))


def ignore_stack_above(folder: Path) -> IgnoreStack:
    """The ignore files that hold for `folder` from outside it: the repository's own, down to its parent."""
    repository = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)
    if repository is None:
        return IgnoreStack()
    stack = IgnoreStack().with_file(repository, _git_folder(repository) / "info" / "exclude")
    above = [place for place in reversed(folder.parents) if place == repository or repository in place.parents]
    for place in above:
        stack = stack.below(str(place))
    return stack


def _git_folder(repository: Path) -> Path:
    """The `.git` folder; of a linked worktree, the one of the main checkout."""
    git = repository / ".git"
    if git.is_dir():
        return git
    try:
        pointed = repository / git.read_text("utf-8").removeprefix("gitdir:").strip()
        common = pointed / "commondir"
        return pointed / common.read_text("utf-8").strip() if common.exists() else pointed
    except (OSError, ValueError):
        return git


def _valid(patterns: Sequence[str]) -> list[str]:
    """The patterns that can be read; Git passes over the others too."""
    try:
        pathspec.GitIgnoreSpec.from_lines(patterns)
        return list(patterns)
    except ValueError:
        return [pattern for pattern in patterns if _is_valid(pattern)]


def _is_valid(pattern: str) -> bool:
    try:
        pathspec.GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return False
    return True
