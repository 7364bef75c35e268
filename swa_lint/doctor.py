"""Two looks ahead of a launch: what the guard will do in this environment, and what geometry two checkpoints will get."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from swa_lint.pool_geometry import Difference, Geometry, differences
from swa_lint.runtime.setting import VARIABLE, Action, read_action
from swa_lint.sglang.forced import DCP_SCALES_SINCE, Effective, Engine, effective_page_size, is_dsv4
from swa_lint.sglang.releases import NEWEST, release
from swa_lint.sglang.versions import OLDEST, PLUGIN_GROUP, STATE_HOOK, Behaviour, behaviour, refusal
from swa_lint.sglang.windows import family, window_unread
from swa_lint.sources.facts import ModelConfig

PLUGIN = "swa_lint.runtime.plugin:install"


@dataclass(frozen=True)
class Environment:
    """What the guard finds where it runs: `lines` say it, `active` is whether it will check anything there."""

    lines: tuple[str, ...]
    active: bool


@dataclass(frozen=True)
class Prediction:
    """The pools that a pair of checkpoints will get, and what SGLang will say of them under PD (None: nothing).

    `page` is the engine's page size before any scaling. `one_family`: the windows of both mean the same, so they were
    compared here; `paired`: SGLang compares such pools too.
    """

    target: Geometry
    draft: Geometry
    page: Effective
    found: tuple[Difference, ...]
    one_family: bool
    paired: bool
    refusal: str | None


def installed_sglang() -> str | None:
    """The version of the SGLang in this environment; None where there is none. Imports nothing of it."""
    try:
        return importlib.metadata.version("sglang")
    except importlib.metadata.PackageNotFoundError:
        return None


def inspect_environment() -> Environment:
    """Look at the SGLang of this environment, without importing it, as the guard will find it there."""
    version = installed_sglang()
    spec = importlib.util.find_spec("sglang")
    if version is None or spec is None or not spec.submodule_search_locations:
        return Environment(("SGLang: not in this environment; run doctor with the server's own Python",), False)
    root = Path(next(iter(spec.submodule_search_locations)))
    lines = [f"SGLang: {version} in {root}"]
    known = behaviour(version)
    if known is None:
        oldest, newest = (".".join(map(str, number)) for number in (OLDEST, NEWEST))
        lines.append(f"guard: not active: this swa-lint knows SGLang {oldest} to {newest}")
        return Environment(tuple(lines), False)
    plugin = _plugin_trouble()
    lines.append(f"plugin: {plugin or 'found; SGLang loads it in every process'}")
    hooks = {target: _defined(root, target) for target in (known.pool_hook, STATE_HOOK)}
    lines += [f"hook {target}: {'found' if there else 'NOT FOUND in this SGLang'}" for target, there in hooks.items()]
    action, complaint = read_action()
    if complaint:
        lines.append(complaint)
    lines.append(f"{VARIABLE}: {_intent(action, known)}")
    active = plugin is None and hooks[known.pool_hook] and action is not Action.OFF
    lines.append("guard: active" if active else "guard: not active")
    return Environment(tuple(lines), active)


def _plugin_trouble() -> str | None:
    """Why SGLang will not load the guard; None where it will."""
    ours = [entry for entry in importlib.metadata.entry_points(group=PLUGIN_GROUP) if entry.value == PLUGIN]
    if not ours:
        return f"NOT FOUND: install swa-lint into this environment (entry point of group {PLUGIN_GROUP})"
    allowed = {name.strip() for name in os.environ.get("SGLANG_PLUGINS", "").split(",")} - {""}
    if allowed and ours[0].name not in allowed:
        return f"EXCLUDED: SGLANG_PLUGINS does not name {ours[0].name}"
    return None


def _defined(root: Path, target: str) -> bool:
    """Whether SGLang's source defines ``sglang.a.b.function`` or ``sglang.a.b.Class.method``; read, not imported."""
    parts = target.split(".")[1:]
    split = next((index for index, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
    try:
        tree = ast.parse(root.joinpath(*parts[:split]).with_suffix(".py").read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return False
    body: list[ast.stmt] = tree.body
    for name in parts[split:]:
        found = next((node for node in _definitions(body) if node.name == name), None)
        if found is None:
            return False
        body = found.body
    return True


def _definitions(body: list[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    return (node for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef)))


def _intent(action: Action, known: Behaviour) -> str:
    if action is Action.OFF:
        return "off: SGLang stays unpatched"
    if action is Action.RAISE:
        return "raise: pools that disagree stop the launch"
    if action is Action.WARN:
        return "warn: pools that disagree are one warning"
    if known.refuses:
        return (
            "not set: stops the launch under prefill/decode disaggregation, where SGLang would fail later; else warns"
        )
    return "default: warns (this SGLang does not compare the pools; with unequal ones its output is wrong)"


def predict(
    target: ModelConfig, draft: ModelConfig, *, page_size: int | None, dcp_size: int = 1, version: str | None = None
) -> Prediction:
    """The pools for two checkpoints under one `--page-size` (tokens, None: not given) and `--dcp-size`.

    `version` is SGLang's, the newest known by default. A window that the engine does not read is None.
    """
    number = release(version)
    page = effective_page_size(page_size, Engine(architectures=target.architectures, release=number))
    scale = dcp_size if number >= DCP_SCALES_SINCE else 1
    pools = (
        Geometry(page.tokens, _window(target)),
        Geometry(page.tokens and page.tokens * scale, _window(draft)),
    )
    one_family = family(target.architectures, target.model_type) == family(draft.architectures, draft.model_type)
    paired = one_family and is_dsv4(Engine(architectures=target.architectures))
    found = differences(*pools) if one_family else ()
    known = behaviour(".".join(map(str, min(number, NEWEST))))
    fields = [difference.field for difference in found]
    says = refusal(known, *pools, fields) if paired and known is not None else None
    return Prediction(*pools, page, found, one_family, paired, says)


def _window(config: ModelConfig) -> int | None:
    return None if window_unread(config.architectures) or not config.windows else config.windows[0].value


def is_version(text: str) -> bool:
    """Whether `text` looks like a version of SGLang."""
    return re.match(r"v?\d+\.\d+(\.\d+)?", text) is not None
