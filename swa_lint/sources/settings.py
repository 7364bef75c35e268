"""Mappings of settings (recipes, `--config` files, engine arguments): keys are SGLang's own names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from swa_lint.geometry import Location, Role
from swa_lint.sglang.flags import field_of_key, server_entry
from swa_lint.sources.argv import Names, item_removal, line_removal
from swa_lint.sources.facts import Insertion, Launch, Setting
from swa_lint.sources.launch import launch_role
from swa_lint.sources.roles import is_role_key, role_of_names
from swa_lint.sources.tree import Items, Mapping, Node, Scalar

# Keys that other programs use too: they never make a mapping a launch.
_COMMON = frozenset({"config", "device", "model_path", "tp_size", "attention_backend"})


def evident(node: Mapping) -> bool:
    """Whether a mapping's keys alone say that it sets up SGLang: as flags they would."""
    return server_entry([f"--{key.value}" for key, value in node.entries if isinstance(value, Scalar)]) is not None


def launch_of_mapping(
    node: Mapping, path: Sequence[str], engine: str, names: Names, shared: Sequence[Setting] = ()
) -> Launch | None:
    """The launch that a mapping of settings makes, or None when it is no such mapping or not evidently SGLang's.

    Evident are the engine named around it, or keys that only SGLang has. `path` are the keys that lead to it, `shared`
    the settings that it inherits from its siblings. Settings that any program can have count right under a role's key;
    away from such keys one setting alone proves nothing.
    """
    own = direct_settings(node, names)
    fields = {setting.name for setting in own}
    telling = fields - _COMMON
    under_role = bool(own and path) and is_role_key(path[-1])
    if engine == "other" or not (telling or under_role):
        return None
    in_role = role_of_names(path) is not Role.UNKNOWN
    if not evident(node) and (engine != "sglang" or not (in_role or len(fields) > 1)):
        return None
    found = (*shared, *own)
    return Launch(
        where=node.where,
        settings=found,
        deployment=node.source.path,
        language="yaml",
        role=launch_role(found),
        insertion=_insertion(node),
    )


def direct_settings(node: Mapping, names: Names) -> list[Setting]:
    """The settings among a mapping's own scalars."""
    found = []
    for key, value in node.entries:
        name = field_of_key(key.value)
        if name is None or not isinstance(value, Scalar) or value.value in ("", "null", "~"):
            continue
        same = key.source is value.source and value.start >= key.start
        where = key.source.location(key.start, value.end if same else key.end)
        written = value.source.text[slice(*value.range(0, len(value.value)))]
        cut = entry_removal(node, key, value)
        found.append(Setting(name, names.value(value.value)[1], where, written, value.inner, cut))
    return found


def entry_removal(node: Mapping, key: Scalar, value: Node) -> Location | None:
    """The range whose deletion takes an entry out of a mapping; None where it is merged in, or the only one."""
    source = node.source
    if key.source is not source or not node.start <= key.start <= value.end <= node.end or len(node.entries) < 2:
        return None
    if not node.flow:
        return line_removal(key, value, re.compile(r"[ \t]*"))
    own = [(k, v) for k, v in node.entries if node.start <= k.start <= node.end]
    index = next((i for i, (k, _) in enumerate(own) if k is key), None)
    if index is None or len(own) < 2:
        return None
    if index:
        return source.location(own[index - 1][1].end, value.end)
    return source.location(key.start, own[1][0].start)


def item_cut(node: Items, item: Node) -> Location | None:
    """The range whose deletion takes one item out of a list."""
    index = next((i for i, other in enumerate(node.items) if other is item), None)
    return None if index is None else item_removal(node, index, index)


def _insertion(node: Mapping) -> Insertion | None:
    """One more key at the end of a mapping, in the style of its keys."""
    own = [(k, v) for k, v in node.entries if node.start <= k.start <= v.end <= node.end]
    if not own:
        return None
    source = node.source
    key, value = own[-1]
    style = "{key}" if sum("-" in k.value for k, _ in own) >= sum("_" in k.value for k, _ in own) else "{field}"
    quote = key.style if key.style in ("'", '"') else ""
    entry = f"{quote}{style}{quote}{source.assign}{{value}}"
    lead = source.text[source.line_start(key.start) : key.start]
    if node.flow:
        between = ", " if lead.strip() else f",\n{lead}"
        return Insertion(source.location(value.end, value.end), between + entry)
    if lead.strip():
        return None
    at = value.end if isinstance(value, Scalar) and value.style in ("|", ">") else source.line_end(value.end)
    return Insertion(source.location(at, at), f"\n{lead}{entry}")
