"""SWA902: a file that cannot be decoded or parsed."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Finding, Severity
from swa_lint.rules.registry import Rule, register
from swa_lint.sources.facts import ProjectFacts

RULE = Rule(
    code="SWA902",
    name="unreadable-file",
    severity=Severity.ERROR,
    what="""A file that cannot be decoded or parsed: a syntax error, an unresolved merge conflict, bytes that are not in
the file's encoding. The rest of the run goes on. Files that say nothing of pages, windows or launches are left to other
linters.""",
    why="""What cannot be read cannot be checked: without this finding a broken file would look clean.""",
    bad="""draft_args.page_size = (
""",
    good="""draft_args.page_size = server_args.page_size
""",
    fix="None: the file needs a person. Leave files that are meant to be broken out with `exclude`.",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for file in project.files:
        for problem in file.problems:
            if not problem.skipped:
                message = f"This file is not checked: {problem.message}"
                yield Finding(RULE.code, RULE.name, RULE.severity, problem.where, message)
