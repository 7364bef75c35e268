"""`swa-lint explain`: what an SGLang geometry error says, what sets it, and where the code at hand does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from swa_lint.cli import CLEAN, FINDINGS, Failure

if TYPE_CHECKING:
    from swa_lint.explain import Explanation


@click.command()
@click.argument("text", required=False)
@click.option("--in", "place", type=click.Path(), metavar="PATH", help="Check PATH too, and show the lines at fault.")
@click.pass_context
def explain(ctx: click.Context, /, text: str | None, place: str | None) -> None:
    """Explain an SGLang error or log: TEXT itself, a file, or `-` for standard input.

    Exit status 1 where it holds no geometry error that is known.
    """
    from swa_lint.explain import explain, render

    explanations = explain(_log(text))
    if not explanations:
        click.echo("swa-lint: no geometry error of SGLang in this text", err=True)
        ctx.exit(FINDINGS)
    click.echo("\n".join(map(render, explanations)), nl=False)
    if place is not None:
        click.echo(f"\n{_places(place, explanations)}", nl=False)
    ctx.exit(CLEAN)


def _log(text: str | None) -> str:
    if text is None and sys.stdin.isatty():
        raise click.UsageError("give the error's text, a file that holds it, or `-` for standard input")
    if text is None or text == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        file = Path(text)
        return file.read_bytes().decode("utf-8", "replace") if file.is_file() else text
    except (OSError, ValueError):  # too long for a file's name, or a file that cannot be read
        return text


def _places(place: str, explanations: tuple[Explanation, ...]) -> str:
    """The findings below `place` of the rules that the explanations name."""
    from swa_lint.cli.check import open_session, usable
    from swa_lint.config import ConfigError, load_config
    from swa_lint.report import concise
    from swa_lint.report.result import Result
    from swa_lint.session import Request

    rules = tuple(sorted({code for explanation in explanations for code in explanation.rules}))
    root = Path.cwd()
    try:
        config = load_config(root)
    except ConfigError as error:
        raise Failure(str(error)) from None
    with usable():
        session = open_session(Request(root, config, (place,), select=rules or None))
        found = tuple(session.findings())
    if not found:
        return f"Nothing in {place} sets it, as far as the rules can see.\n"
    return f"In {place}:\n{concise.render(Result(found))}"
