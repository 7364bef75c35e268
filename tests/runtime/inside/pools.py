"""Pools, runners and registrations of the real SGLang. Imported only where SGLang is: on the CPU, and by tests/gpu."""

from __future__ import annotations

import inspect
import os
from types import SimpleNamespace

import torch
from sglang.srt.disaggregation import utils as transfer
from sglang.srt.disaggregation.base.conn import KVArgs
from sglang.srt.mem_cache.allocator.swa import SWATokenToKVPoolAllocator
from sglang.srt.mem_cache.deepseek_v4_memory_pool import DeepSeekV4TokenToKVPool
from sglang.srt.mem_cache.kv_cache_configurator import KVCacheConfigurator
from sglang.srt.model_executor.model_runner import ModelRunner
from sglang.srt.runtime_context import get_context

HAS_RING = hasattr(DeepSeekV4TokenToKVPool, "swa_req_ring_size")  # 0.5.23 compares rings of paged pools too
DEVICE = os.environ.get("SWA_LINT_TEST_DEVICE", "cpu")
_SIZES = {
    "max_num_reqs": 2,
    "swa_size": 512,
    "page_size": 256,
    "swa_page_size": 256,
    "sliding_window": 128,
    "dtype": torch.float8_e4m3fn,
    "c4_state_dtype": torch.float32,
    "c128_state_dtype": torch.float32,
    "qk_nope_head_dim": 448,
    "qk_rope_head_dim": 64,
    "indexer_head_dim": 128,
    "device": DEVICE,
    "enable_memory_saver": False,
    "start_layer": 0,
}
_TARGET = {
    "layer_num": 3,
    "end_layer": 3,
    "compression_ratios": [0, 4, 128],
    "c4_size": 256,
    "c128_size": 8,
    "c4_state_pool_size": 16,
    "c128_state_pool_size": 16,
}
_DRAFT = {
    "layer_num": 1,
    "end_layer": 1,
    "compression_ratios": [0],
    "c4_size": 0,
    "c128_size": 0,
    "c4_state_pool_size": 0,
    "c128_state_pool_size": 0,
}


def publish(**fields):
    """Publish server args the way SGLang's own tests do; returns what takes them back by `restore()`."""
    args = get_context().override_server_args(**fields)
    args.install()
    return args


def real_pool(*, is_draft, **changes):
    """A pool as SGLang's constructor makes it, buffers and all."""
    wanted = {**_SIZES, **(_DRAFT if is_draft else _TARGET), **changes}
    names = inspect.signature(DeepSeekV4TokenToKVPool.__init__).parameters
    return DeepSeekV4TokenToKVPool(**{name: value for name, value in wanted.items() if name in names})


def real_pair(**draft):
    """Target and draft with their shared allocator, the mapping registered on both."""
    target, draft_pool = real_pool(is_draft=False), real_pool(is_draft=True, **draft)
    allocator = SWATokenToKVPoolAllocator(
        1024, 512, page_size=256, dtype=torch.float8_e4m3fn, device=DEVICE, kvcache=target, need_sort=False
    )
    draft_pool.register_mapping(allocator.full_to_swa_index_mapping)
    return target, draft_pool, allocator


