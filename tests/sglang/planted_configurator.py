"""Edits of the KV cache configurator of 0.5.23, one class that builds the pools of both roles."""

from __future__ import annotations

from planted_edits import Case, Edit, after, before

_PAGE = "            page_size=self.pool_page_size,\n            swa_page_size=swa_page_size,\n"
_WINDOW = "            sliding_window=self.model_config.window_size,\n"
_PROPERTY = "        return get_schedule().page_size * self.loc_space_scale"
_POOL = "        token_to_kv_pool = pool_cls(\n            max_num_reqs=max_running_requests,\n"
_LAYOUT = "            **kv_layout_kwargs,\n        )\n        if not self.is_draft_worker and token_to_kv_pool._unified_kv:\n"
_SHARD = "            page_size=target_pool.page_size,\n"
_SHARD_MHA = "        return PageInterleaveMHATokenToKVPool(\n"
_CLASS = "@dataclass(slots=True, kw_only=True)\nclass KVCacheConfigurator:\n"
_CHECKED = "        if sizes.max_total_num_tokens != target_pool.size:\n            raise ValueError(\n"
_MHA = (
    "    def _build_mla_fp4_kv_pool(self, *, max_total_num_tokens: int) -> KVCache:\n"
    "        token_to_kv_pool = MLATokenToKVPoolFP4(\n            max_total_num_tokens,\n            page_size=self.pool_page_size,\n"
)


def _page(value: str, note: str = "") -> tuple[str, str]:
    return _PAGE, _PAGE.replace("self.pool_page_size,", f"{value},{note}")


def _window(value: str, note: str = "") -> tuple[str, str]:
    return _WINDOW, f"            sliding_window={value},{note}\n"


def _helper(*lines: str) -> tuple[str, str]:
    return _CLASS, "\n".join([*lines, "", "", _CLASS])


_DEFECTS = (
    Edit("page size by role", (_page("(1 if self.is_draft_worker else self.pool_page_size)", "  # SWA203"),)),
    Edit(
        "window by role",
        (_window("(128 if self.is_draft_worker else self.model_config.window_size)", "  # SWA203"),),
    ),
    Edit(
        "property by role",
        (before(_PROPERTY, "if self.is_draft_worker:", "    return 1  # SWA203"),),
        supersedes=True,
    ),
    Edit(
        "local by role",
        (
            before(
                _POOL, "pool_page = self.pool_page_size", "if self.is_draft_worker:", "    pool_page = 64  # SWA203"
            ),
            _page("pool_page"),
        ),
    ),
    Edit(
        "window in a dict by role",
        (
            before(
                _POOL,
                'kv_layout_kwargs["sliding_window"] = self.model_config.window_size',
                "if self.is_draft_worker:",
                '    kv_layout_kwargs["sliding_window"] = 128  # SWA203',
            ),
            (_WINDOW, ""),
        ),
    ),
    Edit("table by role", (_page("{True: 1, False: self.pool_page_size}[self.is_draft_worker]", "  # SWA203"),)),
    Edit("scaled by role", (_page("self.pool_page_size // (2 if self.is_draft_worker else 1)", "  # SWA203"),)),
    Edit(
        "helper by role",
        (
            _helper("def _page_of(is_draft_worker, page):", "    return 1 if is_draft_worker else page  # SWA203"),
            _page("_page_of(self.is_draft_worker, self.pool_page_size)"),
        ),
    ),
    Edit(
        "alias of the role",
        (
            before(_POOL, "drafting = self.is_draft_worker"),
            _page("16 if drafting else self.pool_page_size", "  # SWA203"),
        ),
    ),
    Edit(
        "constants by role",
        (
            _helper("_TARGET_PAGE = 256", "_DRAFT_PAGE = 64"),
            _page("_DRAFT_PAGE if self.is_draft_worker else _TARGET_PAGE", "  # SWA203"),
        ),
    ),
    Edit(
        "draft-only option by role",
        (
            _page(
                "get_spec().speculative_draft_page_size if self.is_draft_worker else self.pool_page_size", "  # SWA203"
            ),
        ),
    ),
    Edit("draft pool's own page", ((_SHARD, "            page_size=64,  # SWA202\n"),)),
    Edit(
        "draft pool's page in a dict",
        ((_SHARD_MHA, '        kwargs["page_size"] = 64  # SWA202\n' + _SHARD_MHA),),
    ),
    Edit(
        "another pool class",
        (
            (
                _MHA,
                _MHA.replace("self.pool_page_size,", "8 if self.is_draft_worker else self.pool_page_size,  # SWA203"),
            ),
        ),
    ),
)

_HARMLESS = (
    Edit(
        "another argument by role",
        (
            (
                "            swa_size=swa_max_total_num_tokens,\n            c4_size",
                "            swa_size=(0 if self.is_draft_worker else swa_max_total_num_tokens),\n            c4_size",
            ),
        ),
    ),
    Edit(
        "SWA page by role",
        ((_PAGE, _PAGE.replace("=swa_page_size", "=(128 if self.is_draft_worker else swa_page_size)")),),
    ),
    Edit("the same on both sides", (_page("(self.pool_page_size if self.is_draft_worker else self.pool_page_size)"),)),
    Edit("page size kept in a local", (before(_POOL, "pool_page = self.pool_page_size"), _page("pool_page"))),
    Edit(
        "window kept in a local",
        (before(_POOL, "window = self.model_config.window_size"), _window("window")),
    ),
    Edit("window and page in another order", ((_PAGE + _WINDOW, _WINDOW + _PAGE),)),
    Edit("another name", (("pool_page_size", "page_of_pool"),), everywhere=True),
    Edit("equal arithmetic", (_page("int(self.pool_page_size)"),)),
    Edit(
        "helper that ignores the role",
        (
            _helper("def _page_of(is_draft_worker, page):", "    return page"),
            _page("_page_of(self.is_draft_worker, self.pool_page_size)"),
        ),
    ),
    Edit("page size that was compared", ((_SHARD, "            page_size=self.page_size,\n"),)),
    Edit(
        "keywords in a dict",
        (before(_POOL, 'kv_layout_kwargs["sliding_window"] = self.model_config.window_size'), (_WINDOW, "")),
    ),
    Edit("more of the role", (after(_PROPERTY, "", "# Both roles page alike unless DCP shards the target."),)),
)

CONFIGURATOR = Case("0.5.23", "sglang/srt/mem_cache/kv_cache_configurator.py", _DEFECTS, _HARMLESS)
