"""The kinds of files, how they are told apart, and which source reads each: the one table of file kinds."""

from __future__ import annotations

import enum
import importlib
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePath

from swa_lint.sources.facts import FileFacts

Reader = Callable[..., FileFacts]


class Kind(str, enum.Enum):
    """What a file is read as. `SCRIPT`: a name without extension; its first line decides."""

    PYTHON = "python"
    SHELL = "shell"
    DOCKERFILE = "dockerfile"
    YAML = "yaml"
    JSON = "json"
    TOML = "toml"
    MODEL_CONFIG = "config.json"
    MARKDOWN = "markdown"
    SCRIPT = "script"


_READERS = {
    Kind.PYTHON: "swa_lint.sources.python",
    Kind.SHELL: "swa_lint.sources.shell",
    Kind.DOCKERFILE: "swa_lint.sources.dockerfile",
    Kind.YAML: "swa_lint.sources.yaml",
    Kind.JSON: "swa_lint.sources.json_launch",
    Kind.TOML: "swa_lint.sources.toml_launch",
    Kind.MARKDOWN: "swa_lint.sources.markdown",
}
_FENCED = (Kind.SHELL, Kind.PYTHON, Kind.YAML, Kind.DOCKERFILE, Kind.JSON, Kind.TOML)
_SUFFIXES = {
    ".py": Kind.PYTHON,
    ".pyi": Kind.PYTHON,
    ".pyw": Kind.PYTHON,
    ".sh": Kind.SHELL,
    ".bash": Kind.SHELL,
    ".zsh": Kind.SHELL,
    ".ksh": Kind.SHELL,
    ".sbatch": Kind.SHELL,
    ".slurm": Kind.SHELL,
    ".dockerfile": Kind.DOCKERFILE,
    ".yaml": Kind.YAML,
    ".yml": Kind.YAML,
    ".json": Kind.JSON,
    ".toml": Kind.TOML,
    ".md": Kind.MARKDOWN,
    ".markdown": Kind.MARKDOWN,
}
_DOCKERFILE = re.compile(r"(?:dockerfile|containerfile)(?:[.-].*)?", re.IGNORECASE)
_SHEBANG = re.compile(rb"#![^\n]*\b(?:(?P<python>python[\d.]*)|(?P<shell>ba|z|k|da|a)?sh)\b")
# A launch that could matter names one of these, whatever its language; plain searches are ten times faster than a pattern.
_LAUNCH_SIGNS = (
    b"sglang",
    b"page_size",
    b"page-size",
    b"pagesize",
    b"disaggregation",
    b"speculative",
    b"sliding_window",
    b"draft",
    b"dcp_size",
    b"dcp-size",
    b"model_override",
    b"model-override",
)
_CONFIG_SIGNS = re.compile(rb'"(?:architectures|model_type)"')


def kind_of_name(name: str) -> Kind | None:
    """The kind of a file by its name, or None when no source reads such files."""
    if name == "config.json":
        return Kind.MODEL_CONFIG
    suffix = PurePath(name).suffix.lower()
    if _DOCKERFILE.fullmatch(name) and suffix not in _SUFFIXES:
        return Kind.DOCKERFILE
    if suffix or name.startswith("."):
        return _SUFFIXES.get(suffix)
    return Kind.SCRIPT


def kind_of_script(data: bytes) -> Kind | None:
    """The kind of a file without extension, by its shebang."""
    found = _SHEBANG.match(data)
    if found is None:
        return None
    return Kind.PYTHON if found.group("python") else Kind.SHELL


def is_python(path: str, data: bytes) -> bool:
    """Whether a file is read as Python, by its name or its shebang."""
    kind = kind_of_name(PurePath(path).name)
    return (kind_of_script(data) if kind is Kind.SCRIPT else kind) is Kind.PYTHON


def may_matter(kind: Kind, data: bytes) -> bool:
    """Whether a file can hold a fact; decided on its bytes, before anything is decoded or parsed."""
    if kind is Kind.PYTHON:
        from swa_lint.sources.python import mentions_geometry

        return mentions_geometry(data)
    if kind is Kind.MODEL_CONFIG:
        return _CONFIG_SIGNS.search(data) is not None
    lower = data.lower()
    return any(sign in lower for sign in _LAUNCH_SIGNS)


def read_facts(kind: Kind, path: str, text: str, root: Path) -> FileFacts:
    """What the source of this kind says about a file; `path` is relative to `root`."""
    if kind is Kind.MODEL_CONFIG:
        from swa_lint.sources.hf_config import config_facts

        return config_facts(path, text)
    return _reader(kind)(path, text, root=root)


def _reader(kind: Kind) -> Reader:
    """The source of a kind, imported when a file needs it."""
    reader: Reader = importlib.import_module(_READERS[kind]).read
    if kind is not Kind.MARKDOWN:
        return reader
    delegates = {other.value: _reader(other) for other in _FENCED}
    return partial(reader, delegates=delegates)
