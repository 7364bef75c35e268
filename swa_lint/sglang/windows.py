"""Which key of a model config is the window, which architectures are of one family, and which never read a window.

Read in SGLang 0.5.23: `configs/model_config.py` (`_get_sliding_window_size`, `_config_draft_model`),
`utils/hf_transformers/common.py` (`get_hf_text_config`) and the models named below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# `ModelConfig._get_sliding_window_size` takes the first of these that is not null.
_READ_ORDER = ("sliding_window_size", "sliding_window", "window_size")
# These models ask their config for `sliding_window` by name (`models/<family>.py`, `get_attention_sliding_window_size`;
# DSV4: `ModelConfig.window_size`; `models/deepseek_v4_dspark.py` falls back to `window_size`).
_SLIDING_WINDOW_FIRST = ("sliding_window", "window_size", "sliding_window_size")
_BY_NAME = frozenset(
    {
        "deepseekv4",
        "gptoss",
        "gemma2",
        "gemma3",
        "gemma3n",
        "gemma4",
        "exaone4",
        "olmo2",
        "olmo3",
        "mellum",
        "beam",
        "museglimmer",
        "musespark",
        "spark25",
    }
)
_CHUNKED = frozenset({"llama4"})
# `models/inkling.py`: the MTP head runs at its own extent and falls back to the trunk's window.
_INKLING_MTP = "InklingForConditionalGenerationMTP"

# Their attention layers take no window from the config: `models/llama_eagle3.py` has `--speculative-draft-window-size`
# alone, the others none at all (`models/llama_eagle.py`, `qwen2_eagle.py`, `mistral_eagle.py`, `kimi_k25_eagle3.py`,
# `mistral_large_3_eagle.py`; none is in `is_hybrid_swa_model`).
_UNREAD = frozenset(
    {
        "LlamaForCausalLMEagle",
        "LlamaForCausalLMEagle3",
        "Qwen2ForCausalLMEagle",
        "MistralForCausalLMEagle",
        "MistralLarge3ForCausalLMEagle",
        "Eagle3DeepseekV2ForCausalLM",
    }
)
_WINDOW_FLAG = frozenset({"LlamaForCausalLMEagle3"})

_LANGUAGE_MODEL = re.compile(r"For(CausalLM|ConditionalGeneration)|(MTP|NextN|DSpark\w*|DFlash\w*|DraftModel)$")
_HEAD = re.compile(r"(For(CausalLM|ConditionalGeneration))?(NextN|MTP|DSpark)?$")
# One family under two names: the draft's architecture or a release's own class.
_ALIASES = {
    "deepseekv41": "deepseekv4",
    "deepseekv41text": "deepseekv4",
    "mimov2flash": "mimov2",
    "gemma4assistant": "gemma4",
    "gemma4unified": "gemma4",
    "gemma4unifiedassistant": "gemma4",
    "gemma4text": "gemma4",
    "gemma3text": "gemma3",
    "gemma3ntext": "gemma3n",
    "llama4text": "llama4",
}

WINDOW_KEYS = frozenset({*_READ_ORDER, "attention_chunk_size", "mtp_local_extent"})
# The names of one and the same number; two of them with two values contradict each other.
SYNONYMS = frozenset(_READ_ORDER)
# Where multimodal configs keep the language model's keys, in the engine's order.
TEXT_CONFIGS = ("thinker_config", "llm_config", "language_config", "text_config")
# `configs/deepseek_v41.py`, `normalize_deepseek_v41_config`: the outer keys win over those of `text_config`.
OUTER_WINS = frozenset({"deepseek_v41"})
# Layers of these types look at the whole context.
UNWINDOWED_LAYERS = frozenset({"full_attention", "linear_attention", "attention"})


def read_order(architectures: tuple[str, ...], model_type: str) -> tuple[str, ...]:
    """The keys that may hold this model's window, the one that is read first in front."""
    name = family(architectures, model_type)
    if window_unread(architectures):
        return _READ_ORDER
    if _INKLING_MTP in architectures:
        return ("mtp_local_extent", *_READ_ORDER)
    if name in _BY_NAME:
        return _SLIDING_WINDOW_FIRST
    return (*_READ_ORDER, "attention_chunk_size") if name in _CHUNKED else _READ_ORDER


def family(architectures: tuple[str, ...], model_type: str) -> str | None:
    """The family whose windows mean the same (W or W-1 tokens inside the engine), or None when there is no name."""
    stem = _HEAD.sub("", architectures[0]) if architectures else model_type
    name = re.sub(r"[^a-z0-9]", "", stem.lower())
    return _ALIASES.get(name, name) or None


def language_model(architectures: Iterable[str]) -> bool:
    """Whether architectures are those of a text-generating model or of a draft; image encoders have windows too."""
    return any(_LANGUAGE_MODEL.search(architecture) for architecture in architectures)


def window_unread(architectures: Iterable[str]) -> bool:
    """Whether the engine never reads a window from this architecture's config."""
    return any(architecture in _UNREAD for architecture in architectures)


def takes_window_flag(architectures: Iterable[str]) -> bool:
    """Whether `--speculative-draft-window-size` is how this architecture gets its window."""
    return any(architecture in _WINDOW_FLAG for architecture in architectures)
