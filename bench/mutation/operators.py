"""Mutations that part the draft's geometry from the target's: each must be found.

An operator makes every form of itself at every site; the run draws from them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from mutation import sites
from mutation.edits import Change, Mutant, imported, lines_after, lines_before, replace, top_level_before
from mutation.sites import Release
from mutation.source import Source

_OTHER = {"page_size": "32", "sliding_window": "128"}
Found = tuple[Source, str, tuple[Change, ...]]


def mutants(release: Release) -> Iterator[Mutant]:
    """Every mutant of a release, in a fixed order."""
    for operator, make in OPERATORS.items():
        for source, form, changes in make(release):
            yield Mutant(release.version, source.path, operator, form, changes, users=_users(release, source, operator))


def _change_draft_argument(release: Release) -> Iterator[Found]:
    """What the draft alone is given gets another page size."""
    for source in release.sources:
        for keyword in sites.draft_pool_reads(source):
            yield source, "draft pool", (replace(source, keyword.value, "64"),)
        if not release.args_hold_page_size:
            continue
        for build in sites.builds(source):
            args = source.code(build.args.value)
            text = f"dataclasses.replace({args}, page_size=1)"
            yield source, "worker", (*imported(source, "dataclasses"), replace(source, build.args.value, text))
            text = f"dataclasses.replace({args}, page_size={args}.page_size // 2)"
            yield source, "half a page", (*imported(source, "dataclasses"), replace(source, build.args.value, text))


def _condition_on_draft(release: Release) -> Iterator[Found]:
    """A value that both roles share depends on the role."""
    for read in release.reads:
        source, flag, value, other = read.source, read.flag, read.text, _OTHER[read.field]
        for form, text in (
            ("ternary", f"({other} if {flag} else {value})"),
            ("negated", f"({value} if not {flag} else {other})"),
            ("table", f"{{True: {other}, False: {value}}}[{flag}]"),
            ("and-or", f"({flag} and {other} or {value})"),
        ):
            yield source, form, (replace(source, read.value, text),)
        if read.field == "page_size":
            yield source, "scaled", (replace(source, read.value, f"({value}) // (2 if {flag} else 1)"),)
        if not isinstance(source.statement(read.value), ast.If):
            lines = (f"shared = {value}", f"if {flag}:", f"    shared = {other}")
            yield source, "statement", (lines_before(source, read.value, *lines), replace(source, read.value, "shared"))


def _override_after_copy(release: Release) -> Iterator[Found]:
    """The draft's args, runner or config are changed once they exist."""
    for source in release.sources:
        for node, _ in sites.draft_runners(source):
            name = ast.unparse(node.targets[0])
            yield source, "runner", (lines_after(source, node, f"{name}.page_size = 1"),)
            yield source, "config", (lines_after(source, node, f"{name}.model_config.window_size = 128"),)
            yield (
                source,
                "hf config",
                (lines_after(source, node, f"{name}.model_config.hf_config.sliding_window = 128"),),
            )
        if not release.args_hold_page_size:
            continue
        for assignment, copy, original in sites.copies(source):
            for form, lines in (
                ("assignment", (f"{copy}.page_size = 1",)),
                ("setattr", (f'setattr({copy}, "page_size", 16)',)),
                ("unlocked", (f'object.__setattr__({copy}, "page_size", 16)',)),
                ("vars", (f"vars({copy}).update(page_size=16)",)),
                ("alias", (f"worker_args = {copy}", "worker_args.page_size = 64")),
                ("derived", (f"{copy}.page_size = {original}.page_size * 2",)),
                ("branch", (f"if {copy}.device == 'cuda':", f"    {copy}.page_size = 128")),
                ("original", (f"{original}.page_size = 128",)),
            ):
                yield source, form, (lines_after(source, assignment, *lines),)
        for build in sites.builds(source):
            if "draft" in source.code(build.args.value):
                continue
            args = source.code(build.args.value)
            for form, line in (
                ("new copy", f"{args}.page_size = 1"),
                ("new copy, setattr", f'setattr({args}, "page_size", 1)'),
            ):
                copied = lines_before(source, build.call, f"{args} = copy.deepcopy({args})", line)
                yield source, form, (*imported(source, "copy"), copied)


