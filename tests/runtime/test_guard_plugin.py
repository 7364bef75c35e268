"""The plugin's decisions, with fakes in the place of SGLang: when it raises, warns, is silent, or stays away."""

from __future__ import annotations

import logging
import sys
from types import ModuleType, SimpleNamespace

import pytest
from fakes import DeepSeekV4TokenToKVPool, PlainPool, runner

from swa_lint.runtime import SwaGeometryError, plugin
from swa_lint.runtime.setting import Action
from swa_lint.sglang.versions import STATE_HOOK, behaviour

TARGET = DeepSeekV4TokenToKVPool(1, 4096)
DRAFT = DeepSeekV4TokenToKVPool(32, 4096)


def guard(version: str = "0.5.17", action: Action = Action.DEFAULT) -> plugin.Guard:
    known = behaviour(version)
    assert known is not None
    return plugin.Guard(known, action)


def messages(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("version", "mode", "action", "raises"),
    [
        ("0.5.17", "prefill", Action.DEFAULT, True),
        ("0.5.23", "decode", Action.DEFAULT, True),
        ("0.5.17", "null", Action.DEFAULT, False),
        ("0.5.14", "prefill", Action.DEFAULT, False),
        ("0.5.12", "prefill", Action.RAISE, True),
        ("0.5.17", "null", Action.RAISE, True),
        ("0.5.17", "prefill", Action.WARN, False),
    ],
)
def test_raise_where_sglang_would_fail_later_and_warn_elsewhere(caplog, version, mode, action, raises):
    check = guard(version, action).after_pool
    if raises:
        with pytest.raises(SwaGeometryError):
            check(None, runner(DRAFT, TARGET, mode=mode))
    else:
        check(None, runner(DRAFT, TARGET, mode=mode))
        assert len(messages(caplog)) == 1


def test_before_0_5_16_neither_layers_nor_mapping_are_compared(caplog):
    draft = DeepSeekV4TokenToKVPool(1, 4096, compression_ratios=[4], full_to_swa_index_mapping=[1])
    guard("0.5.14", Action.RAISE).after_pool(None, runner(draft, TARGET, mode="prefill"))
    with pytest.raises(SwaGeometryError):
        guard("0.5.16", Action.RAISE).after_pool(None, runner(draft, TARGET, mode="prefill"))


def test_npu_pools_are_left_alone_as_long_as_sglang_leaves_them_alone(monkeypatch):
    npu = type("DSV4NPUTokenToKVPool", (DeepSeekV4TokenToKVPool,), {"__module__": "sglang.srt.hardware_backend.npu.x"})
    draft = runner(npu(32, 4096), npu(1, 4096), mode="prefill")
    guard("0.5.17").after_pool(None, draft)
    with pytest.raises(SwaGeometryError):
        guard("0.5.18").after_pool(None, draft)


def test_a_prefill_rank_that_keeps_the_draft_cache_is_not_refused(caplog):
    target = DeepSeekV4TokenToKVPool(1, 4096, layer_shard_enabled=True, layer_shard_rank=0, layer_shard_size=2)
    guard().after_pool(None, runner(DRAFT, target, mode="prefill"))
    assert len(messages(caplog)) == 1
    target.layer_shard_rank = 1
    with pytest.raises(SwaGeometryError):
        guard().after_pool(None, runner(DRAFT, target, mode="prefill"))


def test_a_hisparse_allocator_is_looked_through():
    made = runner(DRAFT, None, mode="prefill")
    made.token_to_kv_pool_allocator.logical_attn_allocator = SimpleNamespace(get_kvcache=lambda: TARGET)
    with pytest.raises(SwaGeometryError):
        guard().after_pool(None, made)


@pytest.mark.parametrize(
    "made",
    [
        runner(DRAFT, DRAFT, mode="prefill"),
        runner(TARGET, TARGET, mode="prefill", is_draft=False),
        runner(PlainPool(32), PlainPool(1), mode="prefill"),
        runner(PlainPool(32), TARGET, mode="prefill"),
    ],
)
def test_pairs_that_sglang_does_not_compare_are_none_of_ours(caplog, made):
    guard().after_pool(None, made)
    assert messages(caplog) == []


def test_the_transfer_goes_on_with_every_argument():
    seen = []
    guard().before_transfer(lambda *a, **k: seen.append((a, k)), "args", TARGET, None, 61, req_to_token_pool="pool")
    assert seen == [(("args", TARGET, None, 61), {"req_to_token_pool": "pool"})]


def test_one_pair_is_one_warning(caplog):
    watch = guard(action=Action.WARN)
    watch.after_pool(None, runner(DRAFT, TARGET, mode="prefill"))
    watch.before_transfer(lambda *a: None, "args", TARGET, DRAFT)
    assert len(messages(caplog)) == 1


def test_a_fault_is_one_warning_and_no_stop(caplog):
    watch = guard()
    watch.after_pool(None, object())
    watch.after_pool(None, object())
    assert messages(caplog) == ["swa_lint: the guard failed; pools are not checked"]


