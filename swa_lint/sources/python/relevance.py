"""Which text can matter to geometry: asked of whole files before they are parsed, and of functions before they run."""

from __future__ import annotations

import re

from swa_lint.geometry import Role
from swa_lint.sglang import own_words

# A function can matter when it binds geometry, makes a pool or starts a worker (or calls one that does) ...
_EFFECT = (
    r"(?:page|window)(?:_size|_tokens|_len\w*)?\s*=[^=]|(?:page_size|window_size|sliding_window|override_args)(?:\s*[:\w\[\]]*\s*=[^=]|[\"'])|"
    r"override_args\s*=|KVPool|buf_infos\(|"
    r"is_draft(?!_extend)\w*\s*=|WorkerClient\(|TpModelWorker\(|swa_window_size"
)
# ... and something in it is the draft's; or when it starts servers.
# Prose, algorithm names and what verification does with draft tokens are in every file of the engine: only names count.
_WORD = (
    r"(?:[dD]raft|DRAFT|[nN]ext[nN]|NEXTN|mtp|MTP|Mtp|[eE]agle\d?|EAGLE\d?|dflash|DFLASH|DFlash|dspark|DSPARK|DSpark)"
)
_NOISE = r"(?!_?(?:extend|tokens?(?!_to_)|decode|probs?|inputs?|logits?|block|backends?|topk|verify|attention|num|info)(?![a-z]))"
_DRAFT = (
    r"is_draft(?!_extend)|swa_window_size|(?<!num_)(?<![a-z])"
    + _WORD
    + r"(?=_[a-zA-Z]|[A-Z.]|[\"']|\s*[=,)])"
    + _NOISE
    + r"|"
    r"_(?:draft|nextn|mtp|eagle|dflash|dspark)\b(?!_)|(?:Draft|NextN|Nextn|Eagle|Mtp|MTP|DFlash|DSpark)\w*\("
)
# ... by a test of the role, a copy or a construction, a pool, or a write on another object than self.
_MEANS = (
    r"is_draft(?!_extend)|KVPool|buf_infos\(|[pP]ool_?[cC]l(?:as)?s|[\"'](?:draft|target)[\"']|\bdraft\s*=|[dD](?:raft|RAFT)\w*\s*=\s*(?:[\w.]+\(|\{)|super\(\)|deepcopy|(?<![.\w])(?:copy|replace|setattr|vars)\(|"
    r"copy\.copy\(|\w\.replace\(\w*args|_(?:copy|replace)\(|override\(|update\(|ServerArgs\(|Config\(|from_pretrained|__setattr__|"
    r"__dict__|swa_window_size|(?<!self)\.(?:page_size|window_size|sliding_window(?:_size)?|json_model_override_args)\s*=[^=]"
)
_LAUNCH = r"launch_server|--page-size|--disaggregation|[\"'](?:page-size|disaggregation-mode)|\bEngine\(|other_args"


class _Sign:
    """A pattern, and plain words of which each match holds one: searching those first is ten times faster."""

    def __init__(self, pattern: str, *words: str) -> None:
        self._text, self._bytes = re.compile(pattern), re.compile(pattern.encode())
        self._words = words
        self._byte_words = tuple(word.encode() for word in words)

    def hinted(self, data: bytes) -> bool:
        """Whether the bytes hold one of the words; a match needs more."""
        return any(word in data for word in self._byte_words)

    def in_text(self, text: str) -> bool:
        return any(word in text for word in self._words) and self._text.search(text) is not None

    def in_bytes(self, data: bytes) -> bool:
        return self.hinted(data) and self._bytes.search(data) is not None


_effect = _Sign(_EFFECT, "page", "window", "override_args", "KVPool", "buf_infos(", "is_draft", "Worker")
_draft = _Sign(
    _DRAFT,
    *("is_draft", "swa_window_size", "draft", "Draft", "DRAFT", "mtp", "MTP", "Mtp", "nextn"),
    *("nextN", "Nextn", "NextN", "NEXTN"),
    *("eagle", "Eagle", "EAGLE", "dflash", "DFLASH", "DFlash", "dspark", "DSPARK", "DSpark"),
)
_means = _Sign(_MEANS, "")
_launch = _Sign(_LAUNCH, "launch_server", "page-size", "disaggregation", "Engine(", "other_args")
_about_sglang = re.compile(r"sglang|transformers|swa_window_size|kv_pool")


def sets_geometry(data: bytes) -> bool:
    """Whether a file can set geometry or start a server at all, be it the draft's or not."""
    return _launch.in_bytes(data) or _effect.in_bytes(data)


def mentions_geometry(data: bytes) -> bool:
    """Whether a file can say anything about geometry; most files cannot, and are not looked at further."""
    if _launch.in_bytes(data):
        return b"sglang" in data
    names_it = _draft.in_bytes(data) or own_words.in_bytes(Role.DRAFT, data)
    return _effect.in_bytes(data) and names_it and _means.in_bytes(data)


def should_parse(data: bytes) -> bool:
    """Whether a file that does not parse may hide something about geometry; of others that is not worth a finding."""
    return _effect.hinted(data) or _launch.hinted(data)


def matters(text: str) -> bool:
    """Whether a function, or a statement, can set geometry or start a server."""
    return _effect.in_text(text) or _launch.in_text(text)


def drafts(text: str) -> bool:
    """Whether something in it is the draft's, and may part from the target's."""
    return names_draft(text) and _means.in_text(text)


def names_draft(text: str) -> bool:
    """Whether a name in it is the draft's."""
    return _draft.in_text(text) or own_words.names(Role.DRAFT, text)


def launches(text: str) -> bool:
    """Whether it may start a server."""
    return _launch.in_text(text)


def about_sglang(text: str) -> bool:
    """Whether a file is about SGLang at all: pages and windows are everywhere."""
    return _about_sglang.search(text) is not None
