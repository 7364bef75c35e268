"""Runs tests/gpu/run where there is a GPU; elsewhere skips with its reason."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu


def test_the_guard_on_a_gpu():
    done = subprocess.run([str(Path(__file__).parent / "run")], capture_output=True, text=True, timeout=240)
    last = (done.stdout.strip().splitlines() or [""])[-1]
    if last.startswith("skipped: "):
        pytest.skip(last.removeprefix("skipped: "))
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
