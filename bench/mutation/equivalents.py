"""Edits that leave the geometry of both roles as it was: none may be reported."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from mutation import sites
from mutation.edits import Mutant, imported, lines_after, lines_before, replace
from mutation.operators import Found
from mutation.sites import Release
from mutation.source import Source


def equivalents(release: Release) -> Iterator[Mutant]:
    """Every equivalent mutant of a release, in a fixed order."""
    for operator, make in _OPERATORS.items():
        for source, form, changes in make(release):
            yield Mutant(release.version, source.path, operator, form, changes, equivalent=True)


def _rename(release: Release) -> Iterator[Found]:
    """A local of the function at a site gets another name."""
    for source in release.sources:
        functions = [source.function(n) for n in _places(source)]
        for function in dict.fromkeys(f for f in functions if f is not None):
            for name in sorted(_locals(function)):
                names = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
                yield source, "local", tuple(replace(source, n, f"renamed_{name}") for n in names)


def _places(source: Source) -> Iterator[ast.AST]:
    yield from (read.value for read in sites.pool_reads(source))
    yield from (build.call for build in sites.builds(source))
    yield from (assignment for assignment, _, _ in sites.copies(source))


def _locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names that are assigned by plain statements alone: no parameter, import, closure, global or f-string needs a change."""
    arguments = function.args
    taken = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for node in ast.walk(function):
        if isinstance(node, ast.Import | ast.ImportFrom):
            taken |= {a.asname or a.name for a in node.names}
        elif isinstance(node, ast.Global | ast.Nonlocal):
            taken |= set(node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            taken.add(node.name)
        elif isinstance(node, ast.JoinedStr | ast.FunctionDef | ast.Lambda) and node is not function:
            # Columns inside f-strings are not exact before Python 3.12; nested functions have names of their own.
            taken |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored - taken


def _reorder(release: Release) -> Iterator[Found]:
    """Two neighbouring keyword arguments change places."""
    for source in release.sources:
        calls = [source.parents[source.parents[read.value]] for read in sites.pool_reads(source)]
        calls += [build.call for build in sites.builds(source)]
        for call in dict.fromkeys(calls):
            assert isinstance(call, ast.Call)
            named = [k for k in call.keywords if k.arg is not None]
            for first, second in itertools.pairwise(named):
                if first.arg in ("page_size", "server_args", "is_draft_worker", "sliding_window"):
                    yield (
                        source,
                        "keywords",
                        (
                            replace(source, first, source.code(second)),
                            replace(source, second, source.code(first)),
                        ),
                    )


def _extract(release: Release) -> Iterator[Found]:
    """A value is kept in a variable first."""
    for read in release.reads:
        source, value = read.source, read.text
        lines = (f"extracted = {value}",)
        yield source, "variable", (lines_before(source, read.value, *lines), replace(source, read.value, "extracted"))


def _inline(release: Release) -> Iterator[Found]:
    """A variable that is assigned once and read once, in the same block, gives way to its value."""
    for source in release.sources:
        functions = [source.function(n) for n in _places(source)]
        for function in dict.fromkeys(f for f in functions if f is not None):
            for name in sorted(_locals(function)):
                uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
                if [type(n.ctx) for n in uses] != [ast.Store, ast.Load]:
                    continue
                store, load = uses
                assignment = source.parents[store]
                same_block = source.parents[source.statement(load)] is source.parents[assignment]
                if isinstance(assignment, ast.Assign) and same_block:
                    value = replace(source, load, f"({source.code(assignment.value)})")
                    yield source, "variable", (replace(source, assignment, "pass"), value)


def _alias(release: Release) -> Iterator[Found]:
    """An object gets a second name, and only fields other than the geometry are set by it."""
    for read in release.reads:
        source, value = read.source, read.value
        if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name | ast.Attribute):
            lines = (f"holder = {source.code(value.value)}",)
            change = replace(source, value, f"holder.{value.attr}")
            yield source, "holder", (lines_before(source, value, *lines), change)
    for source in release.sources:
        for assignment, copy, _ in sites.copies(source):
            lines = (f"worker_args = {copy}", "worker_args.max_running_requests = 1")
            yield source, "another field", (lines_after(source, assignment, *lines),)


def _same_value(release: Release) -> Iterator[Found]:
    """The same value is computed another way, or given to each role on its own."""
    for read in release.reads:
        source, value, flag = read.source, read.text, read.flag
        forms = [("brackets", f"({value})"), ("either way", f"({value} if {flag} else {value})")]
        if read.field == "page_size":
            forms += [("times one", f"({value}) * 1"), ("plus zero", f"({value}) + 0")]
        for form, text in forms:
            yield source, form, (replace(source, read.value, text),)


def _equal_override(release: Release) -> Iterator[Found]:
    """The draft's args are given the value that they have, or have it again before they are used."""
    for source in release.sources:
        for assignment, copy, original in sites.copies(source):
            for form, lines in (
                ("same value", (f"{copy}.page_size = {original}.page_size",)),
                ("set back", (f"{copy}.page_size = 1", f"{copy}.page_size = {original}.page_size")),
                ("through a local", (f"page = {original}.page_size", f"{copy}.page_size = page")),
            ):
                yield source, form, (lines_after(source, assignment, *lines),)
        for build in sites.builds(source):
            args = source.code(build.args.value)
            if "draft" not in args:
                change = lines_before(source, build.call, f"{args} = copy.deepcopy({args})")
                yield source, "plain copy", (*imported(source, "copy"), change)


_OPERATORS = {
    "rename a local": _rename,
    "reorder keywords": _reorder,
    "extract a variable": _extract,
    "inline a variable": _inline,
    "alias": _alias,
    "equal arithmetic": _same_value,
    "equal override": _equal_override,
}
