"""The codemod for LibCST's own runner: ``python -m libcst.tool codemod -x swa_lint.codemod.ShareGeometry``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import libcst as cst
from libcst.codemod import CodemodCommand, CodemodContext

from swa_lint.config import ConfigError, load_config
from swa_lint.fixes.share_source import CannotShare, SharePlan, plan_sharing
from swa_lint.project.discovery import discover
from swa_lint.project.kinds import Kind
from swa_lint.sglang import own_words


class ShareGeometry(CodemodCommand):
    """Makes one dataclass instance the source of every pool geometry of a project.

    The project is the working directory, and is read once, before LibCST starts its workers: what a file changes to
    depends on the others. A module that does not exist is written by the first file that reads it.
    """

    DESCRIPTION = "Make one SwaGeometry instance the source of page size and sliding window for targets and drafts."

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        arg_parser.add_argument(
            "--module", required=True, metavar="MODULE", action=_Plan, help="Dotted module that holds the geometry."
        )
        arg_parser.add_argument(
            "--name", required=True, metavar="NAME", action=_Plan, help="Name of the SwaGeometry instance in it."
        )

    def __init__(self, context: CodemodContext, module: str, name: str, plan: SharePlan | None = None) -> None:
        super().__init__(context)
        self._plan = plan or _plan(Path.cwd(), module, name)

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """The module with its values replaced, or as it is where it sets no geometry."""
        path = _relative(self.context.filename)
        if path == self._plan.module_path and self._plan.module_text is not None:
            return cst.parse_module(self._plan.module_text, config=tree.config_for_parsing)
        file = next((file for file in self._plan.files if file.path == path), None)
        if file is None:
            return tree
        self._plan.create_module(Path.cwd())
        self.context = replace(self.context, full_package_name=file.package or None)
        file.schedule_imports(self.context)
        return cst.parse_module(file.values_replaced(tree.code), config=tree.config_for_parsing)


class _Plan(argparse.Action):
    """Stores an option and, once both are known, the plan."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, values)
        if namespace.module is not None and namespace.name is not None:
            try:
                namespace.plan = _plan(Path.cwd(), namespace.module, namespace.name)
            except (CannotShare, ConfigError) as error:
                parser.error(str(error))


def _plan(root: Path, module: str, name: str) -> SharePlan:
    own_words.use(load_config(root).roles)
    files = discover(["."], root).files
    return plan_sharing(root, [file.path for file in files if file.kind is Kind.PYTHON], module, name)


def _relative(filename: str | None) -> str | None:
    """`filename` relative to the working directory, or None where it lies elsewhere."""
    if filename is None:
        return None
    try:
        return Path(filename).resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return None
