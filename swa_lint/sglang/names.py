"""Python names that mean something to the geometry: attributes, callables and words, as SGLang 0.5.10-0.5.23 uses them."""

from __future__ import annotations

import re
from functools import lru_cache

from swa_lint.geometry import Field, Role
from swa_lint.sglang import own_words

# Attribute, keyword and parameter names of each field. `ModelConfig` calls its window `window_size` or
# `sliding_window_size` (configs/model_config.py), Hugging Face configs `sliding_window`.
PAGE_NAMES = frozenset({"page_size"})
WINDOW_NAMES = frozenset({"sliding_window", "sliding_window_size", "window_size"})
FIELD_OF_NAME: dict[str, Field] = {
    **dict.fromkeys(PAGE_NAMES, Field.PAGE_SIZE),
    **dict.fromkeys(WINDOW_NAMES, Field.SLIDING_WINDOW),
}
OVERRIDE_JSON = "json_model_override_args"
WINDOW_TRAP = "swa_window_size"

# The parameters of the pool constructors that carry geometry, by position, self excluded (mem_cache/*.py).
POOL_POSITIONS: dict[str, dict[int, str]] = {
    "DeepSeekV4TokenToKVPool": {6: "page_size", 18: "sliding_window"},
    "SWAKVPool": {2: "page_size"},
    "MHATokenToKVPool": {1: "page_size"},
    "MLATokenToKVPool": {1: "page_size"},
}
_POOL = re.compile(r"(SWA|TokenTo)\w*KV\w*Pool$|^(DeepSeekV4|SWA)\w*Pool$")
_HOST = re.compile(r"Host|HiSparse|Allocator|Req")

DRAFT_FLAGS = frozenset({"is_draft_worker", "is_draft_model", "is_draft"})
_DRAFT_FLAG = re.compile(r"^_?(is|for)_(draft|nextn|mtp|eagle|dflash|dspark)(_|$)|^_?(is|for)_\w+_draft$")
_DRAFT_WORD = re.compile(
    r"(?<![a-z])(draft|nextn|mtp|eagle\d?|dflash|dspark|frozen_kv)(?![a-z]*(ing|s)\b)", re.IGNORECASE
)
_DRAFT_CAMEL = re.compile(r"(Draft|NextN|Nextn|MTP|Mtp|Eagle|EAGLE|DFlash|DSpark)")

WORKER_CLASSES = frozenset({"TpModelWorker", "TpModelWorkerClient", "ModelRunner", "BaseTpWorker"})
ARGS_CLASSES = frozenset({"ServerArgs", "PortArgs"} - {"PortArgs"})
ARGS_FACTORIES = frozenset({"prepare_server_args", "get_global_server_args", "get_server_args"})
_ARGS_NAME = re.compile(r"(^|_)(server_)?args$|^(sargs|server_arguments)$")
_TARGET_ROOT = re.compile(
    r"target|server_args|schedul|runner|worker|allocator|kv_?pool|get_global|get_server_args|main_args|base_args|configurator"
)
_NOT_TARGET_ROOT = re.compile(r"option|recipe|setting|knob|cfg|environ|override")

# Pool methods whose result goes to the transfer engine (disaggregation/utils.py), and calls that compare two pools.
BUFFER_CALLS = frozenset({"get_state_buf_infos", "get_contiguous_buf_infos", "get_unified_swa_ring_buf_infos"})
COMPARES = re.compile(r"geometry|same|compare|check|ensure|verify|validate|match", re.IGNORECASE)


@lru_cache(maxsize=4096)
def draft_word(name: str) -> bool:
    """Whether an identifier marks draft code (`draft_args`, `nextn_worker`, `EagleRunner`)."""
    return bool(_DRAFT_WORD.search(name) or _DRAFT_CAMEL.search(name)) or own_words.names(Role.DRAFT, name)


@lru_cache(maxsize=4096)
def draft_flag(name: str) -> bool:
    """Whether an identifier is a test for the draft (`is_draft_worker`)."""
    if name in DRAFT_FLAGS or _DRAFT_FLAG.search(name):
        return True
    return name.lstrip("_").startswith(("is_", "for_")) and own_words.names(Role.DRAFT, name)


@lru_cache(maxsize=4096)
def target_word(name: str) -> bool:
    """Whether an identifier marks the target (`target_pool`)."""
    return "target" in name or own_words.names(Role.TARGET, name)


@lru_cache(maxsize=4096)
def pool_class(name: str) -> bool:
    """Whether a class name is that of a device KV pool (host pools have pages of their own)."""
    return bool(_POOL.search(name)) and not _HOST.search(name)


@lru_cache(maxsize=4096)
def args_name(name: str) -> bool:
    """Whether an identifier is a usual one for server arguments."""
    return bool(_ARGS_NAME.search(name))


@lru_cache(maxsize=4096)
def target_path(path: str) -> bool:
    """Whether an access path reads its last attribute off the target: `self.page_size`, `target_worker.page_size`."""
    root, _, last = path.rpartition(".")
    if not root or last not in FIELD_OF_NAME or draft_word(path):
        return False
    if root in ("self", "cls"):
        return True
    if own_words.names(Role.TARGET, root) or root == "get_schedule()":
        return True
    return bool(_TARGET_ROOT.search(root)) and not _NOT_TARGET_ROOT.search(root)


for _concluded in (draft_word, draft_flag, target_word, target_path):
    own_words.on_change(_concluded.cache_clear)
