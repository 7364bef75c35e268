"""Page sizes that the engine puts in the place of the user's: by model, by attention backend, by device.

Read in SGLang 0.5.10-0.5.23. 0.5.12: `server_args.py`, `_handle_attention_backend_compatibility`, and
`arg_groups/deepseek_v4_hook.py`; 0.5.17: `arg_groups/overrides.py`; 0.5.23: `_mla_backend_page_constraints`,
`_fa4_page_constraint`, `_intel_xpu_page_constraint`, `_page_size_default` there and `arg_groups/model_overrides/`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from swa_lint.sglang.releases import NEWEST, Release

DSV4_PAGE_SIZE = 256
DSV4_NPU_PAGE_SIZE = 128
# The draft's pool pages at `page_size * dcp_size` since then (`kv_cache_configurator.py`, `pool_page_size`).
DCP_SCALES_SINCE: Release = (0, 5, 17)


@dataclass(frozen=True)
class Engine:
    """What a launch says that bears on its page size; None or empty where it says nothing.

    `architectures` are those of the model's `config.json` where that file is at hand; they outweigh its name, `model`.
    """

    model: str | None = None
    architectures: tuple[str, ...] = ()
    attention: str | None = None
    prefill: str | None = None
    decode: str | None = None
    draft: str | None = None
    device: str | None = None
    release: Release = NEWEST

    @property
    def on_npu(self) -> bool:
        """Whether the launch asks for an Ascend NPU."""
        return self.device == "npu" or "ascend" in (self.attention, self.prefill, self.decode)


@dataclass(frozen=True)
class Effective:
    """The page size that the engine uses, in tokens (None: not known), and what made it replace the user's.

    `elsewhere`: the sizes that it uses instead on hardware which a launch does not name.
    """

    tokens: int | None
    forced_by: str | None = None
    elsewhere: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Snap:
    """A backend that keeps the page sizes in `kept` and turns every other, an unset one too, into `becomes`."""

    backend: str
    where: tuple[str, ...]
    kept: frozenset[int]
    becomes: int


_DECODES = ("attention", "decode")
_ANYWHERE = ("attention", "decode", "prefill")
_SNAPS = (
    _Snap("flashmla", _DECODES, frozenset({64}), 64),
    _Snap("cutlass_mla", _DECODES, frozenset({128}), 128),
    _Snap("trtllm_mla", _DECODES, frozenset({32, 64}), 64),
    _Snap("tokenspeed_mla", _DECODES, frozenset({32, 64}), 64),
    _Snap("cutedsl_mla", _ANYWHERE, frozenset({32, 64}), 64),
    _Snap("hpc_ops", _ANYWHERE, frozenset({64}), 64),
)
# 0.5.17 added 128, and looks at the draft's backend too.
_TRTLLM_MHA = _Snap("trtllm_mha", (*_ANYWHERE, "draft"), frozenset({16, 32, 64, 128}), 64)
_TRTLLM_MHA_OLD = _Snap("trtllm_mha", _ANYWHERE, frozenset({16, 32, 64}), 64)
_TRTLLM_MHA_SINCE: Release = (0, 5, 17)

_USUAL = (1, 16, 32, 64, 128, 256)
_KEPT_BY_NONE = 3

_DSV4_NAME = re.compile(r"deepseek[-_ ]?v4", re.IGNORECASE)
_DSV41_NAME = re.compile(r"deepseek[-_ ]?v4[._]1(?!\d)", re.IGNORECASE)
_DSA_NAME = re.compile(r"deepseek[-_ ]?v3[._]2(?!\d)", re.IGNORECASE)
_MLA_NAME = re.compile(r"deepseek[-_ ]?(r1|v2|v3)(?!\d)", re.IGNORECASE)
_OTHER_MODEL = re.compile(r"distill|eagle|qwen|llama", re.IGNORECASE)
_HUB_CACHE = re.compile(r"^(snapshots|main|refs|[0-9a-f]{7,64})$")
_DSV4_ARCHITECTURES = frozenset({"DeepseekV4ForCausalLM", "DeepseekV41ForCausalLM"})
_DSA_ARCHITECTURES = frozenset({"DeepseekV32ForCausalLM"})
_MLA_ARCHITECTURES = frozenset({"DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM"})


def is_dsv4(engine: Engine) -> bool:
    """Whether the model is DeepSeek-V4 or V4.1: by its config, else by the last telling part of its path."""
    return _is(engine, _DSV4_ARCHITECTURES, _DSV4_NAME)


def is_dsv41(engine: Engine) -> bool:
    """Whether the model's path or architecture says V4.1, whose DSpark refuses DCP under PD."""
    return _is(engine, frozenset({"DeepseekV41ForCausalLM"}), _DSV41_NAME)


