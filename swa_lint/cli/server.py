"""`swa-lint server`: findings, fixes and documentation in an editor, over the Language Server Protocol."""

from __future__ import annotations

import click

from swa_lint.cli import Failure


@click.command()
@click.option("--stdio", is_flag=True, help="Talk over standard input and output; always so, clients pass it.")
def server(stdio: bool) -> None:
    """Serve an editor over standard input and output (Language Server Protocol).

    Needs the extra `server`: pip install 'swa-lint[server]'.
    """
    try:
        from swa_lint.server.protocol import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise Failure("the editor server needs pygls 2 or newer: pip install 'swa-lint[server]'") from None
    serve()
