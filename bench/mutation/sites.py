"""Where in a release a mutation makes the draft's geometry another one than the target's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mutation.source import Reach, Source

# Allocators exist once for both roles, host pools and kernels have pages of their own, and the unified pools are
# built for the target alone: their page sizes cannot part the two roles.
_POOL = re.compile(r"(KVPool\w*|KVCacheConfigurator|pool_?cls|pool_?class)$", re.IGNORECASE)
_NO_POOL = re.compile(r"Unified|Host|Allocator")
_FIELDS = {
    "page_size": "page_size",
    "sliding_window": "sliding_window",
    "sliding_window_size": "sliding_window",
}
_ATTRIBUTES = {**_FIELDS, "window_size": "sliding_window"}
_RUNNERS = frozenset({"ModelRunner", "ModelConfig"})
_GEOMETRY_FUNCTION = re.compile(r"pool_page_size|loc_space_scale|sliding_window_size")
_COPY = re.compile(r"(^|\.)(deepcopy|copy|replace)$")
_DRAFT_RUNNER = re.compile(r"(^|\.)draft_(model_)?runner$")
_MENTIONS = re.compile(r"is_draft_(worker|model)|draft_(model_)?runner|draft_server_args")


@dataclass(frozen=True)
class Read:
    """An expression that gives both roles one value: of a pool, a runner or a config. `flag` is true for the draft."""

    source: Source
    field: str
    value: ast.expr
    flag: str

    @property
    def text(self) -> str:
        """The expression as written."""
        return self.source.code(self.value)


@dataclass(frozen=True)
class Build:
    """A call that makes a draft worker, with the args it gets."""

    source: Source
    call: ast.Call
    args: ast.keyword


@dataclass(frozen=True)
class Release:
    """The files of a release that speak of drafts, parsed."""

    version: str
    sources: tuple[Source, ...]
    args_hold_page_size: bool
    """Whether runners read the page size from the args they get; later ones read one value for the process."""

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        """What pools, runners and configs of both roles read."""
        return tuple(read for s in self.sources for read in (*pool_reads(s), *runner_reads(s)))


def load(root: Path, version: str) -> Release:
    """The release unpacked at `root`."""
    sources = []
    for file in sorted((root / "sglang" / "srt").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if _MENTIONS.search(text):
            sources.append(Source(file.relative_to(root).as_posix(), text))
    runner = next(s for s in sources if s.path.endswith("model_executor/model_runner.py"))
    return Release(version, tuple(sources), "self.page_size = server_args.page_size" in runner.text)


def pool_reads(source: Source) -> Iterator[Read]:
    """Geometry given to the pools, or their configurator, that both roles build."""
    for call in source.all(ast.Call):
        name = ast.unparse(call.func)
        if not _POOL.search(name) or _NO_POOL.search(name) or source.reach(call) != Reach.BOTH:
            continue
        flag = source.flag(call)
        if flag is None or not flag.startswith("self."):
            continue
        for keyword in call.keywords:
            if keyword.arg in _FIELDS:
                yield Read(source, _FIELDS[keyword.arg], keyword.value, flag)


def runner_reads(source: Source) -> Iterator[Read]:
    """Geometry that the runner or the model config of either role keeps."""
    for node in source.all(ast.Assign):
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Attribute):
            continue
        owner, flag, target = source.owner(node), source.flag(node), node.targets[0]
        if owner is None or owner.name not in _RUNNERS or flag is None or ast.unparse(target.value) != "self":
            continue
        constant = isinstance(node.value, ast.Constant)
        if target.attr in _ATTRIBUTES and not constant and source.reach(node) == Reach.BOTH:
            yield Read(source, _ATTRIBUTES[target.attr], node.value, flag)


def geometry_returns(source: Source) -> Iterator[Read]:
    """What functions return that give either role its geometry."""
    for node in source.all(ast.Return):
        if node.value is None or isinstance(node.value, ast.Constant):
            continue
        function = source.function(node)
        if function is None or not _GEOMETRY_FUNCTION.search(function.name) or source.reach(node) != Reach.BOTH:
            continue
        parameters = [a.arg for a in function.args.args]
        flag = "model_config.is_draft_model" if "model_config" in parameters else source.flag(node)
        if flag is not None:
            yield Read(source, "sliding_window" if "window" in function.name else "page_size", node.value, flag)


def draft_branches(source: Source) -> Iterator[ast.If]:
    """The branches in which a model config prepares itself for a draft."""
    for node in source.all(ast.If):
        function = source.function(node)
        if function is None or function.name != "_config_draft_model":
            continue
        if source.reach(node.body[0]) == Reach.DRAFT:
            yield node


def draft_pool_reads(source: Source) -> Iterator[ast.keyword]:
    """Page sizes given to something that only the draft builds."""
    for call in source.all(ast.Call):
        if source.reach(call) != Reach.DRAFT or source.flag(call) is None:
            continue
        for keyword in call.keywords:
            if keyword.arg == "page_size" and not isinstance(keyword.value, ast.Constant):
                yield keyword


def builds(source: Source) -> Iterator[Build]:
    """Calls that make a draft worker."""
    for call in source.all(ast.Call):
        named = {k.arg: k for k in call.keywords}
        flag, args = named.get("is_draft_worker"), named.get("server_args")
        if flag is None or args is None or not isinstance(args.value, ast.Name):
            continue
        if isinstance(flag.value, ast.Constant) and flag.value.value is True:
            yield Build(source, call, args)


def copies(source: Source) -> Iterator[tuple[ast.Assign, str, str]]:
    """Copies of the args made for a draft: the assignment, the copy's name, the original's."""
    for node in source.all(ast.Assign):
        if not isinstance(node.targets[0], ast.Name):
            continue
        call, name = node.value, node.targets[0].id
        if "draft" not in name or not isinstance(call, ast.Call) or not _COPY.search(ast.unparse(call.func)):
            continue
        if call.args and isinstance(call.args[0], ast.Name) and "server_args" in call.args[0].id:
            yield node, name, call.args[0].id


def draft_fields(source: Source) -> Iterator[ast.Call | ast.Dict]:
    """Dicts that functions return and that become fields of the draft's args."""
    for node in source.all(ast.Return):
        function = source.function(node)
        if function is None or "draft" not in function.name:
            continue
        value = node.value
        if "overrides" not in function.name and not function.name.endswith("_fields"):
            continue
        if isinstance(value, ast.Dict) or (isinstance(value, ast.Call) and ast.unparse(value.func) == "dict"):
            yield value


def draft_runners(source: Source) -> Iterator[tuple[ast.Assign, str]]:
    """Where a worker gets hold of its draft's runner, which has no pools yet, and the runner's name there."""
    if "/speculative/" not in source.path:
        return
    for node in source.all(ast.Assign):
        if len(node.targets) != 1 or source.function(node) is None:
            continue
        name = ast.unparse(node.targets[0])
        if _DRAFT_RUNNER.search(name) and isinstance(node.value, ast.Attribute) and "runner" in node.value.attr:
            yield node, name
