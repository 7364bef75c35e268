"""`swa-lint check` and `swa-lint fix`."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from swa_lint.cli import CLEAN, FAILURE, FINDINGS, Failure
from swa_lint.cli.options import Command, project_options, request_of
from swa_lint.report.result import Result
from swa_lint.session import USER_ERRORS, Request, Session

_FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab")


@dataclass(frozen=True)
class _Wanted:
    """What the command is to do with the findings."""

    output_format: str
    fix: bool
    unsafe_fixes: bool
    diff: bool
    baseline: Path | None
    exit_zero: bool
    statistics: bool
    share_source: str | None
    add_noqa: bool

    @property
    def writes(self) -> bool:
        return (self.fix or self.add_noqa) and not self.diff


def _report_options(command: Command) -> Command:
    for option in reversed(
        (
            click.option("--output-format", type=click.Choice(_FORMATS), default="text", help="Form of the report."),
            click.option("--unsafe-fixes", is_flag=True, help="Apply fixes too that need a choice."),
            click.option("--diff", is_flag=True, help="Show what fixes would change, and write nothing."),
            click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Hide what FILE holds."),
            click.option("--exit-zero", is_flag=True, help="Exit 0 though there are findings."),
            click.option("--statistics", is_flag=True, help="Count the findings of each rule."),
        )
    ):
        command = option(command)
    return command


@click.command()
@project_options
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--add-noqa", is_flag=True, help="Add `# noqa: CODE` for each finding.")
@_report_options
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Check files and folders (default: the working directory)."""
    ctx.exit(_run({**options, "share_source": None}))


@click.command()
@project_options
@_report_options
@click.option("--share-source", metavar="MODULE:NAME", help="First make NAME in MODULE the one source of geometry.")
@click.pass_context
def fix(ctx: click.Context, /, **options: Any) -> None:
    """Check files and apply safe fixes: the same as `check --fix`.

    With --share-source the target's page size and window move into one dataclass instance, SwaGeometry(...), and every
    Python site that sets them for a target or a draft reads it. The config's `share-source` does so too.
    """
    ctx.exit(_run({**options, "fix": True, "add_noqa": False}))


def _run(options: dict[str, Any]) -> int:
    started = time.perf_counter()
    wanted = _Wanted(**{name: options.pop(name) for name in _Wanted.__dataclass_fields__})
    request = request_of(**options)
    if wanted.fix and wanted.add_noqa:
        raise click.UsageError("--fix and --add-noqa exclude each other")
    if wanted.writes and request.stdin is not None:
        raise click.UsageError("standard input cannot be changed in place; use --diff")
    request = replace(request, baseline=wanted.baseline or request.config.baseline)
    with usable():
        session = open_session(request, write=wanted.writes)
        changed = _change(session, wanted) and wanted.diff
        result = result_of(session, started)
    for line in (*session.notes, *(f"the baseline's entry is stale: {entry}" for entry in session.stale)):
        click.echo(f"swa-lint: {line}", err=True)
    for error in session.errors:
        click.echo(f"swa-lint: error: {error}", err=True)
    if wanted.diff:
        click.echo(session.diff(), nl=False)
    else:
        _print(result, wanted)
    if session.errors:
        return FAILURE
    return FINDINGS if (result.findings or changed) and not wanted.exit_zero else CLEAN


@contextlib.contextmanager
def usable() -> Iterator[None]:
    """Turn what the user must mend into a Failure."""
    try:
        yield
    except USER_ERRORS as error:
        raise Failure(str(error)) from None


def open_session(request: Request, *, write: bool = False) -> Session:
    """A session whose files have been read, with a progress bar on a terminal."""
    session = Session(request, write=write)
    with _progress(len(session.scan.files)) as advance:
        session.read(advance)
    return session


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    if not sys.stderr.isatty() or total < 100:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading", total=total)
        yield lambda done: bar.advance(task, done)


def _change(session: Session, wanted: _Wanted) -> bool:
    """Change files as far as the command asks for it; whether any file changed."""
    if wanted.add_noqa:
        return _add_noqa(session, wanted)
    shared = wanted.fix and _share(session, wanted)
    if session.errors:
        return shared
    return ((wanted.fix or wanted.diff) and _fix(session, wanted)) or shared


def _share(session: Session, wanted: _Wanted) -> bool:
    """Share geometry where the command or the config asks for it; whether any file changed."""
    spec = wanted.share_source or session.request.config.share_source
    if spec is None:
        return False
    if session.request.stdin is not None:
        raise click.UsageError("--share-source needs files, not standard input")
    from swa_lint.cli.share import share

    return share(session, spec, required=wanted.share_source is not None)


def _fix(session: Session, wanted: _Wanted) -> bool:
    """Apply fixes; whether any file changed."""
    from swa_lint.fixes.converge import converge

    fixed = converge(session, unsafe=wanted.unsafe_fixes)
    _say(fixed.notes, "Would fix" if wanted.diff else "Fixed", fixed.count)
    return fixed.count > 0


def _add_noqa(session: Session, wanted: _Wanted) -> bool:
    """Suppress the findings; whether any file changed."""
    suppressed = session.suppress()
    _say(suppressed.notes, "Would suppress" if wanted.diff else "Suppressed", sum(suppressed.counts.values()))
    return bool(suppressed.counts)


def _say(notes: Sequence[str], done: str, count: int) -> None:
    for note in notes:
        click.echo(f"swa-lint: {note}", err=True)
    click.echo(f"{done} {count} finding{'s' * (count != 1)}.", err=True)


def result_of(session: Session, started: float) -> Result:
    """The result of a session that began at `started` (of `time.perf_counter`)."""
    from swa_lint.fixes.apply import Documents

    documents = Documents(session.content)
    found = tuple(session.findings())
    edits = {finding: edits for finding in found if (edits := documents.edits(finding))}
    return Result(found, edits, len(session.scan.files), time.perf_counter() - started, session.text)


def _print(result: Result, wanted: _Wanted) -> None:
    from swa_lint.report import statistics

    if wanted.output_format == "text" and sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        _print_styled(result)
    else:
        report = importlib.import_module(f"swa_lint.report.{wanted.output_format}")
        click.echo(report.render(result), nl=False)
    if wanted.statistics:
        click.echo(statistics.render(result), nl=False, err=wanted.output_format not in ("text", "concise"))


def _print_styled(result: Result) -> None:
    from rich.console import Console
    from rich.text import Text

    from swa_lint.report.text import segments

    console = Console(highlight=False, soft_wrap=True)
    for text, style in segments(result):
        console.print(Text(text, style=style), end="")
