"""A baseline: the findings that a project lives with, so that a gate fails only on new ones."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from swa_lint.finding import Finding
from swa_lint.project.text import Lines

_VERSION = 1


class BaselineError(Exception):
    """A baseline file that cannot be read or written."""


@dataclass(frozen=True)
class Compared:
    """Findings that a baseline does not hold, and descriptions of its entries that no finding has any more."""

    new: tuple[Finding, ...]
    stale: tuple[str, ...]


def fingerprints(
    findings: Sequence[Finding], text: Callable[[str], str | None], shown: Callable[[str], str] = str
) -> list[str]:
    """What each finding is known by: code, path, fields, the text of its lines, and its number among equal ones.

    It stays the same when lines move, and when white space changes. `shown` turns a path into the one that counts.
    """
    lines: dict[str, Lines] = {}
    seen: Counter[str] = Counter()
    prints = []
    for finding in findings:
        where = finding.where
        if where.path not in lines:
            lines[where.path] = Lines(text(where.path) or "")
        held = (lines[where.path].line(number) for number in range(where.line, where.end_line + 1))
        content = " ".join(" ".join(held).split())
        base = "\0".join((finding.code, shown(where.path), ",".join(field.value for field in finding.fields), content))
        seen[base] += 1
        prints.append(hashlib.sha256(f"{base}\0{seen[base]}".encode()).hexdigest()[:32])
    return prints


def write_baseline(file: Path, findings: Sequence[Finding], text: Callable[[str], str | None], root: Path) -> None:
    """Write a baseline that holds `findings`, whose paths are relative to `root`. Raises BaselineError."""
    shown = _relative_to(file, root)
    entries = {
        fingerprint: {"code": finding.code, "path": shown(finding.where.path), "message": finding.message}
        for finding, fingerprint in zip(findings, fingerprints(findings, text, shown), strict=True)
    }
    try:
        file.write_text(json.dumps({"version": _VERSION, "findings": entries}, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise BaselineError(f"{file}: {error.strerror or error}") from None


@dataclass(frozen=True)
class Entry:
    """A finding as a baseline holds it; `path` is relative to the baseline's folder."""

    code: str
    path: str
    message: str


class Baseline:
    """The findings that a project lives with, read from a file. Raises BaselineError."""

    def __init__(self, file: Path, root: Path) -> None:
        self._shown = _relative_to(file, root)
        self._entries = _load(file)

    def compare(
        self,
        findings: Sequence[Finding],
        text: Callable[[str], str | None],
        was_checked: Callable[[str], bool],
        files: Iterable[str],
    ) -> Compared:
        """The findings of a run that are new, and the entries that went stale.

        An entry is stale when the run checked its code and its file (`files` as the run names them) without finding it.
        """
        left = dict(self._entries)
        prints = fingerprints(findings, text, self._shown)
        new = tuple(f for f, known in zip(findings, prints, strict=True) if left.pop(known, None) is None)
        checked = set(map(self._shown, files)) if left else set()
        stale = (e for e in left.values() if was_checked(e.code) and e.path in checked)
        return Compared(new, tuple(f"{entry.path}: {entry.code} {entry.message}" for entry in stale))


def _relative_to(file: Path, root: Path) -> Callable[[str], str]:
    """How a baseline names a path of a run: relative to its own folder, wherever the run started."""
    folder = os.path.abspath(file.parent)
    return lambda path: os.path.relpath(os.path.join(root, path), folder).replace(os.sep, "/")


def _load(file: Path) -> dict[str, Entry]:
    """The entries of a baseline by fingerprint."""
    try:
        held = json.loads(file.read_text("utf-8"))
        if held["version"] != _VERSION:
            raise BaselineError(f"{file}: a baseline of version {held['version']}; write it anew")
        return {
            str(fingerprint): Entry(str(entry["code"]), str(entry["path"]), str(entry["message"]))
            for fingerprint, entry in held["findings"].items()
        }
    except OSError as error:
        raise BaselineError(f"{file}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BaselineError(f"{file}: not a baseline; write one with `swa-lint baseline`") from None