def effective_page_size(given: int | None, engine: Engine) -> Effective:
    """What `--page-size given` (None: not given) becomes; `tokens` is None where launch and model leave it open."""
    by_model = _forced_by_model(engine)
    if by_model is not None:
        return by_model
    tokens = given
    forced_by = None
    for snap in (*_SNAPS, _TRTLLM_MHA if engine.release >= _TRTLLM_MHA_SINCE else _TRTLLM_MHA_OLD):
        named = any(getattr(engine, place) == snap.backend for place in snap.where)
        if named and tokens not in snap.kept:
            tokens, forced_by = snap.becomes, f"the {snap.backend} backend"
    if tokens is None and engine.on_npu:
        # `hardware_backend/npu/utils.py`, `set_default_server_args`
        return Effective(128, "the NPU backend")
    return _hardware_dependent(Effective(tokens, forced_by), engine)


def sole_page_size(engine: Engine) -> int | None:
    """The page size that the engine uses whatever a launch asks for; None where the launch has a say."""
    outcomes = {effective_page_size(given, engine).tokens for given in (None, *_USUAL)}
    return outcomes.pop() if len(outcomes) == 1 else None


def takes_any_page_size(engine: Engine) -> bool:
    """Whether the engine keeps every page size that it is given."""
    return effective_page_size(_KEPT_BY_NONE, engine).tokens == _KEPT_BY_NONE


def _forced_by_model(engine: Engine) -> Effective | None:
    if is_dsv4(engine):
        return Effective(DSV4_NPU_PAGE_SIZE if engine.on_npu else DSV4_PAGE_SIZE, "DeepSeek-V4")
    if _is(engine, _DSA_ARCHITECTURES, _DSA_NAME) and not engine.on_npu and engine.device in (None, "cuda"):
        # `model_overrides/deepseek_v2.py`: 64, or 1 on ROCm without the preshuffled kernel, alike on all servers.
        return Effective(64, "DeepSeek sparse attention", frozenset({1}))
    return None


def _hardware_dependent(found: Effective, engine: Engine) -> Effective:
    """`found`, or an open answer where only the GPU itself decides (fa4 on SM100, Intel XPU for MLA models)."""
    backends = (engine.attention, engine.prefill, engine.decode)
    if "fa4" in backends and found.tokens != 128 and not _is(engine, _MLA_ARCHITECTURES, _MLA_NAME):
        return Effective(None)
    if "intel_xpu" in backends and found.tokens not in (64, 128):
        return Effective(None)
    return found


def _is(engine: Engine, architectures: frozenset[str], name: re.Pattern[str]) -> bool:
    if engine.architectures:
        return any(architecture in architectures for architecture in engine.architectures)
    part = _telling_part(engine.model or "")
    return bool(name.search(part)) and not _OTHER_MODEL.search(part)


def _telling_part(path: str) -> str:
    """The last part of a model path that names a model: not a snapshot's hash in the Hugging Face cache."""
    parts = [part for part in re.split(r"[/\\]", path) if part and not _HUB_CACHE.match(part)]
    return parts[-1] if parts else ""
