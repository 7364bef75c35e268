"""From the paths of a command line to the files of a run."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swa_lint.project.ignore import Globs, IgnoreStack, ignore_stack_above
from swa_lint.project.kinds import Kind, kind_of_name
from swa_lint.project.read import SourceFile

_SKIPPED_FOLDERS = {
    ".eggs",
    ".git",
    ".hg",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    "__pycache__",
    "node_modules",
}


class MissingPath(Exception):
    """A path that was asked for does not exist."""


@dataclass
class Discovered:
    """The files of a run in order of path, and notes about what was left out though it was asked for."""

    files: list[SourceFile] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def discover(
    paths: Sequence[str], root: Path, *, exclude: Globs | None = None, include_markdown: bool = False
) -> Discovered:
    """The files at and below `paths` (relative to `root`, or absolute) that a source can read.

    Git-ignored and excluded files are left out, unless a path names them itself. Symbolic links to folders are not
    followed below a path. Raises MissingPath.
    """
    found = Discovered()
    walk = _Walk(exclude, include_markdown, found.notes)
    kinds: dict[str, Kind] = {}
    linked: dict[str, Kind] = {}
    for path in paths:
        full = os.path.abspath(os.path.join(root, path))
        mode = _mode(full, path)
        if stat.S_ISDIR(mode):
            for file, kind, is_link in walk.below(full, ignore_stack_above(Path(full))):
                (linked if is_link else kinds).setdefault(file, kind)
        elif not stat.S_ISREG(mode):
            found.notes.append(f"{path}: skipped: not a regular file")
        elif (named := kind_of_name(os.path.basename(full))) is None:
            found.notes.append(f"{path}: skipped: not a kind of file that is read")
        else:
            kinds[full] = named
    real = {os.path.realpath(file) for file in kinds} if linked else set()
    for file, kind in linked.items():
        if os.path.realpath(file) not in real:
            kinds.setdefault(file, kind)
    files = (SourceFile(relative_path(file, root), kind) for file, kind in kinds.items())
    found.files = sorted(files, key=lambda file: file.path)
    return found


def _mode(full: str, path: str) -> int:
    try:
        return os.stat(full).st_mode
    except OSError as error:
        raise MissingPath(f"{path}: {error.strerror or error}") from None


def relative_path(full: str, root: Path) -> str:
    """A path as reports show it: relative to the working directory, with ``/``."""
    prefix = str(root).rstrip("/\\") + os.sep
    if full.startswith(prefix):
        return full[len(prefix) :].replace(os.sep, "/")
    try:
        return os.path.relpath(full, root).replace(os.sep, "/")
    except ValueError:  # another drive on Windows
        return full.replace(os.sep, "/")


@dataclass(frozen=True)
class _Walk:
    exclude: Globs | None
    include_markdown: bool
    notes: list[str]

    def below(self, folder: str, above: IgnoreStack) -> Iterator[tuple[str, Kind, bool]]:
        """The wanted files below `folder`: path, kind, and whether the path is a symbolic link."""
        pending = [(folder, above)]
        while pending:
            place, outer = pending.pop()
            try:
                entries = list(os.scandir(place))
            except OSError as error:
                self.notes.append(f"{place}: skipped: {error.strerror or error}")
                continue
            stack = outer.below(place) if any(entry.name == ".gitignore" for entry in entries) else outer
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if self._enters(entry, stack):
                        pending.append((entry.path, stack))
                elif (kind := self._kind(entry, stack)) is not None:
                    yield entry.path, kind, entry.is_symlink()

    def _enters(self, entry: os.DirEntry[str], stack: IgnoreStack) -> bool:
        if entry.name in _SKIPPED_FOLDERS or stack.ignores(entry.path, True):
            return False
        if self.exclude is not None and self.exclude.verdict(entry.path, True):
            return False
        return not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))

    def _kind(self, entry: os.DirEntry[str], stack: IgnoreStack) -> Kind | None:
        kind = kind_of_name(entry.name)
        if kind is None or (kind is Kind.MARKDOWN and not self.include_markdown):
            return None
        if stack.ignores(entry.path, False) or (self.exclude is not None and self.exclude.verdict(entry.path)):
            return None
        try:
            return kind if entry.is_file() else None
        except OSError:  # a loop of symbolic links
            return None
