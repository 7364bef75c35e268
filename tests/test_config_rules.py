"""Model configs: reading them (`swa_lint.sources.hf_config`), pairing them, and rules SWA401, SWA402 and SWA403."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swa_lint.finding import Applicability, Finding, Replace
from swa_lint.geometry import Const, Location
from swa_lint.project.config_pairs import ConfigPairError, pair_configs
from swa_lint.project.text import Lines
from swa_lint.rules.registry import all_rules
from swa_lint.sources.facts import ConfigPair, FileFacts, Launch, ModelConfig, ProjectFacts, Setting
from swa_lint.sources.hf_config import config_facts, read_config

V4: dict[str, Any] = {"architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4"}
NEXTN: dict[str, Any] = {"architectures": ["DeepseekV4ForCausalLMNextN"], "model_type": "deepseek_v4"}
GEMMA: dict[str, Any] = {"architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text"}


def read(text: str, path: str = "config.json") -> ModelConfig:
    config = read_config(path, text)
    assert config is not None
    return config


def model(config: dict[str, Any], path: str = "config.json") -> ModelConfig:
    return read(json.dumps(config), path)


def windows(config: dict[str, Any]) -> list[tuple[str, int]]:
    return [(key.name, key.value) for key in model(config).windows]


def check(code: str, *configs: ModelConfig, pair: tuple[ModelConfig, ModelConfig] | None = None) -> list[Finding]:
    files = tuple(FileFacts(config.path, configs=(config,)) for config in configs)
    pairs = (ConfigPair(*pair, "--target/--draft"),) if pair else ()
    return list(all_rules()[code][1](ProjectFacts(files, pairs)))


def cut(text: str, where: Location) -> str:
    lines = Lines(text)
    return text[lines.offset(where.line, where.column) : lines.offset(where.end_line, where.end_column)]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_positions_are_exact(newline: str, indent: Any) -> None:
    config = {**V4, "note": 'a "sliding_window": 1, \\ "', "nested": {"sliding_window": 7}, "sliding_window": 128}
    text = json.dumps(config, indent=indent).replace("\n", newline)
    (key,) = read(text).windows
    assert cut(text, key.where) == '"sliding_window": 128'
    assert cut(text, key.value_where) == "128"


def test_byte_order_mark_counts_no_column() -> None:
    text = json.dumps({**V4, "sliding_window": 128})
    assert read("\ufeff" + text).windows == read(text).windows


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({**V4, "sliding_window": None, "window_size": 64}, [("window_size", 64)]),
        ({**V4, "sliding_window": 128.0}, [("sliding_window", 128)]),
        ({**V4, "sliding_window": -1}, []),
        ({**V4, "sliding_window": True}, []),
        ({**V4, "sliding_window": "128"}, []),
        ({**GEMMA, "sliding_window": 512, "layer_types": ["full_attention"] * 3}, []),
        (
            {**GEMMA, "sliding_window": 512, "layer_types": ["full_attention", "sliding_attention"]},
            [("sliding_window", 512)],
        ),
        ({"architectures": ["Qwen2ForCausalLM"], "sliding_window": 4096, "use_sliding_window": False}, []),
        (
            {"architectures": ["Qwen2ForCausalLM"], "sliding_window": 4096, "use_sliding_window": True},
            [("sliding_window", 4096)],
        ),
        (
            {**GEMMA, "text_config": {"sliding_window": 1024}, "vision_config": {"window_size": 8}},
            [("sliding_window", 1024)],
        ),
        ({**GEMMA, "text_config": {"hidden_size": 8}, "sliding_window": 1024}, []),
        ({"architectures": ["Llama4ForCausalLM"], "attention_chunk_size": 8192}, [("attention_chunk_size", 8192)]),
    ],
)
def test_what_the_engine_reads(config: dict[str, Any], expected: list[tuple[str, int]]) -> None:
    assert windows(config) == expected


def test_of_two_equal_keys_the_last_counts() -> None:
    text = '{"architectures": ["DeepseekV4ForCausalLM"], "sliding_window": 1, "sliding_window": 2}'
    assert [key.value for key in read(text).windows] == [2]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "3",
        "{}",
        '{"port": 1}',
        '{"model_type": "app", "sliding_window": 9}',
        '{"architectures": ["SwinModel"], "window_size": 7}',
    ],
)
def test_other_json_is_no_model_config(text: str) -> None:
    assert read_config("config.json", text) is None


def test_broken_model_configs_are_problems_and_other_broken_files_are_not() -> None:
    broken = config_facts("m/config.json", '{"architectures": ["X"],\n "sliding_window": }')
    assert [(problem.where.line, problem.skipped) for problem in broken.problems] == [(2, False)]
    assert config_facts("app/config.json", "{ // settings\n}").problems == ()
    deep = '{"architectures": ' + "[" * 100_000
    assert len(config_facts("m/config.json", deep).problems) == 1


@given(st.text())
def test_any_text_gives_facts(text: str) -> None:
    assert config_facts("config.json", text).path == "config.json"


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["sliding_window", "text_config", "layer_types", "window_size", "x"]), inner
            )
        ),
    )
)
def test_any_model_config_gives_facts(value: Any) -> None:
    config_facts("config.json", json.dumps({**V4, "text_config": value, "sliding_window": value}))


def test_401_names_both_values_and_moves_the_draft() -> None:
    text = json.dumps({**NEXTN, "sliding_window": 4096, "window_size": 4096}, indent=2)
    target = model({**V4, "sliding_window": 128}, "t/config.json")
    (found,) = check("SWA401", pair=(target, read(text, "d/config.json")))
    assert (found.where.path, found.where.line) == ("d/config.json", 6)
    assert found.target is not None and found.draft is not None
    assert (found.target.value, found.draft.value) == ("128", "4096")
    assert "4096" in found.message and "128 (t/config.json:1)" in found.message
    assert found.remedy is not None and found.remedy.applicability is Applicability.UNSAFE
    changes = [change for change in found.remedy.changes if isinstance(change, Replace)]
    assert [(cut(text, change.where), change.text) for change in changes] == [("4096", "128")] * 2


@pytest.mark.parametrize(
    ("target", "draft"),
    [
        ({**V4, "sliding_window": 128}, {**NEXTN, "sliding_window": 128}),
        ({**V4, "sliding_window": 128}, NEXTN),
        (V4, {**NEXTN, "sliding_window": 128}),
        ({**V4, "sliding_window": 128}, {**GEMMA, "sliding_window": 1024}),
        ({**V4, "sliding_window": 128}, {"architectures": ["LlamaForCausalLMEagle3"], "sliding_window": 9}),
        ({**GEMMA, "text_config": {"sliding_window": 1024}}, {**GEMMA, "sliding_window": 1024.0}),
    ],
)
def test_401_is_silent(target: dict[str, Any], draft: dict[str, Any]) -> None:
    assert check("SWA401", pair=(model(target, "t/config.json"), model(draft, "d/config.json"))) == []


@pytest.mark.parametrize(
    ("config", "unread"),
    [
        ({**V4, "sliding_window": 128, "window_size": 256}, ["window_size"]),
        ({"architectures": ["Qwen2ForCausalLM"], "sliding_window": 1, "sliding_window_size": 2}, ["sliding_window"]),
        ({**GEMMA, "sliding_window": 512, "text_config": {"sliding_window": 1024}}, ["sliding_window"]),
        ({**V4, "sliding_window": 128, "window_size": 128}, []),
        ({**V4, "sliding_window": 128, "window_size": None}, []),
        ({"architectures": ["LlamaForCausalLMEagle3"], "sliding_window": 1, "window_size": 2}, []),
        ({"architectures": ["Llama4ForCausalLM"], "sliding_window": 1, "attention_chunk_size": 2}, []),
    ],
)
def test_402_sits_on_the_key_that_is_not_read(config: dict[str, Any], unread: list[str]) -> None:
    found = check("SWA402", model(config))
    assert [finding.draft.source for finding in found if finding.draft] == unread


def test_402_on_the_outer_key_of_a_nested_config() -> None:
    text = json.dumps({**GEMMA, "sliding_window": 512, "text_config": {"sliding_window": 1024}}, indent=1)
    (found,) = check("SWA402", read(text))
    assert cut(text, found.where) == '"sliding_window": 512'


def test_402_v41_reads_the_outer_key() -> None:
    config = {"architectures": ["DeepseekV41ForCausalLM"], "model_type": "deepseek_v41", "sliding_window": 128}
    (found,) = check("SWA402", model({**config, "text_config": {"sliding_window": 64}}))
    assert found.target is not None and found.target.value == "128"


def test_403_wins_over_401_and_is_told_once() -> None:
    draft = model({"architectures": ["LlamaForCausalLMEagle3"], "sliding_window": 2048}, "d/config.json")
    target = model({"architectures": ["LlamaForCausalLM"], "sliding_window": 4096}, "t/config.json")
    (found,) = check("SWA403", draft, pair=(target, draft))
    assert "--speculative-draft-window-size 2048" in found.message
    assert check("SWA401", draft, pair=(target, draft)) == []


def checkpoint(root: Path, directory: str, config: dict[str, Any]) -> None:
    (root / directory).mkdir(parents=True)
    (root / directory / "config.json").write_text(json.dumps(config), encoding="utf-8")


def launch(path: str, model_path: str, draft_path: str) -> FileFacts:
    where = Location(path, 3, 1, 3, 9)
    names = {"model_path": model_path, "speculative_draft_model_path": draft_path}
    settings = tuple(Setting(name, Const(text), where, text) for name, text in names.items())
    return FileFacts(path, launches=(Launch(where, settings, path, "shell"),))


@pytest.mark.parametrize("prefix", ["", "./"])
@pytest.mark.parametrize("folder", ["", "deploy/"])
def test_a_launch_pairs_local_checkpoints(tmp_path: Path, prefix: str, folder: str) -> None:
    checkpoint(tmp_path, f"{folder}main", V4)
    checkpoint(tmp_path, f"{folder}nextn", NEXTN)
    files = [launch("deploy/run.sh", f"{prefix}main", f"{prefix}nextn")]
    (pair,) = pair_configs(files, tmp_path, ())
    assert (pair.target.path, pair.draft.path) == (f"{folder}main/config.json", f"{folder}nextn/config.json")
    assert pair.origin == "deploy/run.sh:3"


@pytest.mark.parametrize(
    ("target", "draft"), [("main", "main"), ("main", "missing"), ("/models/a", "/models/b"), ("org/a", "org/b")]
)
def test_launches_without_two_local_checkpoints_pair_nothing(tmp_path: Path, target: str, draft: str) -> None:
    checkpoint(tmp_path, "main", V4)
    assert pair_configs([launch("run.sh", target, draft)], tmp_path, ()) == ()


def test_named_pairs_come_first_and_take_files_too(tmp_path: Path) -> None:
    checkpoint(tmp_path, "main", V4)
    checkpoint(tmp_path, "nextn", NEXTN)
    (pair,) = pair_configs([launch("run.sh", "main", "nextn")], tmp_path, [("main", "nextn/config.json", "--target")])
    assert pair.origin == "--target"


def test_a_named_directory_without_a_config_is_an_error(tmp_path: Path) -> None:
    checkpoint(tmp_path, "main", V4)
    (tmp_path / "empty").mkdir()
    checkpoint(tmp_path, "app", {"port": 1})
    for draft, words in (("empty", "empty/config.json"), ("missing", "missing"), ("app", "no model config")):
        with pytest.raises(ConfigPairError, match=words):
            pair_configs([], tmp_path, [("main", draft, "--target/--draft")])
