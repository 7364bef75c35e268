"""Pools and runners with the attributes that the guard reads, for tests that need no SGLang."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class DeepSeekV4TokenToKVPool:
    """A stand-in with the real class's name, by which the guard knows it."""

    def __init__(self, page_size: int = 256, sliding_window: int = 128, **others: Any) -> None:
        self.page_size = page_size
        self.sliding_window = sliding_window
        self.compression_ratios = [0]
        self.full_to_swa_index_mapping = None
        self.__dict__.update(others)


class PlainPool:
    """A pool of a model without sliding windows."""

    def __init__(self, page_size: int) -> None:
        self.page_size = page_size


def runner(pool: object, target: object, *, mode: str = "null", is_draft: bool = True, **others: Any) -> Any:
    """A model runner that has made `pool` and shares the allocator of `target`."""
    return SimpleNamespace(
        token_to_kv_pool=pool,
        token_to_kv_pool_allocator=SimpleNamespace(get_kvcache=lambda: target),
        is_draft_worker=is_draft,
        server_args=SimpleNamespace(disaggregation_mode=mode, dcp_size=1),
        **others,
    )
