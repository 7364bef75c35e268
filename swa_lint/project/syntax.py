"""Does a Python file parse? Answered without building a tree of Python objects, for files that are not analysed."""

from __future__ import annotations

import ast
import re
import symtable
import warnings
from collections.abc import Callable

from swa_lint.geometry import Location
from swa_lint.project.text import Undecodable, decode
from swa_lint.sources.facts import Problem

_CONFLICT = re.compile(rb"^<{7}(?: |\r?$)", re.MULTILINE)


def python_problem(path: str, data: bytes) -> Problem | None:
    """Why the Python file `path` with the bytes `data` cannot be read, or None when it can."""
    if b"\0" in data:
        return problem_at(path, data.count(b"\n", 0, data.index(b"\0")) + 1, "it contains NUL bytes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The symbol table needs the parser but no tree of Python objects: a third cheaper than ast.parse.
        if _failure(lambda: symtable.symtable(data, path, "exec")) is None:  # type: ignore[arg-type]
            return None
        # It also refuses what parses (`return` outside a function): the last word is the parser's.
        failure = _failure(lambda: compile(data, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True))
    if failure is None:
        return None
    try:
        decode(data, python=True)
    except Undecodable as error:
        return problem_at(path, error.line, f"it cannot be decoded: {error}")
    if conflict := _CONFLICT.search(data):
        return problem_at(path, data.count(b"\n", 0, conflict.start()) + 1, "it has an unresolved merge conflict")
    if isinstance(failure, SyntaxError):
        line = max(1, failure.lineno or 1)
        return problem_at(path, line, f"it does not parse: {failure.msg}", max(1, failure.offset or 1))
    return problem_at(path, 1, "it does not parse: nested too deeply")


def _failure(parse: Callable[[], object]) -> Exception | None:
    try:
        parse()
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        return error
    return None


def problem_at(path: str, line: int, message: str, column: int = 1, *, skipped: bool = False) -> Problem:
    """A problem at one position."""
    return Problem(Location(path, line, column, line, column), message, skipped=skipped)