def configured_pool(*, is_draft, window, dcp_size=1):
    """A pool as SGLang's configurator makes it from the model's own config and the published args."""
    configurator = object.__new__(KVCacheConfigurator)
    layers = 1 if is_draft else 3
    own = {
        "is_draft_worker": is_draft,
        "server_args": SimpleNamespace(dcp_size=dcp_size, max_speculative_num_draft_tokens=None),
        "model_config": SimpleNamespace(
            window_size=window,
            compress_ratios=[0, 4, 128],
            qk_nope_head_dim=448,
            qk_rope_head_dim=64,
            index_head_dim=128,
            hf_config=SimpleNamespace(kv_source_layer_ids=[]),
        ),
        "layer_info": SimpleNamespace(num_effective_layers=layers, start_layer=0, end_layer=layers),
        "kv_cache_dtype": torch.float8_e4m3fn,
        "device": DEVICE,
        "spec_algorithm": SimpleNamespace(is_dspark=lambda: False, is_eagle=lambda: True),
    }
    for name, value in own.items():
        setattr(configurator, name, value)
    sizes = {
        "max_running_requests": 2,
        "full_max_total_num_tokens": 1024,
        "swa_max_total_num_tokens": 512,
        "c4_max_total_num_tokens": 0 if is_draft else 256,
        "c128_max_total_num_tokens": 0 if is_draft else 8,
        "c4_state_pool_size": 0 if is_draft else 16,
        "c128_state_pool_size": 0 if is_draft else 16,
        "c4_state_dtype": torch.float32,
        "c128_state_dtype": torch.float32,
        "req_to_token_pool": SimpleNamespace(req_to_token=torch.zeros(3, 8)),
    }
    names = inspect.signature(configurator._build_dsv4_kv_pool).parameters
    return configurator._build_dsv4_kv_pool(**{name: value for name, value in sizes.items() if name in names})


def double(page_size, sliding_window, **changes):
    """A pool of the real class with the attributes alone, for sizes that no machine here could hold."""
    pool = object.__new__(DeepSeekV4TokenToKVPool)
    pool.__dict__.update(
        page_size=page_size,
        sliding_window=sliding_window,
        compression_ratios=[0],
        compress_state_pools=[],
        _unified_kv=False,
        full_to_swa_index_mapping=None,
        swa_kv_pool=None,
    )
    if HAS_RING:
        pool.__dict__.update(request_window=None, swa_req_ring_size=None, swa_valid_from=None)
    empty = ([], [], [])
    for name in (
        "get_state_buf_infos",
        "get_unified_swa_ring_buf_infos",
        "get_c128_state_buf_infos",
        "get_request_state_buf_infos",
        "get_swa_valid_from_buf_infos",
    ):
        pool.__dict__[name] = lambda: empty
    pool.__dict__.update(changes)
    return pool


def ring(window, size, pages):
    """The attributes of a pool in unified-KV mode."""
    return {
        "_unified_kv": True,
        "unified_swa_window": window,
        "unified_swa_ring_size": size,
        "unified_swa_pages": pages,
    }


def register(target, draft, *, guarded=True):
    """SGLang's own registration of both pools; `guarded=False` goes around whatever plugin hooked it."""
    function = transfer.setup_state_kv_args
    if not guarded:
        function = inspect.unwrap(function)
    function(KVArgs(), target, draft, 4)


def allocate(pool, allocator, *, is_draft, mode="null", dcp_size=1, index=None):
    """Run `ModelRunner.alloc_memory_pool` of a runner whose configurator hands out `pool`."""
    runner = object.__new__(ModelRunner)
    result = SimpleNamespace(
        max_total_num_tokens=1024,
        max_running_requests=2,
        req_to_token_pool=None,
        token_to_kv_pool=pool,
        token_to_kv_pool_allocator=allocator,
        memory_pool_config=None,
        unified_memory_pool=None,
    )
    runner.__dict__.update(
        is_draft_worker=is_draft,
        draft_model_idx=index,
        server_args=SimpleNamespace(disaggregation_mode=mode, dcp_size=dcp_size),
        is_hybrid_swa=False,
        pre_model_load_memory=0,
        init_kv_cache_configurator=lambda *_: None,
        kv_cache_configurator=SimpleNamespace(configure=lambda **_: result),
        _init_post_memory_pool_components=lambda: None,
    )
    runner.alloc_memory_pool()
    return runner


class Shared:
    """An allocator that says whose pool it serves, and nothing else."""

    def __init__(self, pool):
        self._pool = pool

    def get_kvcache(self):
        return self._pool
