"""Options that several commands share, and the request they make."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from swa_lint.cli import Failure
from swa_lint.config import Config, ConfigError, check_version, load_config
from swa_lint.session import Request

Command = TypeVar("Command", bound=Callable[..., Any])
_STDIN = "-"


def _codes(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> tuple[str, ...] | None:
    codes = tuple(code.upper() for text in value for code in re.split(r"[,\s]+", text) if code)
    return codes if value else None


def _sglang_version(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    try:
        return None if value is None else check_version(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_OPTIONS = (
    click.argument("paths", nargs=-1, type=click.Path()),
    click.option("--select", multiple=True, metavar="CODE,..", callback=_codes, help="Run these rules only."),
    click.option("--ignore", multiple=True, metavar="CODE,..", callback=_codes, help="Leave these rules out."),
    click.option("--target", metavar="DIR", help="The target's checkpoint, to compare with --draft."),
    click.option("--draft", metavar="DIR", help="The draft's checkpoint, to compare with --target."),
    click.option("--sglang-version", metavar="X", callback=_sglang_version, help="The SGLang release that is in use."),
    click.option("--include-markdown", is_flag=True, help="Read fenced code in Markdown files too."),
    click.option("--force-exclude", is_flag=True, help="Leave out what the config excludes though PATHS names it."),
    click.option("--stdin-filename", metavar="NAME", help="The name of what is read from standard input (path `-`)."),
    click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use (default: all processors)."),
    click.option("--no-cache", is_flag=True, help="Read every file afresh and keep nothing."),
    click.option("--cache-dir", type=click.Path(path_type=Path), metavar="DIR", help="Where to keep the cache."),
)


def project_options(command: Command) -> Command:
    """Add the options that say what is checked; their values are for `request_of`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def request_of(
    *,
    paths: tuple[str, ...],
    select: tuple[str, ...] | None,
    ignore: tuple[str, ...] | None,
    target: str | None,
    draft: str | None,
    sglang_version: str | None,
    include_markdown: bool,
    force_exclude: bool,
    stdin_filename: str | None,
    jobs: int | None,
    no_cache: bool,
    cache_dir: Path | None,
) -> Request:
    """The request that the shared options make. Raises Failure and UsageError."""
    from swa_lint.project.cache import default_folder
    from swa_lint.project.workers import default_jobs

    if (target is None) != (draft is None):
        raise click.UsageError("--target and --draft need each other")
    root = Path.cwd()
    return Request(
        root=root,
        config=_config(root),
        paths=paths or (".",),
        select=select,
        ignore=ignore,
        sglang_version=sglang_version,
        pairs=((target, draft, "--target/--draft"),) if target and draft else (),
        include_markdown=include_markdown,
        force_exclude=force_exclude,
        jobs=jobs or default_jobs(),
        cache_folder=None if no_cache else cache_dir or default_folder(),
        stdin=_stdin(paths, stdin_filename),
    )


def _config(root: Path) -> Config:
    try:
        return load_config(root)
    except ConfigError as error:
        raise Failure(str(error)) from None


def _stdin(paths: tuple[str, ...], name: str | None) -> tuple[str, bytes] | None:
    if _STDIN not in paths:
        if name is not None:
            raise click.UsageError("--stdin-filename needs the path `-`")
        return None
    if len(paths) > 1:
        raise click.UsageError("`-` takes no other paths beside it")
    return (name or "stdin.py").replace("\\", "/"), sys.stdin.buffer.read()
