"""`swa-lint fix --share-source MODULE:NAME`: one source of geometry, before what is left is fixed."""

from __future__ import annotations

import click

from swa_lint.cli import Failure
from swa_lint.fixes.apply import MEANWHILE
from swa_lint.fixes.share_source import CannotShare, SharePlan, plan_sharing
from swa_lint.project.kinds import Kind
from swa_lint.project.text import decode
from swa_lint.session import Session


def share(session: Session, spec: str, *, required: bool) -> bool:
    """Move the geometry of the session's Python files into `spec`, ``MODULE:NAME``; whether any file changed.

    Raises Failure where it cannot be shared and that is `required`; else it is a note.
    """
    module, _, name = spec.partition(":")
    paths = [path for path, file in session.scan.files.items() if file.kind is Kind.PYTHON]
    try:
        plan = plan_sharing(session.request.root, paths, module, name)
    except CannotShare as error:
        if required:
            raise Failure(str(error)) from None
        click.echo(f"swa-lint: geometry is not shared: {error}", err=True)
        return False
    return _carry_out(session, plan)


def _carry_out(session: Session, plan: SharePlan) -> bool:
    """Write the module and all that reads it, or nothing; whether any file changed."""
    texts = plan.texts(session.request.root)
    if plan.module_text is not None and plan.module_path not in session.scan.files:
        session.add(plan.module_path)
    contents = {path: session.content(path) for path in texts}
    moved = [path for path, data in contents.items() if data is None]
    session.errors += [f"{path}: not changed: {MEANWHILE}" for path in moved]
    if moved:
        return False
    changed = {
        path: decode(data, python=True).encode(texts[path]) for path, data in contents.items() if data is not None
    }
    if session.commit(changed):
        return False
    if changed:
        verb = "Shared" if session.write else "Would share"
        files = f"{len(plan.files)} file{'s' * (len(plan.files) != 1)}"
        click.echo(f"{verb} geometry in {plan.module_path}; {files} changed to read it.", err=True)
    return bool(changed)
