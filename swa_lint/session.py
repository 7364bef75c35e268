"""One run over a project: what the command line, and anything else that checks files, goes through."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from swa_lint.baseline import Baseline, BaselineError
from swa_lint.check import Selection, UnknownCode, findings, select
from swa_lint.config import Config
from swa_lint.finding import Finding
from swa_lint.fixes.apply import MEANWHILE, Content, Documents, write_all
from swa_lint.project.cache import Cache
from swa_lint.project.config_pairs import ConfigPairError
from swa_lint.project.discovery import Discovered, MissingPath, discover, relative_path
from swa_lint.project.ignore import Globs
from swa_lint.project.kinds import Kind, kind_of_name, kind_of_script
from swa_lint.project.read import SourceFile, digest
from swa_lint.project.scan import NamedPair, Scan
from swa_lint.project.text import Undecodable, decode
from swa_lint.sources.facts import ProjectFacts

if TYPE_CHECKING:
    from swa_lint.fixes.suppress import Suppressed

# What the user must mend before a run is possible; the message says what it is.
USER_ERRORS = (BaselineError, UnknownCode, ConfigPairError, MissingPath)


@dataclass(frozen=True)
class Request:
    """What to check and how. `root` is the working directory, `paths` relative to it; `pairs` adds to the config's.

    `stdin` is the name and the content of a file that is not read from disk. `cache_folder` None keeps no cache.
    """

    root: Path
    config: Config
    paths: tuple[str, ...] = (".",)
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    sglang_version: str | None = None
    pairs: tuple[NamedPair, ...] = ()
    include_markdown: bool = False
    force_exclude: bool = False
    jobs: int = 1
    cache_folder: Path | None = None
    stdin: tuple[str, bytes] | None = None
    baseline: Path | None = None


class Session:
    """The files of a run, read; their findings; and the fixes made to them, on disk or (`write` False) in memory.

    `errors` collects files that could not be written, `stale` the baseline's entries that no finding has any more.
    Raises MissingPath, UnknownCode, BaselineError, and ValueError for a glob that is none.
    """

    def __init__(self, request: Request, *, write: bool = False) -> None:
        self.request = request
        self.write = write
        self.errors: list[str] = []
        self.stale: tuple[str, ...] = ()
        config = request.config
        self._exclude = Globs(config.base, config.exclude) if config.exclude else None
        self._selection = _selection(request)
        self._baseline = Baseline(request.baseline, request.root) if request.baseline else None
        self._found = self._discover()
        self.scan = Scan(request.root, self._found.files, config.roles)
        if request.stdin is not None:
            self.scan.overlay[request.stdin[0]] = request.stdin[1]
        self._originals: dict[str, bytes] = {}
        self._made: set[str] = set()
        self._project: ProjectFacts | None = None
        self._findings: list[Finding] | None = None

    def _discover(self) -> Discovered:
        request = self.request
        if request.stdin is not None:
            name = request.stdin[0]
            return Discovered([SourceFile(name, kind_of_name(os.path.basename(name)) or Kind.PYTHON)])
        markdown = request.include_markdown or request.config.include_markdown
        found = discover(request.paths, request.root, exclude=self._exclude, include_markdown=markdown)
        if request.force_exclude and self._exclude is not None:
            found.files = [file for file in found.files if not self._exclude.covers(self._full(file.path))]
        return found

    def read(self, progress: Callable[[int], None] = lambda done: None) -> None:
        """Read the files; `progress` is told how many more are done."""
        request = self.request
        self.scan.read(Cache(request.root, request.cache_folder, request.config.roles), request.jobs, progress)

    @property
    def notes(self) -> list[str]:
        """What was passed over, with the reason."""
        return [*self._found.notes, *self.scan.notes()]

    def project(self) -> ProjectFacts:
        """The facts of the files as they now are, linked. Raises ConfigPairError as `findings` does."""
        if self._project is None:
            request, config = self.request, self.request.config
            named = [*request.pairs, *_configured_pairs(config, request.root)]
            self._project = self.scan.project(named, request.sglang_version or config.sglang_version)
        return self._project

    def findings(self) -> list[Finding]:
        """The findings as the files now are. Raises ConfigPairError where a named checkpoint has no config."""
        if self._findings is None:
            found = findings(self.project(), self.scan.suppressions, self._selection, self.request.root)
            self._findings = self._new([finding for finding in found if not self._is_excluded(finding.where.path)])
        return self._findings

    def _new(self, found: list[Finding]) -> list[Finding]:
        """The findings that the baseline does not hold; notes in `stale` what it holds in vain."""
        if self._baseline is None:
            return found
        compared = self._baseline.compare(found, self.text, self._selection.codes.__contains__, self.scan.files)
        self.stale = compared.stale
        return list(compared.new)

    def _is_excluded(self, path: str) -> bool:
        """Whether a file that was read only to understand others is one that the project leaves out."""
        if self._exclude is None or path in self.scan.files:
            return False
        return self._exclude.covers(self._full(path))

    def _full(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.request.root, path))

    def content(self, path: str) -> bytes | None:
        """A file's bytes as they were analysed; None for a file outside the run, or changed since."""
        data = self._current(path)
        return data if data is not None and self.scan.digest_of(path) == digest(data) else None

    def _current(self, path: str) -> bytes | None:
        if path in self.scan.overlay:
            return self.scan.overlay[path]
        try:
            return (self.request.root / path).read_bytes()
        except OSError:
            return None

    def text(self, path: str) -> str | None:
        """A file's text for an excerpt, or None where it cannot be read."""
        data = self._current(path)
        if data is None:
            return None
        try:
            return decode(data, python=path.endswith((".py", ".pyi", ".pyw"))).text
        except Undecodable:
            return None

    def suppress(self) -> Suppressed:
        """Give each finding a noqa comment where one can stand, on disk or in memory; see `Suppressed`."""
        from swa_lint.fixes.suppress import suppress

        planned = suppress(self.findings(), Documents(self.content), self._kind_of, self.scan.facts_with)
        for path in self.commit(planned.changed):
            del planned.counts[path]
        return planned

    def _kind_of(self, path: str) -> Kind | None:
        file = self.scan.files.get(path)
        if file is None:
            return None
        return kind_of_script(self.content(path) or b"") if file.kind is Kind.SCRIPT else file.kind

    def problem_in(self, path: str, data: bytes) -> str | None:
        """Why the file could not be read with the content `data`, or None."""
        return self.scan.problem_in(path, data)

    def commit(self, changed: Mapping[str, bytes]) -> Sequence[str]:
        """Take the new content of files, on disk or in memory, and read again what that touches: all of them or none.

        Returns the files that cannot be written, for which no other is written either.
        """
        before = {path: self.content(path) for path in changed}
        failed = {path: f"{path}: not changed: {MEANWHILE}" for path, data in before.items() if data is None}
        if self.write and not failed:
            made = dict.fromkeys(self._made)
            contents = {path: Content(data, (before | made)[path]) for path, data in changed.items()}
            failed = write_all(self.request.root, contents)
        if failed:
            self.errors += failed.values()
            return list(failed)
        if not self.write:
            self.scan.overlay.update(changed)
        for path in self._made.intersection(changed) if self.write else ():
            self._made.remove(path)
            del self.scan.overlay[path]
        for path, data in before.items():
            self._originals.setdefault(path, data or b"")
        self.scan.reread(changed.keys())
        self._project = self._findings = None
        return []

    def add(self, path: str) -> None:
        """Take one more Python file into the run; one that does not exist is made, empty, when it is committed."""
        self.scan.files[path] = SourceFile(path, Kind.PYTHON)
        if not (self.request.root / path).exists():
            self._made.add(path)
            self.scan.overlay[path] = b""
        self.scan.reread({path})

    def diff(self) -> str:
        """A unified diff of all that fixes changed."""
        return "".join(
            _diff("/dev/null" if path in self._made else f"a/{path}", path, self._originals[path], after)
            for path in sorted(self._originals)
            if (after := self._current(path)) is not None
        )


def _selection(request: Request) -> Selection:
    config = request.config
    selected = config.select if request.select is None else request.select
    ignored = config.ignore if request.ignore is None else request.ignore
    return select(config.base, selected, ignored, config.per_file_ignores)


def _configured_pairs(config: Config, root: Path) -> list[NamedPair]:
    return [
        (relative_path(str(pair.target), root), relative_path(str(pair.draft), root), "[[tool.swa-lint.pair]]")
        for pair in config.pair
    ]


def _diff(old_name: str, path: str, before: bytes, after: bytes) -> str:
    """The unified diff of one file, called `old_name` before; it ends lines as the file does, and says where the last line has no end."""
    old, new = (_text(data).splitlines(keepends=True) for data in (before, after))
    lines = difflib.unified_diff(old, new, old_name, f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _text(data: bytes) -> str:
    try:
        return decode(data, python=True).text
    except Undecodable:
        return data.decode("utf-8", "replace")
