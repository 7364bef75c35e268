"""What sources say about a file: frozen, picklable data with source ranges, the same for every language."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from swa_lint.geometry import Field, Location, Role, Value


class CarrierKind(str, enum.Enum):
    """The kind of object that becomes (or configures) a pool."""

    ARGS = "server args"
    CONFIG = "model config"
    RUNNER = "model runner"
    POOL = "KV pool"
    LAUNCH = "launch"
    CONFIG_FILE = "config.json"


@dataclass(frozen=True)
class Carrier:
    """One such object: what it is called in the source and where it comes into being."""

    kind: CarrierKind
    name: str
    where: Location


@dataclass(frozen=True)
class Hop:
    """A place that a value passes on its way; shown as a related location."""

    where: Location
    message: str


@dataclass(frozen=True)
class Fact:
    """One field of one carrier gets one value.

    `where` is the binding (field name and value both in range), `value_where` the value's text alone.
    """

    role: Role
    field: Field
    value: Value
    where: Location
    carrier: Carrier
    value_where: Location | None = None
    via: tuple[Hop, ...] = ()


class Link(str, enum.Enum):
    """How a draft fact came to differ from the target's; one defect has one link, and so one rule."""

    ARGS = "page size on the draft's args"
    CONFIG = "window on the draft's config, runner or args"
    REBOUND = "target rebound after the copy"
    OVERRIDE_JSON = "override JSON of one model replaced"
    POOLS = "two pools of one pair"
    BRANCH = "geometry chosen by a draft test"
    UNGUARDED = "both pools registered without a comparison"
    WINDOW_TRAP = "swa_window_size compared as the window"


@dataclass(frozen=True)
class Pair:
    """A draft fact beside the target fact it must equal, found in Python source.

    `inherited`: with the draft's binding gone, the carrier already holds the target's value.
    `target_text`: an expression that reads the target's value where the draft's is bound, or None.
    """

    link: Link
    draft: Fact
    target: Fact | None
    inherited: bool = False
    target_text: str | None = None


@dataclass(frozen=True)
class Naming:
    """How a number that is written out can get a name which other settings of its text read instead.

    Settings of one `scope` can share the name. `define` (with `{value}`) goes in at `where` and gives the first of them
    its `name`; it is empty where that has one already. `read` (with `{name}`) takes the place `value` of a number; where
    that is `where`, the definition has it already.
    """

    scope: str
    name: str
    where: Location
    define: str
    value: Location
    read: str


@dataclass(frozen=True)
class Setting:
    """A flag, variable or key of a launch.

    `name` is SGLang's own field name (`page_size`, `dcp_size`, `disaggregation_mode`, ... see `swa_lint.sglang.flags`),
    `where` covers flag and value, `value_where` the value alone (None for a bare switch), `text` the value as written,
    `removal` the range whose deletion takes the setting out and leaves the file well-formed (None: cannot be removed),
    `naming` how its number can be shared with another setting (None: it cannot, or is no number).
    """

    name: str
    value: Value
    where: Location
    text: str
    value_where: Location | None = None
    removal: Location | None = None
    via: tuple[Hop, ...] = ()
    naming: Naming | None = None


@dataclass(frozen=True)
class Insertion:
    """Where a launch takes one more flag: `template` has `{flag}` and `{value}` and goes in at `where` (empty range).

    A mapping of settings takes a key instead: its template has `{key}` (``page-size``) or `{field}` (``page_size``).
    """

    where: Location
    template: str


@dataclass(frozen=True)
class Launch:
    """One start of an SGLang server or engine, from any language.

    `deployment` is equal for launches that run together (one script, one manifest, one compose project, one kustomize
    folder); `language` is "python", "shell", "yaml", "dockerfile", "json" or "toml". `open`: part of the argv cannot be
    followed and may hold more settings. `name` is what the launch is called where it stands (manifest, service or key
    path); it tells several pairs of one manifest apart.
    """

    where: Location
    settings: tuple[Setting, ...]
    deployment: str
    language: str
    role: Role = Role.UNKNOWN
    insertion: Insertion | None = None
    open: bool = False
    name: str = ""

    def get(self, name: str) -> Setting | None:
        """The setting that the engine obeys: the last one of that name."""
        return next((s for s in reversed(self.settings) if s.name == name), None)


@dataclass(frozen=True)
class WindowKey:
    """A window key of a model config: `name` as written (`sliding_window`), `value` in tokens."""

    name: str
    value: int
    where: Location
    value_where: Location
    nested: bool = False


@dataclass(frozen=True)
class ModelConfig:
    """A `config.json` of a checkpoint: what the engine would read of it."""

    path: str
    architectures: tuple[str, ...]
    model_type: str
    windows: tuple[WindowKey, ...]
    where: Location


@dataclass(frozen=True)
class Problem:
    """A file, or a part of one, that could not be read; becomes SWA902 unless `skipped`, which is only a note."""

    where: Location
    message: str
    skipped: bool = False


@dataclass(frozen=True)
class FileFacts:
    """All that one file says. `suppressions` are found by the noqa reader, not by sources.

    `depends` names other files that were read to say it (paths relative to the root).
    """

    path: str
    pairs: tuple[Pair, ...] = ()
    launches: tuple[Launch, ...] = ()
    configs: tuple[ModelConfig, ...] = ()
    problems: tuple[Problem, ...] = ()
    depends: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConfigPair:
    """Target and draft checkpoint of one deployment; `origin` says who paired them."""

    target: ModelConfig
    draft: ModelConfig
    origin: str


@dataclass(frozen=True)
class ProjectFacts:
    """The facts of a run, linked: what rules look at."""

    files: tuple[FileFacts, ...] = ()
    config_pairs: tuple[ConfigPair, ...] = ()
    sglang_version: str | None = None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        return tuple(pair for file in self.files for pair in file.pairs)

    @property
    def launches(self) -> tuple[Launch, ...]:
        return tuple(launch for file in self.files for launch in file.launches)

    @property
    def configs(self) -> tuple[ModelConfig, ...]:
        return tuple(config for file in self.files for config in file.configs)
