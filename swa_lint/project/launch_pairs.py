"""Launches as servers: the page size each one really uses, and which prefill and decode servers belong together."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from swa_lint.geometry import (
    Choice,
    Const,
    Default,
    Knob,
    Location,
    Relation,
    Role,
    Unknown,
    Value,
    as_tokens,
    relate,
    source_of,
)
from swa_lint.sglang.forced import Engine, effective_page_size, sole_page_size, takes_any_page_size
from swa_lint.sglang.releases import release
from swa_lint.sources.facts import Launch, ModelConfig, ProjectFacts, Setting

PAGE_SIZE = "page_size"


@dataclass(frozen=True)
class Server:
    """A launch with what the engine makes of it.

    `page` is its effective page size (Default where nothing sets it), `source` where that comes from.
    """

    launch: Launch
    engine: Engine
    page: Value
    source: str

    @property
    def setting(self) -> Setting | None:
        """The launch's own page size."""
        return self.launch.get(PAGE_SIZE)

    @property
    def where(self) -> Location:
        """Where the page size is set, or the launch where it is not."""
        return self.setting.where if self.setting else self.launch.where


@dataclass(frozen=True)
class PdGroup:
    """The prefill and the decode servers of one deployment; those of one role agree in their page size."""

    prefill: tuple[Server, ...]
    decode: tuple[Server, ...]


def servers(project: ProjectFacts) -> tuple[Server, ...]:
    """Every launch of the project as a server."""
    configs = {config.path: config for config in model_configs(project)}
    return tuple(_server(launch, configs, project.sglang_version) for launch in project.launches)


def pd_groups(project: ProjectFacts) -> Iterator[PdGroup]:
    """The groups of servers that run together; several of one role that disagree are alternatives and make no group."""
    deployments: dict[str, list[Server]] = defaultdict(list)
    for server in servers(project):
        deployments[server.launch.deployment].append(server)
    for together in deployments.values():
        for same_model in _by_model(together):
            prefill = tuple(server for server in same_model if server.launch.role is Role.PREFILL)
            decode = tuple(server for server in same_model if server.launch.role is Role.DECODE)
            if prefill and decode and _agree(prefill) and _agree(decode):
                yield PdGroup(prefill, decode)


def model_configs(project: ProjectFacts) -> tuple[ModelConfig, ...]:
    """Every model config of the project, those of pairs that lie outside it included, each once."""
    paired = (config for pair in project.config_pairs for config in (pair.target, pair.draft))
    return tuple({config.path: config for config in (*project.configs, *paired)}.values())


def engine_of(launch: Launch, configs: dict[str, ModelConfig], version: str | None) -> Engine:
    """What `launch` says of its model, backends and device; `configs` are the project's model configs by path."""
    model = text_of(launch.get("model_path"))
    config = next((configs[path] for path in config_paths(launch, model) if path in configs), None)
    return Engine(
        model=model,
        architectures=config.architectures if config else (),
        attention=text_of(launch.get("attention_backend")),
        prefill=text_of(launch.get("prefill_attention_backend")),
        decode=text_of(launch.get("decode_attention_backend")),
        draft=text_of(launch.get("speculative_draft_attention_backend")),
        device=text_of(launch.get("device")),
        release=release(version),
    )


def config_paths(launch: Launch, model: str | None) -> tuple[str, ...]:
    """Where `config.json` of a local `model` can be: beside the launch's file first, then from the project's root."""
    if not model or "://" in model or posixpath.isabs(model):
        return ()
    folders = (posixpath.dirname(launch.where.path), "")
    found = (posixpath.normpath(posixpath.join(folder, model, "config.json")) for folder in folders)
    return tuple(dict.fromkeys(path for path in found if not path.startswith("../")))


def text_of(setting: Setting | None) -> str | None:
    """A setting's text where it is known, a variable's default included; None where it is not, or not set."""
    value = literal_default(setting.value) if setting else None
    return str(value.value) if isinstance(value, Const) and value.value is not None else None


def literal_default(value: Value) -> Value:
    """`value`, or what a variable with a default falls back to: launches are compared as they run by default."""
    while isinstance(value, Knob) and value.default is not None:
        value = value.default
    return value


def effective(value: Value, engine: Engine) -> Value:
    """What the engine makes of a page size that is set to `value` (Default: not set); Unknown where that is open."""
    value = literal_default(value)
    if isinstance(value, Choice):
        options = tuple(dict.fromkeys(effective(option, engine) for option in value.options))
        return options[0] if len(options) == 1 else Choice(options)
    given = as_tokens(value)
    if given is not None or isinstance(value, Default):
        tokens = effective_page_size(given, engine).tokens
        return value if tokens == given else Unknown() if tokens is None else Const(tokens)
    sole = sole_page_size(engine)
    if sole is not None:
        return Const(sole)
    return value if takes_any_page_size(engine) else Unknown()


def related(left: Value, right: Value) -> Relation:
    """What can be proved about two values of launches; equal ones, unknown or not, are taken to be equal."""
    if left == right:
        return Relation.EQUAL
    return relate(literal_default(left), literal_default(right))


def _server(launch: Launch, configs: dict[str, ModelConfig], version: str | None) -> Server:
    engine = engine_of(launch, configs, version)
    setting = launch.get(PAGE_SIZE)
    given = setting.value if setting else Default()
    forced_by = effective_page_size(as_tokens(literal_default(given)), engine).forced_by
    return Server(launch, engine, effective(given, engine), forced_by or source_of(given))


def _by_model(together: Iterable[Server]) -> Iterator[list[Server]]:
    """Servers that can serve one model: models are told apart by the last part of their path where all are known."""
    groups: dict[str | None, list[Server]] = defaultdict(list)
    for server in together:
        model = server.engine.model
        groups[posixpath.basename(model.rstrip("/")) if model else None].append(server)
    unnamed = groups.pop(None, [])
    if len(groups) <= 1:
        yield [*unnamed, *(server for group in groups.values() for server in group)]
    else:
        yield from groups.values()


def _agree(group: tuple[Server, ...]) -> bool:
    return all(related(one.page, other.page) is Relation.EQUAL for one, other in pairwise(group))
