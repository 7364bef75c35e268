"""What an edit of a real SGLang file is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """Replacements of text that stands in the file once, or, `everywhere`, at least once.

    `supersedes`: the draft no longer gets to what was found in the untouched file.
    """

    name: str
    changes: tuple[tuple[str, str], ...]
    everywhere: bool = False
    supersedes: bool = False


@dataclass(frozen=True)
class Case:
    """A file of a release with the edits made to it."""

    version: str
    path: str
    defects: tuple[Edit, ...]
    harmless: tuple[Edit, ...]


def after(anchor: str, *lines: str) -> tuple[str, str]:
    """Lines put after the statement `anchor`, with its indentation (their own leading spaces are kept)."""
    return anchor, "\n".join([anchor, *(_indent(anchor) + line for line in lines)])


def before(anchor: str, *lines: str) -> tuple[str, str]:
    """Lines put before the statement `anchor`, with its indentation."""
    indent = _indent(anchor)
    return anchor, "\n".join([*(indent + line for line in lines), anchor])


def _indent(anchor: str) -> str:
    first = anchor.splitlines()[0]
    return first[: len(first) - len(first.lstrip())]
