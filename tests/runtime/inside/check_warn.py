"""SWA_LINT_GUARD=warn: the guard says it once and leaves the rest to SGLang."""

from __future__ import annotations

import logging

import pytest
from pools import Shared, allocate, double, register
from sglang.srt.plugins import load_plugins

from swa_lint.runtime import SwaGeometryError

load_plugins()


def test_a_warning_and_then_sglangs_own_error(caplog):
    caplog.set_level(logging.WARNING, logger="swa_lint.guard")
    target, draft = double(1, 4096), double(32, 4096)
    allocate(draft, Shared(target), is_draft=True, mode="prefill")
    with pytest.raises(RuntimeError, match="SWA geometry: target=") as own:
        register(target, draft)
    assert not isinstance(own.value, SwaGeometryError)
    assert sum("page_size: target 1, draft 32" in record.getMessage() for record in caplog.records) == 1
