"""What the public functions make of pools that state much, little or nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from fakes import DeepSeekV4TokenToKVPool, PlainPool

from swa_lint.pool_geometry import Geometry, SwaMode
from swa_lint.runtime import SwaGeometryError, geometry_of, require_same_geometry, same_geometry


def test_the_error_names_pools_fields_values_causes_and_fixes():
    with pytest.raises(SwaGeometryError) as caught:
        require_same_geometry(DeepSeekV4TokenToKVPool(1, 4096), DeepSeekV4TokenToKVPool(32, 128))
    text = str(caught.value)
    assert isinstance(caught.value, RuntimeError)
    for part in (
        "DeepSeekV4TokenToKVPool page_size=1 sliding_window=4096",
        "page_size: target 1, draft 32",
        "sliding_window: target 4096, draft 128",
        "--page-size",
        "config.json",
        "turn off speculative decoding or prefill/decode disaggregation",
    ):
        assert part in text
    assert [difference.field for difference in caught.value.differences] == ["page_size", "sliding_window"]


@pytest.mark.parametrize(
    ("target", "draft"),
    [
        (DeepSeekV4TokenToKVPool(), DeepSeekV4TokenToKVPool()),
        (DeepSeekV4TokenToKVPool(), None),
        (DeepSeekV4TokenToKVPool(256, 128), PlainPool(256)),
        (PlainPool(16), PlainPool(16)),
        (object(), object()),
    ],
)
def test_nothing_stated_twice_differs(target, draft):
    assert same_geometry(target, draft)
    require_same_geometry(target, draft)


def test_pools_of_other_classes_are_compared_in_what_both_state():
    assert not same_geometry(PlainPool(16), PlainPool(64))
    assert not same_geometry(DeepSeekV4TokenToKVPool(256), PlainPool(64))


def test_layers_and_mapping_are_for_deepseek_pools_alone():
    ratios = SimpleNamespace(page_size=1, compression_ratios=[4], full_to_swa_index_mapping=[1])
    assert same_geometry(ratios, SimpleNamespace(page_size=1, compression_ratios=[4], full_to_swa_index_mapping=[2]))
    assert not same_geometry(DeepSeekV4TokenToKVPool(), DeepSeekV4TokenToKVPool(compression_ratios=[0, 4]))
    mapped = DeepSeekV4TokenToKVPool(full_to_swa_index_mapping=[1])
    assert not same_geometry(DeepSeekV4TokenToKVPool(full_to_swa_index_mapping=[1]), mapped)
    assert same_geometry(DeepSeekV4TokenToKVPool(full_to_swa_index_mapping=mapped.full_to_swa_index_mapping), mapped)


def test_the_page_size_in_swa_window_size_is_not_taken_for_a_window():
    assert geometry_of(DeepSeekV4TokenToKVPool(256, 128, swa_window_size=256)).sliding_window == 128
    assert geometry_of(SimpleNamespace(page_size=256, swa_window_size=256)).sliding_window is None


def test_a_ring_belongs_to_a_role():
    pool = DeepSeekV4TokenToKVPool(request_window=SimpleNamespace(capacity=256), swa_req_ring_size=512)
    assert geometry_of(pool, is_draft=False).ring == 256
    assert geometry_of(pool, is_draft=True).ring == 512
    assert geometry_of(DeepSeekV4TokenToKVPool(swa_req_ring_size=512), is_draft=False).ring is None


def test_unified_pools_state_their_ring():
    pool = DeepSeekV4TokenToKVPool(
        _unified_kv=True, unified_swa_window=128, unified_swa_ring_size=131, unified_swa_pages=9
    )
    assert geometry_of(pool) == Geometry(256, 128, 131, 9, SwaMode.UNIFIED)
    assert str(geometry_of(pool)) == "page_size=256 sliding_window=128 ring=131 ring_pages=9 mode=unified-KV"


def test_a_tensor_is_never_looked_into():
    class Tensor:
        def __getattr__(self, name):
            raise AssertionError(f"{name} may wait for a device")

        def __eq__(self, other):
            raise AssertionError("a comparison may wait for a device")

        __hash__ = None

    pool = DeepSeekV4TokenToKVPool(full_to_swa_index_mapping=Tensor())
    other = DeepSeekV4TokenToKVPool(sliding_window=Tensor(), full_to_swa_index_mapping=pool.full_to_swa_index_mapping)
    assert same_geometry(pool, other)


def test_importing_the_guard_costs_under_20_ms():
    best = {"pass": float("inf"), "import swa_lint.runtime": float("inf")}
    for _ in range(15):
        for code in best:
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            best[code] = min(best[code], time.perf_counter() - begin)
    bare, guard = best.values()
    busy = max(1, bare / 0.010)  # a bare start takes 10 ms where nothing else runs
    assert guard - bare < 0.020 * busy


def test_importing_the_guard_loads_the_standard_library_alone():
    code = (
        "import sys; before = set(sys.modules); import swa_lint.runtime, swa_lint.runtime.plugin\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) - set(sys.stdlib_module_names) == {"swa_lint"}
