"""The SGLang plugin: entry point `install`, which registers the guard with SGLang's own `HookRegistry`.

SGLang calls `install` in every process (0.5.12 and later). The guard looks at pools twice: when a model runner has made
its pool, and when both pools are registered for transfer. It reads a dozen plain attributes there and nothing later.
"""

from __future__ import annotations

import logging
import pkgutil
import sys
from collections.abc import Callable
from typing import Any

from swa_lint.pool_geometry import Difference
from swa_lint.runtime.errors import SwaGeometryError, is_dcp_scale
from swa_lint.runtime.pools import describe, geometry_of, is_dsv4, pool_differences, running_behaviour
from swa_lint.runtime.setting import Action, read_action
from swa_lint.sglang.versions import STATE_HOOK, Behaviour

logger = logging.getLogger("swa_lint.guard")

# Only processes that have this module build pools; in the others the guard would import half of SGLang for nothing.
_POOL_PROCESS = "sglang.srt.managers.scheduler"


def install() -> None:
    """Register the guard's hooks; does nothing under ``SWA_LINT_GUARD=off``. Never raises."""
    try:
        action, complaint = read_action()
        if complaint:
            logger.warning("swa_lint: %s", complaint)
        if action is not Action.OFF:
            _register(action)
    except Exception:
        logger.warning("swa_lint: the guard could not be installed; pools are not checked", exc_info=True)


def _register(action: Action) -> None:
    known = running_behaviour()
    if known is None:
        version = getattr(sys.modules.get("sglang"), "__version__", "of unknown version")
        logger.warning("swa_lint: SGLang %s is not known to this guard; pools are not checked", version)
        return
    guard = Guard(known, action)
    hooks = {known.pool_hook: guard.after_pool, STATE_HOOK: guard.before_transfer}
    targets = [target for target in hooks if _POOL_PROCESS in sys.modules or _module_of(target) in sys.modules]
    if not targets:
        return
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType  # type: ignore[import-not-found,unused-ignore]

    for target in targets:
        try:
            pkgutil.resolve_name(target)
        except (ImportError, AttributeError) as error:
            logger.warning("swa_lint: %s cannot be hooked (%s); pools are not checked there", target, error)
            continue
        HookRegistry.register(target, hooks[target], HookType.AFTER if target != STATE_HOOK else HookType.AROUND)


def _module_of(target: str) -> str:
    """``a.b`` of ``a.b.function`` and of ``a.b.Class.method``."""
    module = target.rpartition(".")[0]
    return module.rpartition(".")[0] if module.rpartition(".")[2][0].isupper() else module


class Guard:
    """The hooks for one release and one action; remembers which pairs it has spoken of."""

    def __init__(self, known: Behaviour, action: Action) -> None:
        self._known = known
        self._action = action
        self._reported: set[tuple[int, int]] = set()
        self._failed = False

    def after_pool(self, _result: object, runner: Any, *_args: object, **_kwargs: object) -> None:
        """Called after a runner, target's or draft's, has made its pool."""
        self._shielded(self._check_runner, runner)

    def before_transfer(
        self,
        original: Callable[..., Any],
        kv_args: object,
        token_to_kv_pool: object,
        draft_token_to_kv_pool: object = None,
        *args: object,
        **kwargs: object,
    ) -> Any:
        """Called in the place of `setup_state_kv_args`, under prefill/decode disaggregation only; goes on to it."""
        self._shielded(self._check_transfer, token_to_kv_pool, draft_token_to_kv_pool)
        return original(kv_args, token_to_kv_pool, draft_token_to_kv_pool, *args, **kwargs)

    def _shielded(self, check: Callable[..., None], *pools: object) -> None:
        """Run a check; a fault of its own is one warning, never the end of a launch."""
        try:
            check(*pools)
        except SwaGeometryError:
            raise
        except Exception:
            if not self._failed:
                self._failed = True
                logger.warning("swa_lint: the guard failed; pools are not checked", exc_info=True)

    def _check_runner(self, runner: Any) -> None:
        pool = runner.token_to_kv_pool
        target = _target_pool(runner) if runner.is_draft_worker else None
        self._log(pool, target, is_draft=bool(runner.is_draft_worker))
        if target is None or target is pool:
            return
        dcp_size = getattr(runner.server_args, "dcp_size", 1)
        refused = self._refused(runner, target)
        found = self._differences(target, pool)
        if not refused and len(found) == 1 and _only_dcp(found, target, pool, dcp_size):
            return  # SGLang's own doing, and without a transfer nothing pairs the pages
        self._act(target, pool, found, refused=refused, dcp_size=dcp_size)

    def _check_transfer(self, target: object, draft: object) -> None:
        self._act(target, draft, self._differences(target, draft), refused=self._known.refuses)

    def _differences(self, target: object, draft: object) -> tuple[Difference, ...]:
        """What the pools disagree in, where this release (or, before 0.5.16, its successor) would compare them."""
        if not (is_dsv4(target) and is_dsv4(draft)):
            return ()
        if self._known.npu_exempt and any(".npu." in type(pool).__module__ for pool in (target, draft)):
            return ()
        return pool_differences(target, draft, self._known.checks)

    def _refused(self, runner: Any, target: object) -> bool:
        """Whether SGLang itself would stop over this pair: under PD, for the draft that is sent along."""
        disaggregated = getattr(runner.server_args, "disaggregation_mode", "null") in ("prefill", "decode")
        first = getattr(runner, "draft_model_idx", None) in (None, 0)  # of several draft runners only one is sent
        last = getattr(target, "layer_shard_size", 1) - 1
        kept = getattr(target, "layer_shard_enabled", False) and getattr(target, "layer_shard_rank", None) != last
        return self._known.refuses and disaggregated and first and not kept

    def _act(
        self, target: object, draft: object, found: tuple[Difference, ...], *, refused: bool, dcp_size: int = 1
    ) -> None:
        if not found:
            return
        message = describe(target, draft, found, dcp_size=dcp_size, refused_by=self._known if refused else None)
        if self._action is Action.RAISE or (refused and self._action is Action.DEFAULT):
            raise SwaGeometryError(message, found)
        if (id(target), id(draft)) not in self._reported:
            self._reported.add((id(target), id(draft)))
            logger.warning("swa_lint: %s", message)

    def _log(self, pool: object, target: object, *, is_draft: bool) -> None:
        """One line a pool; pools of models without a sliding window are no news."""
        level = logging.INFO if _has_window(pool) or _has_window(target) else logging.DEBUG
        role, geometry = "draft" if is_draft else "target", geometry_of(pool, is_draft=is_draft)
        logger.log(level, "swa_lint: %s pool %s %s", role, type(pool).__name__, geometry)


def _target_pool(runner: Any) -> Any:
    """The target's pool, by way of the allocator that a draft shares with it; None where the draft has its own."""
    allocator = runner.token_to_kv_pool_allocator
    allocator = getattr(allocator, "logical_attn_allocator", allocator)
    return None if allocator is None else allocator.get_kvcache()


def _only_dcp(found: tuple[Difference, ...], target: object, draft: object, dcp_size: int) -> bool:
    geometries = geometry_of(target, is_draft=False), geometry_of(draft, is_draft=True)
    return found[0].field == "page_size" and is_dcp_scale(*geometries, dcp_size)


def _has_window(pool: object) -> bool:
    """Whether this is a pool with sliding-window layers: SGLang gives all of them a sub-pool or a register of their own."""
    return is_dsv4(pool) or hasattr(pool, "swa_kv_pool")
