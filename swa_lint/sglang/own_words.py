"""A code base's own words for the roles (`[tool.swa-lint.roles]`): set for a process, asked where names are read.

They count wherever SGLang's own word would: a word `assistant` for the draft makes `assistant_args`, `AssistantWorker` and
`is_assistant` names of the draft's, as `draft_args`, `DraftWorker` and `is_draft` are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from swa_lint.geometry import Role

Words = Mapping[Role, tuple[str, ...]]

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_patterns: dict[Role, tuple[re.Pattern[str], re.Pattern[bytes]]] = {}
_words: Words = {}
_forget: list[Callable[[], None]] = []


def use(words: Words) -> None:
    """Let `words` be the process's; what was concluded from others is forgotten."""
    global _words
    if words == _words:
        return
    _words = dict(words)
    _patterns.clear()
    for role, listed in words.items():
        if listed:
            text = "|".join(map(_pattern, listed))
            _patterns[role] = re.compile(text), re.compile(text.encode())
    for forget in _forget:
        forget()


def current() -> Words:
    """The words in use, for another process to use them too."""
    return _words


def on_change(forget: Callable[[], None]) -> None:
    """Have `forget` called when the words change: it drops what was concluded from names."""
    _forget.append(forget)


def names(role: Role, text: str) -> bool:
    """Whether a name, a path or any text has one of the role's own words in it."""
    return role in _patterns and _patterns[role][0].search(text) is not None


def in_bytes(role: Role, data: bytes) -> bool:
    """Whether the bytes of a file have one of the role's own words in them."""
    return role in _patterns and _patterns[role][1].search(data) is not None


def without(role: Role, name: str) -> str:
    """`name` with the role's own words as ``*``."""
    return _patterns[role][0].sub("*", name) if role in _patterns else name


def _pattern(word: str) -> str:
    """A word as identifiers write it: `spec_head`, `spec-head`, `SpecHead`, `specHead`, `SPEC_HEAD`."""
    parts = [part.lower() for part in _PART.findall(word)]
    lower, upper = "[_-]?".join(parts), "[_-]?".join(part.upper() for part in parts)
    camel = "".join(part.capitalize() for part in parts)
    later = "".join(part.capitalize() for part in parts[1:])
    return rf"(?<![A-Za-z])(?:{lower}|{parts[0]}{later})(?![a-z])|(?<![A-Z]){camel}(?![a-z])|(?<![A-Za-z]){upper}(?![A-Za-z])"
