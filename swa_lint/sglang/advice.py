"""What usually gives one pool another geometry than the other, and what to do: said by the guard and by `explain`.

By field: `page_size`, `sliding_window`, the unified-KV ring (`ring`, `ring_pages`), request rows (0.5.23), the layout (`mode`),
the draft's layers and the index mapping. No third-party import, and no dataclasses: the guard loads this.
"""

from __future__ import annotations

CAUSES: dict[str, tuple[str, ...]] = {
    "page_size": (
        "a page size that reaches one pool only: a changed copy of the server args, a draft-only flag or variable "
        "(forks), or unequal page_size arguments of the two pools",
        "--dcp-size greater than 1: the draft's pool pages at page_size * dcp_size, the target's does not (0.5.17+)",
    ),
    "sliding_window": (
        "a draft checkpoint (--speculative-draft-model-path) whose config.json has a window of its own",
        "code that sets the window on the draft's config, or override JSON that was replaced for one model only",
    ),
    "request_rows": ("encoder replay: the target's request window and the draft's request ring differ in rows",),
    "ring": ("a window or a number of draft tokens that differs between the two pools",),
    "ring_pages": ("pools made for different numbers of request slots",),
    "mode": (
        "the unified-KV switch (SGLANG_HACK_FLASHMLA_BACKEND) changed between the two, or a pool built by other code",
    ),
    "layers": ("a draft model with compressed-attention layers: it is no NextN, MTP or DSpark draft of this target",),
    "mapping": ("a draft pool with an allocator of its own: full_to_swa_index_mapping is another object",),
}
CHANGES: dict[str, str] = {
    "page_size": "set one --page-size, and let the draft take its own from the target's args",
    "sliding_window": "set sliding_window in the draft's config.json to the target's value, or use this checkpoint's own draft",
    "request_rows": "give both pools the same number of request rows",
    "ring": "give both models one sliding_window and both pools the same number of draft tokens",
    "ring_pages": "build both pools from one --max-running-requests and one request pool",
    "mode": "set SGLANG_HACK_FLASHMLA_BACKEND once, before the server starts",
    "layers": "use the target's own NextN layers as the draft",
    "mapping": "build the draft's pool with the target's token_to_kv_pool_allocator",
}
LAST_RESORT = "if they cannot be made equal, turn off speculative decoding or prefill/decode disaggregation"
