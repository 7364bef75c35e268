"""The `config.json` of a checkpoint: its architecture and the windows that SGLang would read, with exact positions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from swa_lint.sglang.windows import (
    OUTER_WINS,
    TEXT_CONFIGS,
    UNWINDOWED_LAYERS,
    WINDOW_KEYS,
    language_model,
    read_order,
)
from swa_lint.sources.facts import FileFacts, ModelConfig, Problem, WindowKey
from swa_lint.sources.positions import Positions

FILE_NAME = "config.json"

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_SHAPE_KEYS = frozenset({"hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size", *TEXT_CONFIGS})


@dataclass(frozen=True)
class _Member:
    """One ``"key": value`` of an object: offsets of the key's quote, of the value, and of what follows the value."""

    value: Any
    key: int
    start: int
    end: int


def config_facts(path: str, text: str) -> FileFacts:
    """The facts of a `config.json`; none for one that is no model's, a problem for a model's that is no JSON."""
    try:
        config = read_config(path, text)
    except json.JSONDecodeError as error:
        return FileFacts(path, problems=_problem(path, text, error.msg, error.pos))
    except (RecursionError, ValueError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        return FileFacts(path, problems=_problem(path, text, reason, 0))
    return FileFacts(path, configs=(config,) if config else ())


def read_config(path: str, text: str) -> ModelConfig | None:
    """The model config in `text`, or None when it is some other JSON; its windows stand in the order of reading.

    Raises json.JSONDecodeError (a ValueError) for text that is no JSON and RecursionError for absurd nesting.
    """
    text = text.removeprefix("\ufeff")
    whole = json.loads(text)
    if not isinstance(whole, dict):
        return None
    outer = _members(text, _SPACE.match(text).end())  # type: ignore[union-attr]
    architectures = _strings(whole.get("architectures"))
    model_type = whole.get("model_type")
    model_type = model_type if isinstance(model_type, str) else ""
    if not (language_model(architectures) if architectures else model_type and _SHAPE_KEYS & whole.keys()):
        return None
    inner = _inner(text, outer)
    levels = [(outer, False)] if inner is None else [(inner, True), (outer, False)]
    if model_type in OUTER_WINS:
        levels.reverse()
    order = read_order(architectures, model_type)
    positions = Positions(path, text)
    windows = [window for level, nested in levels for window in _windows(positions, level, order, nested)]
    if inner is not None and model_type not in OUTER_WINS and not any(window.nested for window in windows):
        windows = []  # the engine looks into the inner config alone
    return ModelConfig(path, architectures, model_type, tuple(windows), positions.where(0, len(text.rstrip())))


def _problem(path: str, text: str, reason: str, offset: int) -> tuple[Problem, ...]:
    """The problem of a file that looks like a model config; other tools' broken `config.json` are none of ours."""
    if '"architectures"' not in text and '"model_type"' not in text:
        return ()
    where = Positions(path, text).where(min(offset, len(text)), min(offset, len(text)))
    return (Problem(where, f"not valid JSON: {reason}"),)


def _members(text: str, offset: int) -> dict[str, _Member]:
    """The members of the valid JSON object whose ``{`` stands at `offset`; of two with one key the last, as in json."""
    return dict(_walk(text, offset))


def _walk(text: str, offset: int) -> Iterator[tuple[str, _Member]]:
    offset = _after_space(text, offset + 1)
    while text[offset] != "}":
        key = offset
        name, offset = _DECODER.raw_decode(text, offset)
        start = _after_space(text, _after_space(text, offset) + 1)
        value, end = _DECODER.raw_decode(text, start)
        yield name, _Member(value, key, start, end)
        offset = _after_space(text, end)
        if text[offset] == ",":
            offset = _after_space(text, offset + 1)


def _after_space(text: str, offset: int) -> int:
    found = _SPACE.match(text, offset)
    return found.end() if found else offset


def _inner(text: str, outer: dict[str, _Member]) -> dict[str, _Member] | None:
    """The members of the language model's own config inside a multimodal one (`get_hf_text_config`), or None."""
    for name in TEXT_CONFIGS:
        member = outer.get(name)
        if member is not None and isinstance(member.value, dict):
            members = _members(text, member.start)
            deeper = members.get("text_config")
            if name == "thinker_config" and deeper is not None and isinstance(deeper.value, dict):
                return _members(text, deeper.start)
            return members
    return None


def _windows(
    positions: Positions, members: dict[str, _Member], order: tuple[str, ...], nested: bool
) -> Iterator[WindowKey]:
    """The windows of one level, in the order in which the engine looks for them."""
    if _switched_off(members):
        return
    for name in order:
        member = members.get(name)
        tokens = None if member is None or name not in WINDOW_KEYS else _tokens(member.value)
        if member is not None and tokens is not None:
            value_where = positions.where(member.start, member.end)
            yield WindowKey(name, tokens, positions.where(member.key, member.end), value_where, nested)


def _switched_off(members: dict[str, _Member]) -> bool:
    """Whether the config says that no layer has a window: Qwen's switch, or layer types that are all of other kinds."""
    switch, layers = members.get("use_sliding_window"), members.get("layer_types")
    if switch is not None and switch.value is False:
        return True
    types = layers.value if layers is not None else None
    return isinstance(types, list) and bool(types) and all(kind in UNWINDOWED_LAYERS for kind in map(str, types))


def _tokens(value: Any) -> int | None:
    """A window in tokens; null, 0, -1, booleans and text are no window."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        return None
    return int(value) if int(value) == value else None


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
