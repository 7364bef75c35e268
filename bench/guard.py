"""What the guard costs: one check of two pools, one start-up check of a runner, one import. Exits 1 over the limits.

    python bench/guard.py

Inside a serving environment the pools are SGLang's own class, elsewhere a class of its name; the guard reads the same
attributes of both. Limits: 50 microseconds a check, 20 ms an import over a bare interpreter that starts in 10 ms.
"""

from __future__ import annotations

import subprocess
import sys
import timeit
from collections.abc import Callable
from time import perf_counter
from types import SimpleNamespace
from typing import Any

from swa_lint.runtime import require_same_geometry
from swa_lint.runtime.plugin import Guard
from swa_lint.runtime.setting import Action
from swa_lint.sglang.versions import DSV4_POOL, behaviour

CHECK_LIMIT_US = 50.0
IMPORT_LIMIT_MS = 20.0
RELEASE = "0.5.23"


def main() -> int:
    target, draft = (_pool(), _pool())
    runner = SimpleNamespace(
        token_to_kv_pool=draft,
        token_to_kv_pool_allocator=SimpleNamespace(get_kvcache=lambda: target),
        is_draft_worker=True,
        server_args=SimpleNamespace(disaggregation_mode="prefill", dcp_size=1),
    )
    known = behaviour(RELEASE)
    assert known is not None
    guard = Guard(known, Action.DEFAULT)
    checks: dict[str, Callable[[], Any]] = {
        "require_same_geometry": lambda: require_same_geometry(target, draft),
        "a draft's pool is made": lambda: guard.after_pool(None, runner),
        "both pools are registered": lambda: guard.before_transfer(lambda *_: None, None, target, draft),
    }
    bare, loaded = _starts("pass", "import swa_lint.runtime")
    limit = IMPORT_LIMIT_MS * max(1.0, bare / 10.0)
    print(f"{'what':28}{'measured':>12}{'limit':>12}{'of limit':>10}")
    worst = _row("import swa_lint.runtime", loaded - bare, limit, "ms")
    for name, check in checks.items():
        worst = max(worst, _row(name, _microseconds(check), CHECK_LIMIT_US, "us"))
    print(f"bare interpreter {bare:.1f} ms, Python {sys.version.split()[0]}")
    return 0 if worst < 1 else 1


def _row(name: str, value: float, limit: float, unit: str) -> float:
    print(f"{name:28}{value:>9.1f} {unit}{limit:>9.1f} {unit}{value / limit:>10.0%}")
    return value / limit


def _pool() -> Any:
    try:
        from sglang.srt.mem_cache.deepseek_v4_memory_pool import DeepSeekV4TokenToKVPool as pool_class
    except ImportError:
        pool_class = type(DSV4_POOL, (), {})
    pool = object.__new__(pool_class)
    pool.__dict__.update(
        page_size=256,
        sliding_window=128,
        compression_ratios=[0] * 4,
        full_to_swa_index_mapping=None,
        _unified_kv=False,
        request_window=None,
        swa_req_ring_size=None,
    )
    return pool


def _microseconds(check: Callable[[], Any]) -> float:
    return min(timeit.repeat(check, number=2000, repeat=5)) / 2000 * 1e6


def _starts(*programs: str) -> tuple[float, ...]:
    """The quickest of 15 starts of each program in milliseconds, taken in turns."""
    best = dict.fromkeys(programs, float("inf"))
    for _ in range(15):
        for program in programs:
            begin = perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            best[program] = min(best[program], (perf_counter() - begin) * 1e3)
    return tuple(best.values())


if __name__ == "__main__":
    sys.exit(main())
