"""The fixed fixtures, run: target and draft end with one geometry, where the bad ones end with two.

Small stand-ins take SGLang's place and record what each role gets.
"""

from __future__ import annotations

import copy
import inspect
import sys
import types
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

FIXTURES = Path(__file__).parent.parent / "fixtures"


class Args(SimpleNamespace):
    """Server arguments; a dataclass by look, so that dataclasses.replace is replaced along with it."""

    def override(self, source: str, **fields: object) -> None:
        self.__dict__.update(fields)


class Worker:
    """Takes the page size that its args have when it is made."""

    seen: ClassVar[dict[str, list[int]]] = {}

    def __init__(self, server_args: Any, is_draft_worker: bool = False, **_: object) -> None:
        role = "draft" if is_draft_worker else "target"
        Worker.seen.setdefault(role, []).append(server_args.page_size)


class Pool:
    """A KV pool with the geometry it was given, by keyword or by position."""

    def __init__(self, *args: Any, page_size: int | None = None, sliding_window: int = 128, **_: object) -> None:
        self.page_size = page_size if page_size is not None else args[2]
        self.sliding_window = sliding_window


def load(file: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The globals of a fixture with stand-ins for what it imports."""

    def replaced(args: Any, **fields: object) -> Any:
        clone = copy.copy(args)
        clone.__dict__.update(fields)
        return clone

    modules = {
        "sglang.srt.managers.tp_worker": {"TpModelWorker": Worker},
        "sglang.srt.server_args": {"ServerArgs": Args},
        "sglang.srt.configs.model_config": {"ModelConfig": Config},
        "sglang.srt.mem_cache.swa_memory_pool": {"SWAKVPool": Pool},
        "sglang.srt.mem_cache.deepseek_v4_memory_pool": {"DeepSeekV4TokenToKVPool": Pool},
        "transformers": {"AutoConfig": Config},
        "dataclasses": {"replace": replaced, "dataclass": lambda cls: cls},
    }
    for name, content in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, module)
        for parent in ("sglang", "sglang.srt"):
            monkeypatch.setitem(sys.modules, parent, types.ModuleType(parent))
    monkeypatch.setenv("PROPOSER_PAGE", "2")
    monkeypatch.setenv("RIG_PAGE", "4")
    namespace: dict[str, Any] = {"__name__": "fixture"}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    return namespace


class Config(SimpleNamespace):
    """A config with a window under both of its names."""

    @classmethod
    def from_server_args(cls, args: Any, **_: object) -> Config:
        return cls(window_size=128, sliding_window=128)

    from_pretrained = from_server_args


def arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """Values for the parameters that the fixtures use."""
    known: dict[str, Any] = {
        "server_args": Args(page_size=256, speculative_draft_page_size=8, speculative_draft_model_path="d"),
        "target_config": Config(sliding_window=128, window_size=128),
        "model_config": Config(window_size=128),
        "draft_model_config": Config(window_size=64),
        "target_runner": Config(sliding_window_size=128),
        "draft_runner": Config(sliding_window_size=64),
        "target_pool": Pool(page_size=256),
        "rig": SimpleNamespace(kv_page=16),
        "recipe": {"window": 512},
        "page_size": 256,
        "slots": 64,
        "path": "t",
        "draft_path": "d",
        "small": True,
        "context": 4096,
        "is_draft_worker": True,
    }
    names = list(inspect.signature(function).parameters)
    return {n: known.get(n, {}) for n in names}


def pages(namespace: dict[str, Any], function: str) -> tuple[set[int], set[int]]:
    """Target's and draft's page sizes after running one function of the args fixtures."""
    Worker.seen = {}
    values = arguments(namespace[function])
    namespace[function](**values)
    return {values["server_args"].page_size, *Worker.seen.get("target", [])}, set(Worker.seen["draft"])


ARGS_FUNCTIONS = [
    "assigned", "only_statement_of_a_branch", "replaced", "from_a_table", "overridden", "set_by_name", "through_vars",
    "from_the_environment", "from_a_draft_only_field", "half_of_the_targets", "constructed", "one_of_two_targets",
    "helper_with_a_value_of_its_own", "helper_that_sets_what_it_is_given", "through_a_partial",
]  # fmt: skip


@pytest.mark.parametrize("function", ARGS_FUNCTIONS)
def test_fixed_args_have_the_targets_page_size(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target, draft = pages(load(FIXTURES / "SWA101" / "fixed.py", monkeypatch), function)
    assert draft == target == {256}
    target, draft = pages(load(FIXTURES / "SWA101" / "bad.py", monkeypatch), function)
    assert draft != target


def windows(namespace: dict[str, Any], function: str) -> tuple[set[int], set[int]]:
    """Target's and draft's windows after running one function of the config fixtures."""
    values = arguments(namespace[function])
    result = namespace[function](**values)
    if function == "runners":
        return {values["target_runner"].sliding_window_size}, {values["draft_runner"].sliding_window_size}
    target, draft = result if isinstance(result, tuple) else (values["target_config"], result)
    name = "window_size" if function == "model_configs" else "sliding_window"
    return {getattr(target, name)}, {getattr(draft, name)}


@pytest.mark.parametrize(
    "function",
    ["model_configs", "copied", "from_the_environment", "set_in_a_loop", "wider_than_the_targets", "runners"],
)
def test_fixed_configs_have_the_targets_window(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target, draft = windows(load(FIXTURES / "SWA102" / "fixed.py", monkeypatch), function)
    assert draft == target
    target, draft = windows(load(FIXTURES / "SWA102" / "bad.py", monkeypatch), function)
    assert draft != target


def geometries(namespace: dict[str, Any], function: str) -> list[tuple[int, int]]:
    """The geometry of each pool that one function of the pool fixtures returns."""
    result = namespace[function](**arguments(namespace[function]))
    made = result.values() if isinstance(result, dict) else result
    return [(pool.page_size, pool.sliding_window) for pool in made]


@pytest.mark.parametrize(
    ("code", "function"),
    [
        ("SWA201", "two_literals"), ("SWA201", "two_constants"), ("SWA201", "by_position"), ("SWA201", "by_a_factory"),
        ("SWA201", "of_a_subclass"), ("SWA202", "own_config"), ("SWA202", "from_the_environment"),
        ("SWA202", "beside_a_given_target"),
    ],
)  # fmt: skip
def test_fixed_pools_have_one_geometry(code: str, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target, draft = geometries(load(FIXTURES / code / "fixed.py", monkeypatch), function)
    assert draft == target
    target, draft = geometries(load(FIXTURES / code / "bad.py", monkeypatch), function)
    assert draft != target


@pytest.mark.parametrize("method", ["conditional", "branch", "negated", "through_a_property", "an_early_return"])
def test_fixed_branches_build_the_same_pool_for_both_roles(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = SimpleNamespace(page_size=256, model_config=SimpleNamespace(window_size=128))

    def built(file: str) -> list[tuple[int, int]]:
        configurator = load(FIXTURES / "SWA203" / file, monkeypatch)["Configurator"]
        made = [getattr(configurator(runner, is_draft), method)({}) for is_draft in (False, True)]
        return [(pool.page_size, pool.sliding_window) for pool in made]

    target, draft = built("fixed.py")
    assert draft == target
    target, draft = built("bad.py")
    assert draft != target
