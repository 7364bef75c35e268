"""Which serving engine a part of a document speaks of."""

from __future__ import annotations

import re

from swa_lint.sources.tree import Items, Mapping, Node, Scalar

_OTHER = re.compile(
    r"vllm|trt-?llm|tensorrt|lmdeploy|exllama|llama[._-]?cpp|(?<![a-z])tgi(?![a-z])|mooncake-store", re.I
)
_SGLANG = re.compile(r"sglang(?!-router|_router|\.bench)", re.IGNORECASE)
# Keys whose text names the engine.
_KEYS = frozenset(
    {
        *("image", "repository", "name", "module", "type", "engine", "engine_type", "engineType", "inference_engine"),
        *("backend", "backendFramework", "framework", "runtime", "server", "servingEngine", "modelServer"),
    }
)


def engine_of_text(text: str) -> str:
    """``sglang``, ``other``, or an empty string where `text` names no engine, or several."""
    sglang, other = bool(_SGLANG.search(text)), bool(_OTHER.search(text))
    return "" if sglang == other else "sglang" if sglang else "other"


def engine_of_mapping(node: Mapping) -> str:
    """The engine that a mapping's own image, type or command names."""
    found = set()
    for key, value in node.entries:
        if key.value in ("command", "args", "entrypoint", "cmd"):
            found.add(_of_command(value))
        elif key.value in _KEYS and isinstance(value, Scalar):
            found.add(engine_of_text(value.value))
        elif key.value == "image" and isinstance(value, Mapping):
            found.add(engine_of_text(value.text("repository") or value.text("name")))
    found.discard("")
    return found.pop() if len(found) == 1 else ""


def _of_command(node: Node) -> str:
    if isinstance(node, Scalar):
        return engine_of_text(node.value)
    if isinstance(node, Items):
        return engine_of_text(" ".join(item.value for item in node.items if isinstance(item, Scalar)))
    return ""
