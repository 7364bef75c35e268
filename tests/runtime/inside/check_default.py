"""SWA_LINT_GUARD not set: the guard raises first where SGLang itself would raise later, and warns elsewhere."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pools
import pytest
from pools import HAS_RING, Shared, allocate, configured_pool, double, publish, real_pair, register, ring
from sglang.srt.plugins import load_plugins

from swa_lint.runtime import SwaGeometryError, geometry_of, require_same_geometry, same_geometry

load_plugins()


@pytest.fixture(autouse=True)
def _args():
    args = publish()
    yield
    args.restore()


@pytest.fixture
def told(caplog):
    caplog.set_level(logging.INFO, logger="swa_lint.guard")
    return lambda: [record.getMessage() for record in caplog.records]


def refusals(target, draft):
    """SGLang's own error and the guard's, for one pair."""
    with pytest.raises(RuntimeError) as own:
        register(target, draft, guarded=False)
    assert not isinstance(own.value, SwaGeometryError)
    with pytest.raises(SwaGeometryError) as ours:
        register(target, draft)
    return str(own.value), ours.value


def test_the_reference_case():
    own, ours = refusals(double(1, 4096), double(32, 4096))
    print(f"SGLang:   {own}\nswa_lint: {ours}")
    assert "target=(1, 4096" in own and "draft=(32, 4096" in own
    assert own in str(ours)
    assert [tuple(difference) for difference in ours.differences] == [("page_size", "1", "32")]
    assert "DeepSeekV4TokenToKVPool page_size=1 sliding_window=4096" in str(ours)
    assert "--page-size" in str(ours)


INVARIANTS = {
    "page size": (double(256, 128), double(64, 128), ["page_size"]),
    "window": (double(256, 128), double(256, 512), ["sliding_window"]),
    "both": (double(256, 128), double(64, 512), ["page_size", "sliding_window"]),
    "layers": (double(256, 128), double(256, 128, compression_ratios=[0, 4]), ["draft layers"]),
    "no layers": (double(256, 128), double(256, 128, compression_ratios=[]), ["draft layers"]),
    "mode": (double(256, 128), double(256, 128, **ring(128, 131, 9)), ["mode"]),
    "ring window": (double(256, 128, **ring(128, 131, 9)), double(256, 64, **ring(64, 131, 9)), ["sliding_window"]),
    "ring size": (double(256, 128, **ring(128, 131, 9)), double(256, 128, **ring(128, 128, 9)), ["ring"]),
    "ring pages": (double(256, 128, **ring(128, 131, 9)), double(256, 128, **ring(128, 131, 8)), ["ring_pages"]),
    "mapping": (double(256, 128), double(256, 128, full_to_swa_index_mapping=[1]), ["full_to_swa_index_mapping"]),
}
if HAS_RING:
    window = SimpleNamespace(capacity=256)
    INVARIANTS["slot ring"] = (
        double(256, 128, request_window=window),
        double(256, 128, swa_req_ring_size=512),
        ["ring"],
    )
    INVARIANTS["draft ring alone"] = (double(256, 128), double(256, 128, swa_req_ring_size=256), ["ring"])
    # SGLang does not look at the target's own swa_req_ring_size
    INVARIANTS["target ring unread"] = (
        double(256, 128, swa_req_ring_size=256),
        double(256, 128, swa_req_ring_size=256),
        ["ring"],
    )


@pytest.mark.parametrize("name", INVARIANTS)
def test_every_invariant_is_refused_as_sglang_refuses_it(name):
    target, draft, fields = INVARIANTS[name]
    own, ours = refusals(target, draft)
    assert [difference.field for difference in ours.differences] == fields
    assert own in str(ours)


EQUAL = {
    "paged": (double(256, 128), double(256, 128)),
    "unified, page size aside": (double(256, 128, **ring(128, 131, 9)), double(512, 128, **ring(128, 131, 9))),
}
if HAS_RING:
    EQUAL["rings"] = (
        double(256, 128, request_window=SimpleNamespace(capacity=256)),
        double(256, 128, swa_req_ring_size=256),
    )


@pytest.mark.parametrize("name", EQUAL)
def test_equal_pools_pass_both(name, told):
    target, draft = EQUAL[name]
    register(target, draft, guarded=False)
    register(target, draft)
    assert same_geometry(target, draft)
    assert told() == []


def test_real_pools_pass_with_their_buffers():
    target, draft, _ = real_pair()
    register(target, draft)
    require_same_geometry(target, draft)
    assert geometry_of(target)[:2] == (256, 128)


def test_a_real_draft_pool_with_a_window_of_its_own():
    target, draft, _ = real_pair(sliding_window=64)
    own, ours = refusals(target, draft)
    assert own in str(ours)
    assert "sliding_window=64" in str(ours)


def test_two_real_pools_with_mappings_of_their_own():
    target, draft, _ = real_pair()
    draft.register_mapping(draft.full_to_swa_index_mapping.clone())
    own, ours = refusals(target, draft)
    assert own in str(ours)


def test_the_configurator_gives_the_draft_its_own_models_window():
    pools.publish(page_size=256)
    target, draft = configured_pool(is_draft=False, window=128), configured_pool(is_draft=True, window=512)
    assert geometry_of(target)[:2] == (256, 128)
    assert geometry_of(draft)[:2] == (256, 512)


def test_a_draft_pool_is_refused_when_it_is_made(told):
    target, draft, allocator = real_pair(sliding_window=64)
    allocate(target, allocator, is_draft=False, mode="prefill")
    with pytest.raises(SwaGeometryError, match="sliding_window: target 128, draft 64"):
        allocate(draft, allocator, is_draft=True, mode="prefill")
    assert told() == [
        "swa_lint: target pool DeepSeekV4TokenToKVPool page_size=256 sliding_window=128 mode=paged",
        "swa_lint: draft pool DeepSeekV4TokenToKVPool page_size=256 sliding_window=64 mode=paged",
    ]


def test_without_disaggregation_it_is_one_warning(told):
    _target, draft, allocator = real_pair(sliding_window=64)  # noqa: SWA201
    for _ in range(2):
        runner = allocate(draft, allocator, is_draft=True)
    assert runner.token_to_kv_pool is draft
    assert sum("do not share one SWA geometry" in text for text in told()) == 1


def test_pages_scaled_by_dcp_are_sglangs_own_doing_until_they_are_sent(told):
    args = publish(page_size=256, dcp_size=2)
    parallel = {"attn_dcp_size": 2} if HAS_RING else {}
    with pools.get_context().parallel.override(**parallel):
        target, draft = (configured_pool(is_draft=is_draft, window=128, dcp_size=2) for is_draft in (False, True))
    args.restore()
    assert (target.page_size, draft.page_size) == (256, 512)
    allocator = Shared(target)
    allocate(draft, allocator, is_draft=True, dcp_size=2)
    assert told() == ["swa_lint: draft pool DeepSeekV4TokenToKVPool page_size=512 sliding_window=128 mode=paged"]
    with pytest.raises(SwaGeometryError, match="--dcp-size 2"):
        allocate(draft, allocator, is_draft=True, mode="decode", dcp_size=2)


def test_the_second_of_several_draft_runners_is_not_sent(told):
    _target, draft, allocator = real_pair(sliding_window=64)
    allocate(draft, allocator, is_draft=True, mode="decode", index=1)
    assert any("do not share" in text for text in told())
    with pytest.raises(SwaGeometryError):
        allocate(draft, allocator, is_draft=True, mode="decode", index=0)


def test_pools_without_a_window_are_no_news(told):
    from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool

    def plain(page_size):
        return MHATokenToKVPool(
            size=128,
            page_size=page_size,
            dtype=pools.torch.bfloat16,
            head_num=1,
            head_dim=8,
            layer_num=1,
            device="cpu",
            enable_memory_saver=False,
        )

    target, draft = plain(16), plain(64)  # noqa: SWA201
    allocate(target, Shared(target), is_draft=False, mode="decode")
    allocate(draft, Shared(target), is_draft=True, mode="decode")
    register(target, draft)
    assert told() == []


def test_a_draft_with_an_allocator_of_its_own_has_no_target(told):
    _, draft, _ = real_pair(sliding_window=64)  # noqa: SWA201
    allocate(draft, Shared(draft), is_draft=True, mode="decode")
    assert not any("do not share" in text for text in told())


def test_no_draft_is_registered_as_ever():
    target, _, _ = real_pair()
    register(target, None)


def test_a_fault_of_the_guard_stops_nothing(told):
    _target, draft, _ = real_pair(sliding_window=64)  # noqa: SWA201

    class Broken:
        def get_kvcache(self):
            raise OSError("no pool today")

    for _ in range(2):
        allocate(draft, Broken(), is_draft=True, mode="decode")
    assert [text for text in told() if "the guard failed" in text] == [
        "swa_lint: the guard failed; pools are not checked"
    ]
