"""One line a finding, as compilers and flake8 print them."""

from __future__ import annotations

from swa_lint.report.result import Result


def render(result: Result) -> str:
    """`path:line:column: CODE message` for each finding."""
    return "".join(
        f"{finding.where.path}:{finding.where.line}:{finding.where.column}: {finding.code} {one_line(finding.message)}\n"
        for finding in result.findings
    )


def one_line(message: str) -> str:
    """A message without line breaks, whatever source text it quotes."""
    return " ".join(message.split())
