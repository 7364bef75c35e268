"""`swa-lint baseline`: write today's findings to a file, so that a gate fails only on new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from swa_lint.cli.check import open_session, usable
from swa_lint.cli.options import project_options, request_of

_FILE = Path("swa-lint-baseline.json")


@click.command()
@project_options
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help=f"Where to write (default: {_FILE}).")
def baseline(output: Path | None, **options: Any) -> None:
    """Write today's findings to a file that `check --baseline` reads.

    The file is the config's `baseline` where that is set and --output does not name another.
    """
    from swa_lint.baseline import write_baseline

    request = request_of(**options)
    file = output or request.config.baseline or _FILE
    with usable():
        session = open_session(request)
        findings = session.findings()
        write_baseline(file, findings, session.text, request.root)
    click.echo(f"Wrote {len(findings)} finding{'s' * (len(findings) != 1)} to {file}.", err=True)
