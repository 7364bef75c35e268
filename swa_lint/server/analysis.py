"""One open document, analysed as `swa-lint check --stdin-filename` does: its text comes from the editor, not the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swa_lint.config import load_config
from swa_lint.finding import Finding, Replace
from swa_lint.geometry import Location
from swa_lint.project.discovery import relative_path
from swa_lint.project.ignore import Globs
from swa_lint.project.kinds import Kind, is_python, kind_of_name, kind_of_script
from swa_lint.project.text import encode
from swa_lint.session import Request, Session

# What editors call the languages of documents whose names do not tell.
_SUFFIXES = {
    "python": ".py",
    "shellscript": ".sh",
    "sh": ".sh",
    "bash": ".sh",
    "zsh": ".sh",
    "dockerfile": ".dockerfile",
    "yaml": ".yaml",
    "dockercompose": ".yaml",
    "helm": ".yaml",
    "json": ".json",
    "jsonc": ".json",
    "toml": ".toml",
    "markdown": ".md",
}


@dataclass(frozen=True)
class Document:
    """A text that an editor holds: where it lies (or would), what the editor calls its language, and its version."""

    file: Path
    text: str
    language: str = ""
    version: int | None = None


@dataclass(frozen=True)
class Analysis:
    """What a document with the content `text` says; `path`, relative to the session's root, is its name in `findings`.

    `fixes` holds the edits of findings that somebody has asked for.
    """

    session: Session
    path: str
    text: str
    findings: tuple[Finding, ...]
    fixes: dict[Finding, list[Replace]] = field(default_factory=dict)

    def at(self, start: tuple[int, int], end: tuple[int, int]) -> Iterator[Finding]:
        """The document's findings that touch the range between two places, each a line and a column from 1."""
        return (finding for finding in self.findings if touches(finding.where, self.path, start, end))


def touches(where: Location, path: str, start: tuple[int, int], end: tuple[int, int]) -> bool:
    """Whether `where` lies in the file `path` and overlaps or borders on the range from `start` to `end`."""
    return where.path == path and (where.line, where.column) <= end and start <= (where.end_line, where.end_column)


def root_of(file: Path, folders: Iterable[Path]) -> Path:
    """The working directory for a file: the innermost of the editor's folders that holds it, else its own folder."""
    holding = [folder for folder in folders if folder in file.parents]
    return max(holding, key=lambda folder: len(folder.parts), default=file.parent)


def analyse(document: Document, folders: Sequence[Path]) -> Analysis | None:
    """Analyse a document; None for one that no source reads, or that the configuration excludes.

    The configuration is read afresh. Raises ConfigError and `swa_lint.session.USER_ERRORS`.
    """
    file = _named(document)
    if file is None:
        return None
    root = root_of(document.file, folders)
    config = load_config(root)
    if config.exclude and Globs(config.base, config.exclude).covers(os.fspath(file)):
        return None
    path = relative_path(os.fspath(file), root)
    data = encode(document.text, python=is_python(path, _start(document.text)))
    session = Session(Request(root, config, baseline=config.baseline, stdin=(path, data)))
    session.read()
    return Analysis(session, path, document.text, tuple(session.findings()))


def _named(document: Document) -> Path | None:
    """The document's file, with a suffix added where only the editor knows the language; None where nobody does."""
    kind = kind_of_name(document.file.name)
    if (kind_of_script(_start(document.text)) if kind is Kind.SCRIPT else kind) is not None:
        return document.file
    suffix = _SUFFIXES.get(document.language.partition(".")[0])
    return document.file.with_name(document.file.name + suffix) if suffix else None


def _start(text: str) -> bytes:
    """The first bytes of a text: enough for a shebang."""
    return text[:1000].encode("utf-8", "replace")
