"""Command-line flags and environment variables of SGLang that the rules need, and the commands that start a server.

Names are those of `ServerArgs` in SGLang 0.5.10-0.5.23 (`srt/server_args.py`, since 0.5.23 `srt/arg_groups/fields/`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Every spelling of a field's flag beside the field's own name (argparse takes `--tp` for `--tp-size`).
_SPELLINGS: dict[str, tuple[str, ...]] = {
    "page_size": (),
    "model_path": ("model",),
    "config": (),
    "device": (),
    "disaggregation_mode": (),
    "disaggregation_transfer_backend": (),
    "disaggregation_bootstrap_port": (),
    "disaggregation_ib_device": (),
    "speculative_algorithm": ("speculative_algo",),
    "speculative_draft_model_path": ("speculative_draft_model",),
    "speculative_draft_window_size": ("speculative_dflash_draft_window_size",),
    "speculative_draft_attention_backend": (),
    "attention_backend": (),
    "prefill_attention_backend": (),
    "decode_attention_backend": (),
    "dcp_size": ("dcp", "decode_context_parallel_size"),
    "tp_size": ("tp", "tensor_parallel_size"),
    "json_model_override_args": (),
}
DRAFT_PAGE_SIZE = "speculative_draft_page_size"
FIELDS = frozenset({*_SPELLINGS, DRAFT_PAGE_SIZE})
_FIELD_OF = {name: field for field, names in _SPELLINGS.items() for name in (field, *names)}
# A page size of the draft alone exists in forks only, under several names.
_DRAFT_PAGE = re.compile(r"(^|_)(draft|nextn|mtp|eagle\d?|dflash|dspark)_(\w+_)?page_size$")
_DRAFT_PAGE_VARIABLE = re.compile(r"^SGLANG_(\w+_)?(DRAFT|NEXTN|MTP|EAGLE\d?|DFLASH|DSPARK)_(\w+_)?PAGE_SIZE$")
# RL frameworks (miles, slime) hand `--sglang-page-size` on as `--page-size`; their checkpoint is the engine's model.
_PREFIX = "sglang_"
_PREFIXED_ALSO = {"hf_checkpoint": "model_path"}

_SERVER_MODULE = re.compile(r"^sglang\.(launch_server|srt\.(server|entrypoints\.\w*(server|engine)\w*))$")
_SERVER_FILE = re.compile(r"(^|/)(launch_server|sglang/srt/entrypoints/\w*server\w*)\.py$")
_OTHER_PROGRAM = re.compile(
    r"^(sglang_router|sglang\.(bench|test|check_env|profiler|srt\.disaggregation|multimodal_gen|eval|benchmark)|vllm|trtllm"
    r"|tensorrt_llm|lmdeploy|sgl-model-gateway|smg$|bench_)|(^|/)(trtllm-serve|vllm|bench_\w+\.py|[\w-]*router[\w-]*|mini_lb\w*|"
    r"curl|wget|echo|printf|grep|sed|awk|cat|git|pip3?)$"
)
# Flags no other engine has: one of them and another sign mean SGLang behind a wrapper or an image's entrypoint.
_OWN_FLAGS = frozenset(
    {"disaggregation_mode", "speculative_algorithm", "speculative_draft_model_path", DRAFT_PAGE_SIZE}
)
_OTHER_SIGNS = frozenset(
    {
        *("model_path", "model", "page_size", "mem_fraction_static", "chunked_prefill_size"),
        *("disaggregation_transfer_backend", "attention_backend"),
    }
)


@dataclass(frozen=True)
class Entry:
    """A server start within an argv: flags begin at `index`; `prefixed`: only ``--sglang-*`` flags are the engine's."""

    index: int
    prefixed: bool = False


def field_of_key(key: str) -> str | None:
    """The field of a key as in `--config` YAML or keyword arguments (``page-size``, ``page_size``), or None."""
    name = key.replace("-", "_")
    if name in _FIELD_OF:
        return _FIELD_OF[name]
    return DRAFT_PAGE_SIZE if _DRAFT_PAGE.search(name) else None


def field_of_flag(flag: str, *, prefixed: bool = False) -> str | None:
    """The field of ``--page-size``, ``--page_size`` or ``--sglang-page-size``; without ``=VALUE``."""
    if not flag.startswith("--"):
        return None
    name = flag[2:].replace("-", "_")
    if name.startswith(_PREFIX):
        return field_of_key(name[len(_PREFIX) :])
    return _PREFIXED_ALSO.get(name) if prefixed else field_of_key(name)


def field_of_variable(name: str) -> str | None:
    """The field of an environment variable that a server reads: the draft's page size in forks, or None."""
    return DRAFT_PAGE_SIZE if _DRAFT_PAGE_VARIABLE.match(name) else None


def server_entry(words: Sequence[str]) -> Entry | None:
    """Where in `words` an SGLang server starts (prefixes such as ``nohup numactl`` are skipped), or None."""
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        if before == "-m" or not word.startswith("-"):
            if _SERVER_MODULE.match(word) if before == "-m" else _SERVER_FILE.search(word):
                return Entry(index + 1)
            if word.rpartition("/")[2] == "sglang" and words[index + 1 : index + 2] == ["serve"]:
                return Entry(index + 2)
            if _OTHER_PROGRAM.search(word) and (before == "-m" or _is_program(words, index)):
                return None
    return _entry_by_flags(words)


def _is_program(words: Sequence[str], index: int) -> bool:
    """Whether the word at `index` can be what is run: no flag before it takes it as its value."""
    return index == 0 or not words[index - 1].startswith("--")


def _entry_by_flags(words: Sequence[str]) -> Entry | None:
    flags = [word.partition("=")[0] for word in words]
    names = {flag[2:].replace("-", "_") for flag in flags if flag.startswith("--")}
    first = next((i for i, flag in enumerate(flags) if flag.startswith("--")), 0)
    if any(name.startswith(_PREFIX) and field_of_key(name[len(_PREFIX) :]) for name in names):
        return Entry(first, prefixed=True)
    fields = {field for field in map(field_of_key, names) if field}
    evidence = len(fields & _OWN_FLAGS) + len(names & _OTHER_SIGNS)
    return Entry(first) if fields & _OWN_FLAGS and evidence >= 2 else None
