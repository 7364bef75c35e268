"""Which text can matter to geometry: asked of whole files before they are parsed, and of functions before they run."""

from __future__ import annotations

import re

# A function can matter when it binds geometry, makes a pool or starts a worker (or calls one that does) ...
_EFFECT = (
    r"(?:page|window)(?:_size|_tokens|_len\w*)?\s*=[^=]|(?:page_size|window_size|sliding_window|override_args)(?:\s*[:\w\[\]]*\s*=[^=]|[\"'])|"
    r"override_args\s*=|KVPool|buf_infos\(|"
    r"is_draft\w*\s*=|WorkerClient\(|TpModelWorker\(|swa_window_size"
)
# ... and something in it is the draft's; or when it starts servers.
# Prose, algorithm names and what verification does with draft tokens are in every file of the engine: only names count.
_WORD = (
    r"(?:[dD]raft|DRAFT|[nN]ext[nN]|NEXTN|mtp|MTP|Mtp|[eE]agle\d?|EAGLE\d?|dflash|DFLASH|DFlash|dspark|DSPARK|DSpark)"
)
_NOISE = r"(?!_?(?:extend|tokens?(?!_to_)|decode|probs?|inputs?|logits?|block|backends?|topk|verify|attention|num|info)(?![a-z]))"
_DRAFT = (
    r"is_draft|swa_window_size|(?<!num_)(?<![a-z])" + _WORD + r"(?=_[a-zA-Z]|[A-Z.]|[\"']|\s*[=,)])" + _NOISE + r"|"
    r"_(?:draft|nextn|mtp|eagle|dflash|dspark)\b(?!_)|(?:Draft|NextN|Nextn|Eagle|Mtp|MTP|DFlash|DSpark)\w*\("
)
# ... by a test of the role, a copy or a construction, a pool, or a write on another object than self.
_MEANS = (
    r"is_draft|KVPool|buf_infos\(|[pP]ool_?[cC]l(?:as)?s|[\"'](?:draft|target)[\"']|\bdraft\s*=|[dD]raft\w*\s*=\s*[\w.]+\(|super\(\)|deepcopy|(?<![.\w])(?:copy|replace|setattr|vars)\(|"
    r"copy\.copy\(|\w\.replace\(\w*args|_(?:copy|replace)\(|override\(|update\(|ServerArgs\(|Config\(|from_pretrained|__setattr__|"
    r"__dict__|swa_window_size|(?<!self)\.(?:page_size|window_size|sliding_window(?:_size)?|json_model_override_args)\s*=[^=]"
)
_LAUNCH = r"launch_server|--page-size|--disaggregation|[\"'](?:page-size|disaggregation-mode)|\bEngine\(|other_args"

_effect, _draft, _means, _launch = (re.compile(p) for p in (_EFFECT, _DRAFT, _MEANS, _LAUNCH))
_all_bytes = [re.compile(p.encode()) for p in (_EFFECT, _DRAFT, _MEANS)]
_launch_bytes = re.compile(_LAUNCH.encode())
# Without one of these no pattern above matches; plain searches rule out most files ten times faster.
_SIGNS = (
    b"page",
    b"window",
    b"json_model_override_args",
    b"KVPool",
    b"buf_infos",
    b"is_draft",
    b"WorkerClient(",
    b"TpModelWorker(",
    b"launch_server",
    b"disaggregation",
    b"Engine(",
    b"other_args",
)
_about_sglang = re.compile(r"sglang|transformers|swa_window_size|kv_pool")


def mentions_geometry(data: bytes) -> bool:
    """Whether a file can say anything about geometry; most files cannot, and are not looked at further."""
    if not any(sign in data for sign in _SIGNS):
        return False
    if _launch_bytes.search(data):
        return b"sglang" in data
    return all(pattern.search(data) for pattern in _all_bytes)


def matters(text: str) -> bool:
    """Whether a function, or a statement, can set geometry or start a server."""
    return bool(_effect.search(text) or _launch.search(text))


def drafts(text: str) -> bool:
    """Whether something in it is the draft's, and may part from the target's."""
    return _draft.search(text) is not None and _means.search(text) is not None


def names_draft(text: str) -> bool:
    """Whether a name in it is the draft's."""
    return _draft.search(text) is not None


def launches(text: str) -> bool:
    """Whether it may start a server."""
    return _launch.search(text) is not None


def about_sglang(text: str) -> bool:
    """Whether a file is about SGLang at all: pages and windows are everywhere."""
    return _about_sglang.search(text) is not None
