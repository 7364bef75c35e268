"""Prefill and decode as names tell them: services, containers, keys, folders and files."""

from __future__ import annotations

import re
from collections.abc import Iterable

from swa_lint.geometry import Role
from swa_lint.sglang import own_words

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ROLE = re.compile(r"(prefill|decode)(r|rs|s|worker|workers|server|servers|node|nodes)?", re.IGNORECASE)
_PD = (Role.PREFILL, Role.DECODE)


def role_of_name(name: str) -> Role:
    """The role that an identifier names (``run-prefill``, ``decodeWorker``), UNKNOWN for none or both."""
    roles = {Role(found[1].lower()) for word in _WORD.findall(name) if (found := _ROLE.fullmatch(word))}
    roles |= {role for role in _PD if own_words.names(role, name)}
    return roles.pop() if len(roles) == 1 else Role.UNKNOWN


def role_of_names(names: Iterable[str]) -> Role:
    """The role of the first name that tells one."""
    return next((role for role in map(role_of_name, names) if role is not Role.UNKNOWN), Role.UNKNOWN)


def is_role_key(name: str) -> bool:
    """Whether a key is a role and nothing else (``prefill``, ``decodeWorker``, ``sglang_decode``)."""
    rest = without_role(name).replace("*", "").replace("sglang", "")
    return role_of_name(name) is not Role.UNKNOWN and not rest.strip("-_ ")


def without_role(name: str) -> str:
    """`name` with its role words taken out: equal for the prefill and the decode of one deployment."""
    for role in _PD:
        name = own_words.without(role, name)
    return _WORD.sub(lambda found: "*" if _ROLE.fullmatch(found[0]) else found[0], name).lower()
