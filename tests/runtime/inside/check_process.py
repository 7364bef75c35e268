"""The guard goes only where pools are made: no other process has to import a model runner for it."""

from __future__ import annotations

import inspect
import sys

from sglang.srt import plugins
from sglang.srt.plugins.hook_registry import HookRegistry

from swa_lint.sglang.versions import STATE_HOOK, behaviour

RUNNER = "sglang.srt.model_executor.model_runner"


def test_a_process_without_a_scheduler_is_left_alone():
    plugins.load_plugins()
    assert RUNNER not in sys.modules
    assert "sglang.srt.disaggregation.utils" not in sys.modules
    assert not HookRegistry._hooks


def test_a_scheduler_process_is_hooked_wherever_the_function_was_imported():
    import sglang
    import sglang.srt.managers.scheduler

    plugins._plugins_loaded = False
    plugins.load_plugins()
    known = behaviour(sglang.__version__)
    assert known is not None
    assert set(HookRegistry._hooks) == {known.pool_hook, STATE_HOOK}
    runner = sys.modules[RUNNER].ModelRunner
    assert inspect.unwrap(runner.alloc_memory_pool) is not runner.alloc_memory_pool
    for name in ("prefill", "decode", "utils"):
        function = sys.modules[f"sglang.srt.disaggregation.{name}"].setup_state_kv_args
        assert inspect.unwrap(function) is not function
