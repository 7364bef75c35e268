"""The guard inside real SGLang, on the CPU: its own pools, its own plugin loader, its own error beside ours."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.sglang

RELEASES = ("0.5.17", "0.5.23")


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("name", "guard"),
    [("default", None), ("warn", "warn"), ("raise", "raise"), ("unpatched", "off"), ("process", None)],
)
def test_inside_sglang(run_inside, release, name, guard):
    done = run_inside(release, f"check_{name}.py", guard=guard)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("release", RELEASES)
def test_uninstalled(run_inside, release):
    done = run_inside(release, "check_unpatched.py", installed=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_reference_case_beside_sglangs_own_error(run_inside, capsys):
    done = run_inside("0.5.17", "check_default.py", "-s", "-k", "reference")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = done.stdout[done.stdout.index("SGLang:") :]
    with capsys.disabled():
        print(f"\n{shown}")
    assert "paged SWA geometry: target=(1, 4096), draft=(32, 4096)" in shown
