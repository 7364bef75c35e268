"""Pools on `cuda`, the guard on: right answers, no device synchronisation, and what a check costs. Run by tests/gpu/run."""

from __future__ import annotations

import time

import pytest
import torch
from pools import allocate, double, publish, real_pair, register
from sglang.srt.plugins import load_plugins

from swa_lint.runtime import SwaGeometryError, require_same_geometry

load_plugins()


@pytest.fixture(autouse=True)
def _args():
    args = publish()
    yield
    args.restore()


@pytest.fixture
def no_sync():
    """Every operation that waits for the device is an error."""
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    yield
    torch.cuda.set_sync_debug_mode("default")


def test_the_reference_case_is_refused():
    with pytest.raises(SwaGeometryError, match="page_size: target 1, draft 32"):
        register(double(1, 4096), double(32, 4096))


def test_pools_on_the_device_pass_and_fail_without_a_synchronisation(no_sync_pair, no_sync):
    target, draft, narrow, allocator = no_sync_pair
    require_same_geometry(target, draft)
    allocate(draft, allocator, is_draft=True, mode="prefill")
    with pytest.raises(SwaGeometryError, match="sliding_window: target 128, draft 64"):
        allocate(narrow, allocator, is_draft=True, mode="prefill")


@pytest.fixture
def no_sync_pair():
    target, draft, allocator = real_pair()
    narrow = real_pair(sliding_window=64)[1]
    narrow.register_mapping(draft.full_to_swa_index_mapping)
    assert draft.swa_kv_pool.kv_buffer[0].is_cuda
    return target, draft, narrow, allocator


def test_a_busy_device_is_not_waited_for(no_sync_pair):
    target, draft, _, _ = no_sync_pair
    torch.cuda.synchronize()
    done = torch.cuda.Event()
    torch.cuda._sleep(2_000_000_000)
    done.record()
    begin = time.perf_counter()
    for _ in range(1000):
        require_same_geometry(target, draft)
    each = (time.perf_counter() - begin) / 1000 * 1e6
    assert not done.query(), "the device was done before the checks were: nothing is shown"
    print(f"\n{each:.1f} us a check while the device was busy")
    assert each < 50
    torch.cuda.synchronize()
