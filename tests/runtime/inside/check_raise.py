"""SWA_LINT_GUARD=raise: pools that disagree stop the launch without disaggregation too."""

from __future__ import annotations

import pytest
from pools import Shared, allocate, double
from sglang.srt.plugins import load_plugins

from swa_lint.runtime import SwaGeometryError

load_plugins()


def test_a_server_without_disaggregation_stops():
    target = double(1, 4096)
    with pytest.raises(SwaGeometryError):
        allocate(double(32, 4096), Shared(target), is_draft=True)
    allocate(double(1, 4096), Shared(target), is_draft=True)
