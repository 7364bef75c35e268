"""`swa_lint.sglang.forced` and `windows`: the engine facts that rules stand on."""

from __future__ import annotations

import pytest

from swa_lint.sglang.forced import (
    Engine,
    effective_page_size,
    is_dsv4,
    is_dsv41,
    sole_page_size,
    takes_any_page_size,
)
from swa_lint.sglang.releases import NEWEST, release
from swa_lint.sglang.windows import family, language_model, read_order, window_unread


@pytest.mark.parametrize(
    ("given", "engine", "tokens"),
    [
        (64, Engine(), 64),
        (None, Engine(), None),
        (64, Engine(model="deepseek-ai/DeepSeek-V4-Flash"), 256),
        (None, Engine(model="deepseek-ai/DeepSeek-V4-Flash"), 256),
        (256, Engine(model="/models/deepseek_v4", device="npu"), 128),
        (64, Engine(model="x/DeepSeek-V4", attention="ascend"), 128),
        (1, Engine(model="deepseek-ai/DeepSeek-V3.2-Exp"), 64),
        (None, Engine(device="npu"), 128),
        (64, Engine(device="npu"), 64),
        (16, Engine(attention="trtllm_mla"), 64),
        (32, Engine(attention="trtllm_mla"), 32),
        (None, Engine(decode="flashmla"), 64),
        (32, Engine(prefill="flashmla"), 32),
        (1, Engine(prefill="trtllm_mha"), 64),
        (128, Engine(attention="trtllm_mha"), 128),
        (128, Engine(attention="trtllm_mha", release=(0, 5, 12)), 64),
        (1, Engine(draft="trtllm_mha"), 64),
        (1, Engine(draft="trtllm_mha", release=(0, 5, 12)), 1),
        (1, Engine(attention="cutlass_mla"), 128),
        (64, Engine(attention="fa4"), None),
        (128, Engine(attention="fa4"), 128),
        (64, Engine(attention="fa4", model="deepseek-ai/DeepSeek-R1"), 64),
        (64, Engine(attention="intel_xpu"), 64),
        (16, Engine(attention="intel_xpu"), None),
        (16, Engine(attention="fa3"), 16),
    ],
)
def test_effective_page_size(given: int | None, engine: Engine, tokens: int | None) -> None:
    assert effective_page_size(given, engine).tokens == tokens


def test_forced_sizes_name_what_forces_them() -> None:
    assert effective_page_size(16, Engine(attention="trtllm_mla")).forced_by == "the trtllm_mla backend"
    assert effective_page_size(64, Engine(model="DeepSeek-V4")).forced_by == "DeepSeek-V4"
    assert effective_page_size(64, Engine(attention="fa3")).forced_by is None


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("deepseek-ai/DeepSeek-V4-Flash", True),
        ("/root/.cache/huggingface/hub/models--deepseek-ai--DeepSeek-V4-Pro/snapshots/0a1b2c3d4e5f", True),
        ("/data/deepseek_v4/", True),
        ("deepseek-ai/DeepSeek-V3", False),
        ("acme/DeepSeek-V4-Distill-Qwen-8B", False),
        ("/deepseek-v4-lab/llama-3", False),
        ("", False),
        (None, False),
    ],
)
def test_dsv4_by_name(model: str | None, expected: bool) -> None:
    assert is_dsv4(Engine(model=model)) is expected


def test_architectures_outweigh_the_name() -> None:
    assert is_dsv4(Engine(model="/models/chat", architectures=("DeepseekV4ForCausalLM",)))
    assert not is_dsv4(Engine(model="/models/DeepSeek-V4", architectures=("LlamaForCausalLM",)))
    assert is_dsv41(Engine(model="deepseek-ai/DeepSeek-V4.1")) and not is_dsv41(Engine(model="DeepSeek-V4-Flash"))


def test_what_a_launch_has_no_say_in() -> None:
    assert sole_page_size(Engine(model="DeepSeek-V4")) == 256
    assert sole_page_size(Engine(attention="flashmla")) == 64
    assert sole_page_size(Engine(attention="trtllm_mla")) is None
    assert sole_page_size(Engine(attention="fa4")) is None
    assert takes_any_page_size(Engine(attention="fa3")) and not takes_any_page_size(Engine(attention="trtllm_mla"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.5.17", (0, 5, 17)), ("v0.5.12.post1", (0, 5, 12)), ("0.6", (0, 6, 0)), (None, NEWEST), ("main", NEWEST)],
)
def test_release(text: str | None, expected: tuple[int, int, int]) -> None:
    assert release(text) == expected


def _family(architecture: str, model_type: str = "") -> str | None:
    return family((architecture,) if architecture else (), model_type)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("DeepseekV4ForCausalLM", "DeepseekV4ForCausalLMNextN"),
        ("DeepseekV4ForCausalLM", "DeepseekV4ForCausalLMDSpark"),
        ("DeepseekV41ForCausalLM", "DeepseekV4ForCausalLMDSpark"),
        ("Gemma3ForConditionalGeneration", "Gemma3ForCausalLM"),
        ("Gemma4ForConditionalGeneration", "Gemma4AssistantForCausalLM"),
        ("MiMoV2FlashForCausalLM", "MiMoV2MTP"),
        ("InklingForConditionalGeneration", "InklingForConditionalGenerationMTP"),
    ],
)
def test_drafts_are_of_their_targets_family(one: str, other: str) -> None:
    assert _family(one) == _family(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("DeepseekV4ForCausalLM", "DeepseekV3ForCausalLMNextN"),
        ("GptOssForCausalLM", "LlamaForCausalLMEagle3"),
        ("GptOssForCausalLM", "Qwen3DSparkModel"),
        ("Gemma3ForCausalLM", "Gemma3nForCausalLM"),
    ],
)
def test_other_families_stay_apart(one: str, other: str) -> None:
    assert _family(one) != _family(other)


def test_family_by_model_type() -> None:
    assert _family("", "gemma3_text") == _family("Gemma3ForCausalLM")
    assert _family("", "deepseek_v41") == _family("DeepseekV4ForCausalLM")
    assert _family("", "") is None


def test_which_key_is_read_first() -> None:
    assert read_order(("Qwen2ForCausalLM",), "qwen2")[0] == "sliding_window_size"
    assert read_order(("DeepseekV4ForCausalLM",), "deepseek_v4")[0] == "sliding_window"
    assert read_order(("InklingForConditionalGenerationMTP",), "inkling")[0] == "mtp_local_extent"
    assert "attention_chunk_size" in read_order(("Llama4ForConditionalGeneration",), "llama4")
    assert "attention_chunk_size" not in read_order(("LlamaForCausalLM",), "llama")


def test_kinds_of_architectures() -> None:
    assert window_unread(("LlamaForCausalLMEagle3",)) and not window_unread(("DeepseekV4ForCausalLMNextN",))
    assert language_model(("MiMoV2MTP",)) and not language_model(("SwinForImageClassification",))
