"""A rule's documentation as Markdown: for the terminal, SARIF and the documentation's pages alike."""

from __future__ import annotations

from swa_lint.rules.registry import Rule


def markdown(rule: Rule) -> str:
    """What the rule flags, why, a bad and a good example, and how it is fixed."""
    off = "" if rule.default else ", off unless selected by its code"
    return f"""# {rule.name} ({rule.code})

Severity: {rule.severity.value}{off}

## What it flags

{rule.what.strip()}

## Why it matters

{rule.why.strip()}

## Example

Bad:

```{rule.language}
{rule.bad.strip(chr(10))}
```

Good:

```{rule.language}
{rule.good.strip(chr(10))}
```

## Fix

{rule.fix.strip()}
"""
