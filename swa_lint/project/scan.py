"""The files of a run with what was read of them, linked into the facts that rules look at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from swa_lint.project.cache import Cache, unpack
from swa_lint.project.config_pairs import pair_configs
from swa_lint.project.deployments import group
from swa_lint.project.kinds import Kind, kind_of_name
from swa_lint.project.noqa import Suppression
from swa_lint.project.read import FileRecord, SourceFile, digest, read_data, read_suppressions
from swa_lint.project.workers import Work, read_all
from swa_lint.sglang import own_words
from swa_lint.sources.facts import FileFacts, ProjectFacts

NamedPair = tuple[str, str, str]


class Scan:
    """The state of one run: which files, their content's digests, and their records (of those that say something).

    `overlay` holds the content of files that differ from the disk: standard input, or fixes that are not written;
    `words` are the code base's own for roles.
    """

    def __init__(self, root: Path, files: Sequence[SourceFile], words: own_words.Words | None = None) -> None:
        self.root = root
        self.words = words or {}
        self.files = {file.path: file for file in files}
        self.overlay: dict[str, bytes] = {}
        self._records: dict[str, FileRecord] = {}
        self._digests: dict[str, bytes] = {}

    def read(self, cache: Cache, jobs: int, progress: Callable[[int], None] = lambda done: None) -> None:
        """Read every file that the cache does not know; `progress` is told how many are done."""
        own_words.use(self.words)
        work: list[Work] = []
        for path, file in self.files.items():
            if path in self.overlay:
                self._keep(path, digest(self.overlay[path]), read_data(str(self.root), file, self.overlay[path]))
                continue
            entry, unchanged = cache.lookup(path)
            if entry is not None and unchanged:
                self._keep(path, entry.digest, unpack(entry))
            else:
                work.append((file, entry.digest if entry else None))
        progress(len(self.files) - len(work))
        for file, result in read_all(str(self.root), work, jobs, progress):
            if result is not None:
                self._keep(file.path, *result)
                cache.store(file.path, *result)
            elif (entry := cache.lookup(file.path)[0]) is not None:
                self._keep(file.path, entry.digest, unpack(entry))
                cache.refresh(file.path, entry)
        cache.save()

    def reread(self, paths: Iterable[str]) -> None:
        """Read files again whose content changed, and those that were understood with their help."""
        own_words.use(self.words)
        changed = set(paths)
        for path, record in list(self._records.items()):
            if changed.intersection(record.facts.depends):
                changed.add(path)
        work: list[Work] = [(self.files[p], None) for p in sorted(changed) if p in self.files and p not in self.overlay]
        for path in sorted(changed & self.overlay.keys() & self.files.keys()):
            data = self.overlay[path]
            self._keep(path, digest(data), read_data(str(self.root), self.files[path], data))
        for file, result in read_all(str(self.root), work, 1):
            assert result is not None
            self._keep(file.path, *result)

    def _keep(self, path: str, key: bytes, record: FileRecord | None) -> None:
        self._digests[path] = key
        if record is None:
            self._records.pop(path, None)
        else:
            self._records[path] = record

    def digest_of(self, path: str) -> bytes | None:
        """The digest of a file's content when it was read."""
        return self._digests.get(path)

    def problem_in(self, path: str, data: bytes) -> str | None:
        """Why the file could not be read if it held `data`, or None."""
        problems = self.facts_with(path, data).problems if path in self.files else ()
        return next((problem.message for problem in problems if not problem.skipped), None)

    def facts_with(self, path: str, data: bytes) -> FileFacts:
        """What a file of the run would say if it held `data`."""
        own_words.use(self.words)
        return read_data(str(self.root), self.files[path], data).facts

    def suppressions(self, found_in: set[str]) -> dict[str, tuple[Suppression, ...]]:
        """The noqa comments of the files of the run, and of the files in which something was found."""
        known = {path: record.suppressions for path, record in self._records.items() if record.suppressions}
        for path in found_in - self._records.keys():
            source = self.files.get(path) or SourceFile(path, kind_of_name(path) or Kind.PYTHON)
            with contextlib.suppress(OSError):
                data = self.overlay[path] if path in self.overlay else (self.root / path).read_bytes()
                known[path] = read_suppressions(source, data)
        return known

    def notes(self) -> list[str]:
        """What was passed over, with the reason."""
        return [
            f"{problem.where.path}:{problem.where.line}: {problem.message}"
            for facts in self._facts()
            for problem in facts.problems
            if problem.skipped
        ]

    def project(self, named: Sequence[NamedPair], version: str | None) -> ProjectFacts:
        """The facts of all files, linked. Raises ConfigPairError where a named checkpoint has no config."""
        own_words.use(self.words)
        files = group(self._facts(), self.root)
        return ProjectFacts(files, pair_configs(files, self.root, named), version)

    def _facts(self) -> list[FileFacts]:
        return [self._records[path].facts for path in sorted(self._records)]
