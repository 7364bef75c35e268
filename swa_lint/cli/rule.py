"""`swa-lint rule`: what a rule flags, why, examples, and how it is fixed."""

from __future__ import annotations

import sys

import click

from swa_lint.cli import Failure


@click.command()
@click.argument("code", required=False)
@click.option("--all", "every", is_flag=True, help="Describe every rule.")
def rule(code: str | None, every: bool) -> None:
    """Describe a rule: what it flags, why, bad and good examples, how it is fixed."""
    from swa_lint.report.rules import markdown
    from swa_lint.rules.registry import all_rules

    if (code is None) == (not every):
        raise click.UsageError("give one CODE, or --all")
    rules = all_rules()
    if code is not None and code.upper() not in rules:
        raise Failure(f"no rule has the code {code!r}; the rules are {', '.join(rules)}")
    wanted = [known for known, _ in rules.values()] if code is None else [rules[code.upper()][0]]
    text = "\n".join(map(markdown, wanted))
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        click.echo(text, nl=False)