def _swap_source(release: Release) -> Iterator[Found]:
    """What was read from the target's side is read from an option of the draft alone."""
    for read in release.reads:
        source, flag, value = read.source, read.flag, read.text
        option = f"speculative_draft_{read.field}"
        yield source, "option", (replace(source, read.value, f"({_options(source)}.{option} if {flag} else {value})"),)
        text = f'(int(os.environ.get("SGLANG_DRAFT_{read.field.upper()}", "1")) if {flag} else {value})'
        yield source, "environment", (*imported(source, "os"), replace(source, read.value, text))
    for source in release.sources:
        for keyword in sites.draft_pool_reads(source):
            option = f"{_options(source)}.speculative_draft_page_size"
            yield source, "draft pool", (replace(source, keyword.value, option),)
        if release.args_hold_page_size:
            for assignment, copy, original in sites.copies(source):
                for option in (f"{original}.speculative_draft_page_size", 'int(os.environ["DRAFT_PAGE_SIZE"])'):
                    change = lines_after(source, assignment, f"{copy}.page_size = {option}")
                    yield source, "copy", (*imported(source, "os"), change)


def _options(source: Source) -> str:
    return "get_spec()" if "get_spec()" in source.text else "self.server_args"


def _change_return(release: Release) -> Iterator[Found]:
    """A function that both roles, or the draft, take their geometry from returns something else."""
    for source in release.sources:
        for read in sites.geometry_returns(source):
            other = _OTHER[read.field]
            yield source, "ternary", (replace(source, read.value, f"({other} if {read.flag} else {read.text})"),)
            yield source, "early", (lines_before(source, read.value, f"if {read.flag}:", f"    return {other}"),)
        for value in sites.draft_fields(source):
            code = source.code(value)
            more = '"page_size": 1}' if isinstance(value, ast.Dict) else "page_size=1)"
            separator = "" if code.rstrip(")}").rstrip().endswith((",", "(", "{")) else ", "
            yield source, "fields", (replace(source, value, code[:-1].rstrip() + separator + more),)
    for read in release.reads:
        source, flag, value, other = read.source, read.flag, read.text, _OTHER[read.field]
        helper = top_level_before(
            source, read.value, "def _geometry_of(is_draft, value):", f"    return {other} if is_draft else value"
        )
        yield source, "helper", (helper, replace(source, read.value, f"_geometry_of({flag}, {value})"))


def _change_config_read(release: Release) -> Iterator[Found]:
    """The window of the draft's config is another one than its checkpoint says."""
    for source in release.sources:
        for branch in sites.draft_branches(source):
            line = "self.hf_config.sliding_window = 128"
            yield source, "written", (lines_before(source, branch.body[0], line),)
        for read in sites.runner_reads(source):
            if read.field == "sliding_window" and "model_config" in source.path:
                text = f'(getattr(self.hf_config, "draft_window", 128) if {read.flag} else {read.text})'
                yield source, "another key", (replace(source, read.value, text),)


def _split_constant(release: Release) -> Iterator[Found]:
    """One value becomes two constants, one for each role."""
    for read in release.reads:
        source, other = read.source, _OTHER[read.field]
        pair = top_level_before(source, read.value, "_TARGET_GEOMETRY = 256", f"_DRAFT_GEOMETRY = {other}")
        text = f"(_DRAFT_GEOMETRY if {read.flag} else _TARGET_GEOMETRY)"
        yield source, "two names", (pair, replace(source, read.value, text))
        table = top_level_before(source, read.value, f'_GEOMETRY = {{"target": 256, "draft": {other}}}')
        text = f'_GEOMETRY["draft" if {read.flag} else "target"]'
        yield source, "table", (table, replace(source, read.value, text))


def _users(release: Release, source: Source, operator: str) -> tuple[str, ...]:
    """Files that take their geometry from what was edited in another one."""
    if operator != "change a helper's return" or "load_model_utils" not in source.path:
        return ()
    return tuple(
        s.path
        for s in release.sources
        if "import" in s.text and "resolve_sliding_window_size" in s.text and s is not source
    )


OPERATORS: dict[str, Callable[[Release], Iterator[Found]]] = {
    "change a draft-only argument": _change_draft_argument,
    "make a shared argument conditional on the draft": _condition_on_draft,
    "insert an override after a copy": _override_after_copy,
    "swap the source of a read": _swap_source,
    "change a helper's return": _change_return,
    "change a config read": _change_config_read,
    "split a constant into two": _split_constant,
}
