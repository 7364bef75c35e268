"""The flake8 plugin: the findings of `swa-lint check` for one Python file, wherever flake8 runs.

flake8 imports this module and runs the plugin in every run, so it costs next to nothing on a file that cannot matter:
the analysis is imported only for a file that mentions geometry. What other files say about this one comes from the cache
of the last check, where there is one. flake8 itself decides which codes are shown and obeys `# noqa`; info findings,
SWA901 and SWA902 (flake8 has its own E902 and E999) are left to the command.
"""

from __future__ import annotations

import ast
import logging
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swa_lint import __version__

if TYPE_CHECKING:
    from swa_lint.finding import Finding
    from swa_lint.sglang.own_words import Words
    from swa_lint.sources.facts import FileFacts

_LOG = logging.getLogger(__name__)
_OFF_BY_DEFAULT = ("SWA204", "SWA307")
_LEFT_TO_THE_COMMAND = frozenset({"SWA901", "SWA902"})


class Plugin:
    """One file under flake8."""

    name = "swa-lint"
    version = __version__

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._filename = filename
        self._lines = lines

    @staticmethod
    def add_options(option_manager: Any) -> None:
        """Leave the rules that are off by default to those who select them by name."""
        option_manager.extend_default_ignore(list(_OFF_BY_DEFAULT))

    def run(self) -> Iterator[tuple[int, int, str, type]]:
        """Line, column from 0, text and type of each finding; never raises."""
        text = "".join(self._lines)
        try:
            if not _may_matter(text):
                return
            found = _findings(self._filename, text)
        except Exception:  # a plugin that raises ends the whole run of flake8
            _LOG.warning("swa-lint could not analyse %s", self._filename, exc_info=True)
            return
        for finding in found:
            message = " ".join(finding.message.split())
            yield finding.where.line, finding.where.column - 1, f"{finding.code} {message}", type(self)


def _may_matter(text: str) -> bool:
    """Whether the file can say anything about geometry, or another file about geometry that this one sets."""
    from swa_lint.sources.python.relevance import sets_geometry

    return sets_geometry(text.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=1)
def _roles(root: Path) -> Words:
    """The project's own words for roles; of its configuration these alone count under flake8."""
    files = (place / "pyproject.toml" for place in (root, *root.parents))
    if not any(b"roles" in file.read_bytes() for file in files if file.is_file()):
        return {}
    from swa_lint.config import ConfigError, load_config

    try:
        return load_config(root).roles
    except ConfigError as error:
        _LOG.warning("swa-lint: %s", error)
        return {}


def _findings(filename: str, text: str) -> list[Finding]:
    """What the file says, and what others say about it."""
    from swa_lint.project.discovery import relative_path
    from swa_lint.project.elsewhere import said_elsewhere
    from swa_lint.project.kinds import Kind, read_facts
    from swa_lint.sglang import own_words

    root = Path.cwd()
    file = Path(os.path.abspath(filename))
    path = relative_path(str(file), root)
    own_words.use(_roles(root))
    found = _in_file(path, (read_facts(Kind.PYTHON, path, text.removeprefix("\ufeff"), root),), root)
    said = said_elsewhere(file, text, _roles(root))
    if said is not None and said.facts:
        known = {(f.code, f.where.line, f.where.column, f.fields) for f in found}
        others = _in_file(said.path, said.facts, said.root)
        found += [f for f in others if (f.code, f.where.line, f.where.column, f.fields) not in known]
    return found


def _in_file(path: str, facts: tuple[FileFacts, ...], root: Path) -> list[Finding]:
    from swa_lint.check import Selection, findings
    from swa_lint.finding import Severity
    from swa_lint.rules.registry import all_rules
    from swa_lint.sources.facts import ProjectFacts

    selection = Selection(frozenset(all_rules()) - _LEFT_TO_THE_COMMAND)
    found = findings(ProjectFacts(facts), lambda _: {}, selection, root)
    return [f for f in found if f.where.path == path and f.severity is not Severity.INFO]