class Registry:
    """SGLang's registry, as far as the plugin uses it."""

    def __init__(self) -> None:
        self.hooks: dict[str, object] = {}

    def register(self, target: str, hook: object, hook_type: str) -> None:
        self.hooks[target] = (hook, hook_type)


@pytest.fixture
def sglang(monkeypatch):
    """A fake SGLang of a given version in sys.modules; returns a function that sets it up and gives the registry."""

    def make(version: str, *, scheduler: bool = True, hooks: bool = True) -> Registry:
        registry = Registry()
        modules: dict[str, ModuleType] = {"sglang": ModuleType("sglang")}
        modules["sglang"].__version__ = version  # type: ignore[attr-defined]
        names = ["sglang.srt", "sglang.srt.plugins", "sglang.srt.plugins.hook_registry"]
        names += ["sglang.srt.managers", "sglang.srt.managers.scheduler"] if scheduler else []
        names += ["sglang.srt.disaggregation", "sglang.srt.disaggregation.utils"] if hooks else []
        names += ["sglang.srt.model_executor", "sglang.srt.model_executor.model_runner"] if hooks else []
        for name in names:
            modules[name] = ModuleType(name)
            parent, _, child = name.rpartition(".")
            setattr(modules[parent], child, modules[name])
        registering = modules["sglang.srt.plugins.hook_registry"]
        registering.HookRegistry = registry  # type: ignore[attr-defined]
        registering.HookType = SimpleNamespace(AFTER="after", AROUND="around")  # type: ignore[attr-defined]
        if hooks:
            modules[names[-1]].ModelRunner = type("ModelRunner", (), {"alloc_memory_pool": None})  # type: ignore[attr-defined]
            modules["sglang.srt.disaggregation.utils"].setup_state_kv_args = None  # type: ignore[attr-defined]
        for name in [name for name in sys.modules if name.partition(".")[0] == "sglang"]:
            monkeypatch.delitem(sys.modules, name)
        for name, module in modules.items():
            module.__path__ = []
            monkeypatch.setitem(sys.modules, name, module)
        return registry

    return make


def test_install_registers_both_hooks(sglang, monkeypatch):
    monkeypatch.delenv("SWA_LINT_GUARD", raising=False)
    registry = sglang("0.5.17")
    plugin.install()
    pool_hook = "sglang.srt.model_executor.model_runner.ModelRunner.alloc_memory_pool"
    assert {target: kind for target, (_, kind) in registry.hooks.items()} == {pool_hook: "after", STATE_HOOK: "around"}


def test_off_registers_nothing(sglang, monkeypatch, caplog):
    registry = sglang("0.5.17")
    monkeypatch.setenv("SWA_LINT_GUARD", "off")
    plugin.install()
    assert registry.hooks == {}
    assert messages(caplog) == []


def test_a_bad_setting_is_one_warning_and_the_default(sglang, monkeypatch, caplog):
    registry = sglang("0.5.17")
    monkeypatch.setenv("SWA_LINT_GUARD", "loud")
    plugin.install()
    assert len(registry.hooks) == 2
    assert messages(caplog) == ["swa_lint: SWA_LINT_GUARD='loud' is not one of raise, warn, off: using the default"]


@pytest.mark.parametrize("version", ["0.6.0", "0.5.24", "0.5.10", "0.0.0.dev0", "unknown"])
def test_an_unknown_sglang_is_one_warning_and_no_hook(sglang, monkeypatch, caplog, version):
    monkeypatch.delenv("SWA_LINT_GUARD", raising=False)
    registry = sglang(version)
    plugin.install()
    assert registry.hooks == {}
    assert messages(caplog) == [f"swa_lint: SGLang {version} is not known to this guard; pools are not checked"]


def test_a_fork_without_the_functions_is_warned_about_and_left_alone(sglang, monkeypatch, caplog):
    monkeypatch.delenv("SWA_LINT_GUARD", raising=False)
    registry = sglang("0.5.17", hooks=False)
    plugin.install()
    assert registry.hooks == {}
    assert len(messages(caplog)) == 2
    assert all("cannot be hooked" in text for text in messages(caplog))


def test_a_process_without_pools_is_not_touched(sglang, monkeypatch, caplog):
    monkeypatch.delenv("SWA_LINT_GUARD", raising=False)
    registry = sglang("0.5.17", scheduler=False, hooks=False)
    plugin.install()
    assert registry.hooks == {}
    assert messages(caplog) == []


@pytest.mark.parametrize(
    ("version", "hook", "refuses", "trap"),
    [
        ("0.5.12", "init_memory_pool", False, True),
        ("0.5.13.post1", "init_memory_pool", False, True),
        ("0.5.14", "alloc_memory_pool", False, True),
        ("0.5.15.post1", "alloc_memory_pool", False, True),
        ("v0.5.16", "alloc_memory_pool", True, True),
        ("0.5.19", "alloc_memory_pool", True, True),
        ("0.5.20", "alloc_memory_pool", True, False),
        ("0.5.23", "alloc_memory_pool", True, False),
    ],
)
def test_the_table_of_releases(version, hook, refuses, trap):
    known = behaviour(version)
    assert known is not None
    assert known.pool_hook.endswith(hook)
    assert (known.refuses, known.window_trap) == (refuses, trap)
