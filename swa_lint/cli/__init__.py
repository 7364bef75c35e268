"""The `swa-lint` command. Each subcommand is a module of its own, imported when it is asked for."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from swa_lint import __version__

_COMMANDS = {
    "check": "swa_lint.cli.check:check",
    "fix": "swa_lint.cli.check:fix",
    "rule": "swa_lint.cli.rule:rule",
    "explain": "swa_lint.cli.explain:explain",
    "baseline": "swa_lint.cli.baseline:baseline",
    "doctor": "swa_lint.cli.doctor:doctor",
    "server": "swa_lint.cli.server:server",
}
CLEAN, FINDINGS, FAILURE, INTERRUPTED = 0, 1, 2, 130


class Failure(click.ClickException):
    """Something that the user must mend before a run is possible."""

    exit_code = FAILURE

    def show(self, file: object = None) -> None:
        click.echo(f"swa-lint: error: {self.format_message()}", err=True)


class _Commands(click.Group):
    """The subcommands of `_COMMANDS`, each loaded when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = _COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, name = place.partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="swa-lint", message="%(prog)s %(version)s")
def cli() -> None:
    """Find, explain and fix draft KV pools whose sliding-window geometry differs from the target's in SGLang.

    Exit status: 0 clean, 1 findings, 2 a usage or internal error.
    """


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line `args` (default: the process's) and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a file name may hold bytes that no encoding has
            stream.reconfigure(errors="backslashreplace")
    try:
        status = cli.main(args, prog_name="swa-lint", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else CLEAN
    except click.ClickException as error:
        error.show()
        return FAILURE
    except (click.Abort, KeyboardInterrupt):
        click.echo("swa-lint: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the report has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        click.echo(f"swa-lint: internal error, please report it: {type(error).__name__}: {error} ({place})", err=True)
        return FAILURE


def main() -> None:
    """The entry point. One run and out: the collector would only look through what stays anyway."""
    gc.disable()
    status = run()
    gc.freeze()
    sys.exit(status)
