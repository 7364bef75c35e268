"""Uninstalled, or SWA_LINT_GUARD=off: SGLang stays what it is, object by object."""

from __future__ import annotations

from sglang.srt.disaggregation import prefill, utils
from sglang.srt.model_executor.model_runner import ModelRunner
from sglang.srt.plugins import load_plugins
from sglang.srt.plugins.hook_registry import HookRegistry

BEFORE = {
    "setup": utils.setup_state_kv_args,
    "imported setup": prefill.setup_state_kv_args,
    **{name: value for name, value in vars(ModelRunner).items() if callable(value)},
}
CODE = utils.setup_state_kv_args.__code__.co_code, ModelRunner.alloc_memory_pool.__code__.co_code
load_plugins()


def test_every_function_is_the_object_that_it_was():
    after = {
        "setup": utils.setup_state_kv_args,
        "imported setup": prefill.setup_state_kv_args,
        **{name: value for name, value in vars(ModelRunner).items() if callable(value)},
    }
    assert after.keys() == BEFORE.keys()
    assert all(after[name] is BEFORE[name] for name in BEFORE)
    assert (utils.setup_state_kv_args.__code__.co_code, ModelRunner.alloc_memory_pool.__code__.co_code) == CODE


def test_nothing_is_registered():
    assert not HookRegistry._hooks
