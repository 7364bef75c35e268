"""Configuration: the `[tool.swa-lint]` table of the nearest `pyproject.toml` that has one."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swa_lint.geometry import Role

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?(?:[.a-z]\w*)*")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*")
_SHARE_SOURCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class ConfigError(Exception):
    """A configuration that cannot be used; the message names the file, the line where known, and what is wrong."""


@dataclass(frozen=True)
class ModelDirs:
    """A target's and a draft's checkpoint folder that belong together."""

    target: Path
    draft: Path


@dataclass(frozen=True)
class Config:
    """What a project sets. Paths and globs are relative to `base`, the folder of the file that sets them.

    `select` and `ignore` hold codes or prefixes of codes; `roles` a project's own words for the roles.
    """

    base: Path
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    sglang_version: str | None = None
    pair: tuple[ModelDirs, ...] = ()
    share_source: str | None = None
    baseline: Path | None = None
    roles: Mapping[Role, tuple[str, ...]] = field(default_factory=dict)
    include_markdown: bool = False


def load_config(folder: Path) -> Config:
    """The configuration that holds in `folder`; the defaults where no file sets any. Raises ConfigError."""
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if not file.is_file():
            continue
        text, table = _read(file)
        if table is not None:
            return _Table(file, text).config(table)
    return Config(folder)


def _read(file: Path) -> tuple[str, object]:
    """A file's text, and its table of this program, or None where it has none."""
    data = b""
    try:
        data = file.read_bytes()
        text = data.decode("utf-8")
        return text, tomllib.loads(text).get("tool", {}).get("swa-lint")
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}:{line}: byte 0x{data[error.start]:02x} is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else data.rstrip().count(b"\n") + 1
        raise ConfigError(f"{file}:{line}: {error}") from None
    except AttributeError:
        raise ConfigError(f"{file}: [tool] is no table") from None


class _Bad(Exception):
    """A value that is not what its key takes."""


class _Table:
    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self.text = text

    def config(self, table: object) -> Config:
        if not isinstance(table, dict):
            raise ConfigError(f"{self.file}: [tool.swa-lint] is no table")
        values: dict[str, Any] = {}
        for key, value in table.items():
            read = _KEYS.get(key)
            if read is None:
                known = ", ".join(sorted(_KEYS))
                raise self._error(key, f"unknown key `{key}` (known: {known})")
            try:
                values[key.replace("-", "_")] = read(value, self.file.parent)
            except _Bad as error:
                raise self._error(key, f"`{key}` {error}") from None
        return Config(self.file.parent, **values)

    def _error(self, key: str, message: str) -> ConfigError:
        """An error at the line of `key` in the table, as far as a search of the text can tell."""
        start = self.text.find("[tool.swa-lint")
        header = re.compile(rf"^\s*(?:\[+tool\.swa-lint\.)?[\"']?{re.escape(key)}\b", re.MULTILINE)
        found = header.search(self.text, max(start, 0))
        line = f":{self.text.count(chr(10), 0, found.end()) + 1}" if found else ""
        return ConfigError(f"{self.file}{line}: {message}")


def _strings(value: object, base: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _Bad("takes a list of strings")
    return tuple(value)


def _codes(value: object, base: Path) -> tuple[str, ...]:
    from swa_lint.check import UnknownCode, matching

    codes = tuple(code.upper() for code in _strings(value, base))
    for code in codes:
        try:
            matching(code)
        except UnknownCode as error:
            raise _Bad(f"is wrong: {error}") from None
    return codes


def _per_file(value: object, base: Path) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise _Bad("takes a table of globs, each with a list of codes")
    return {glob: _codes(codes, base) for glob, codes in value.items()}


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _Bad("takes a string")
    return value


def _path(value: object, base: Path) -> Path:
    return base / _text(value)


def _bool(value: object, base: Path) -> bool:
    if not isinstance(value, bool):
        raise _Bad("takes true or false")
    return value


def _version(value: object, base: Path) -> str:
    return check_version(_text(value))


def check_version(text: str) -> str:
    """An SGLang version such as `0.5.23`; raises ValueError for anything else."""
    if not _VERSION.fullmatch(text):
        raise _BadVersion(f"takes a version such as 0.5.23, not {text!r}")
    return text


class _BadVersion(_Bad, ValueError):
    pass


def _share_source(value: object, base: Path) -> str:
    if not _SHARE_SOURCE.fullmatch(_text(value)):
        raise _Bad("takes MODULE:NAME")
    return _text(value)


def _pairs(value: object, base: Path) -> tuple[ModelDirs, ...]:
    if not isinstance(value, list):
        raise _Bad("takes tables with `target` and `draft`: [[tool.swa-lint.pair]]")
    pairs = []
    for item in value:
        if not isinstance(item, dict) or set(item) != {"target", "draft"}:
            raise _Bad("takes tables with `target` and `draft`, two folders")
        pairs.append(ModelDirs(_path(item["target"], base), _path(item["draft"], base)))
    return tuple(pairs)


def _roles(value: object, base: Path) -> dict[Role, tuple[str, ...]]:
    known = {role.value: role for role in Role if role is not Role.UNKNOWN}
    if not isinstance(value, dict) or not set(value) <= set(known):
        raise _Bad(f"takes a table of lists of words; its keys are {', '.join(known)}")
    listed: dict[Role, tuple[str, ...]] = {known[name]: _strings(words, base) for name, words in value.items()}
    for word in (word for words in listed.values() for word in words):
        if not _WORD.fullmatch(word):
            raise _Bad(f"takes words of letters, digits, `_` and `-`, not {word!r}")
    return listed


_KEYS: dict[str, Callable[[object, Path], object]] = {
    "select": _codes,
    "ignore": _codes,
    "per-file-ignores": _per_file,
    "exclude": _strings,
    "sglang-version": _version,
    "pair": _pairs,
    "share-source": _share_source,
    "baseline": _path,
    "roles": _roles,
    "include-markdown": _bool,
}
