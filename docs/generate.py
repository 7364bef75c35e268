#!/usr/bin/env python3
"""Writes what the documentation takes from the program: rule pages, tables, errors, and the output of console blocks.

python docs/generate.py            write the pages
python docs/generate.py --check    exit 1 and name the pages that are not up to date
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from console import ROOT, rewritten

from swa_lint.pool_geometry import Geometry, differences
from swa_lint.report.rules import markdown
from swa_lint.rules.registry import Rule, all_rules
from swa_lint.runtime.errors import SwaGeometryError, mismatch_message
from swa_lint.sglang.advice import CAUSES, CHANGES, LAST_RESORT
from swa_lint.sglang.errors import ERRORS, POOLS, RULES
from swa_lint.sglang.forced import DCP_SCALES_SINCE
from swa_lint.sglang.releases import NEWEST, Release
from swa_lint.sglang.versions import DSV4_POOL, OLDEST, behaviour, refusal

DOCS = ROOT / "docs"
_NOTE = "<!-- Written by docs/generate.py: edit the program, not this page. -->\n"

# One message of each kind, as SGLang writes it.
MESSAGES = (
    "RuntimeError: DSV4 target and draft pools must share paged SWA geometry: target=(1, 4096), draft=(32, 4096)",
    "RuntimeError: DSV4 target and draft pools must share SWA geometry: target=(256, 128, 8), draft=(256, 4096, 8)",
    "RuntimeError: DSV4 target and draft pools must share SWA ring geometry: target=(128, 192, 64), draft=(128, 256, 64)",
    "RuntimeError: DSV4 draft state transfer expects SWA-only NextN layers",
    "RuntimeError: DSV4 target and draft pools must use the same unified-KV mode",
    "RuntimeError: DSV4 target and draft pools must share the SWA index mapping",
    "Page size mismatch: prefill server has page_size=32, but decode server has page_size=64",
    "ValueError: DeepSeek-V4.1 DSpark PD requires static verify, Mooncake or NIXL, DCP=1, and CP=1 on decode.",
)


def main() -> int:
    stale = [(path, text) for path, text in pages() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path, _ in stale:
            print(f"{path.relative_to(ROOT)} is not up to date: run python docs/generate.py", file=sys.stderr)
        return 1 if stale else 0
    for path, text in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    print(f"{len(stale)} pages changed.")
    return 0


def pages() -> Iterator[tuple[Path, str]]:
    """Each page that this script writes, with the text that it should have."""
    yield from generated()
    for path in written():
        yield path, rewritten(filled(path.read_text("utf-8")))


def generated() -> Iterator[tuple[Path, str]]:
    """The pages that come from the program as a whole."""
    rules = [rule for rule, _ in all_rules().values()]
    yield DOCS / "rules" / "index.md", f"{_NOTE}# Rules\n\n{rule_table(rules, '')}\n{_RULES_END}"
    for rule in rules:
        yield DOCS / "rules" / f"{rule.code}.md", _NOTE + markdown(rule)


def written() -> list[Path]:
    """The pages that people write; parts of them are filled in."""
    above = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    return [*above, *sorted(DOCS.glob("*.md"))]


def filled(page: str) -> str:
    """The page with its generated parts, each between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""
    rules = [rule for rule, _ in all_rules().values()]
    parts = {
        "rule table": lambda: rule_table(rules, "docs/rules/"),
        "errors": lambda: "\n".join(map(_error, MESSAGES)),
        "releases": releases_table,
        "guard": guard_message,
        "codes": lambda: ", ".join(f"`{rule.code}`" for rule in rules if not rule.default) + "\n",
    }
    for name, make in parts.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        if begin in page:
            head, _, rest = page.partition(begin)
            page = f"{head}{begin}\n{make()}\n{end}{rest.partition(end)[2]}"
    return page


def rule_table(rules: list[Rule], folder: str) -> str:
    """All rules, a line each; `folder` is where the rules' pages are, seen from the table's."""
    rows = ["| code | name | severity | flags | fix |", "|---|---|---|---|---|"]
    for rule in rules:
        severity = rule.severity.value + ("" if rule.default else ", off")
        rows.append(
            f"| [{rule.code}]({folder}{rule.code}.md) | {rule.name} | {severity} | {_first_sentence(rule.what)} | {_kind(rule.fix)} |"
        )
    return "\n".join(rows) + "\n"


_RULES_END = """
Severity: `error` can only be wrong, `warning` can diverge, `info` misleads and diverges nowhere. "off": runs only when
`--select` or the configuration names its code.

Fix: `safe` leaves the target as it is and makes the draft follow it, `unsafe` needs a choice, `shown` is advice in words.
See [Fixes](../fixes.md).

One defect is one finding: where several rules could speak of the same value, the most specific one does.
"""


def _first_sentence(text: str) -> str:
    """`text` up to its first full stop or colon; those in code do not count."""
    found = re.match(r"(?:`[^`]*`|[^`.:]|[.:](?!\s|$))+", " ".join(text.split()))
    assert found is not None
    return found[0]


def _kind(fix: str) -> str:
    """The applicability that a rule's text about its fix names first."""
    found = re.search(r"\b(unsafe|safe|display|shown|none)\b", fix, re.IGNORECASE)
    kind = found[1].lower() if found else "none"
    return {"display": "shown", "none": "-"}.get(kind, kind)


def _error(message: str) -> str:
    """What one message means: by the number that differs, where it names several."""
    (error,) = (error for error in ERRORS if error.pattern.search(message))
    heading = re.sub(r"^\w+Error: |: target=.*", "", message)
    if error.causes:
        told = _causes("What can set it:", error.causes, error.changes, error.rules)
    else:
        told = "".join(_by_field(field) for field in error.fields if field in CAUSES)
    last = f"\n{_sentence(LAST_RESORT)}\n" if error.sides == POOLS else ""
    return f"## {heading}\n\n```text\n{message}\n```\n\nSGLang {error.releases}. {error.title}.\n{told}{last}"


def _sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}."


def _by_field(field: str) -> str:
    heading = f"Where `{field}` differs, this can have set it:"
    return _causes(heading, CAUSES[field], (CHANGES[field],), RULES.get(field, ()))


def _causes(heading: str, causes: tuple[str, ...], changes: tuple[str, ...], rules: tuple[str, ...]) -> str:
    listed = "".join(f"- {cause}\n" for cause in causes)
    change = f"\n{' '.join(map(_sentence, changes))}\n" if changes else ""
    links = ", ".join(f"[{code}](rules/{code}.md)" for code in rules)
    return f"\n{heading}\n\n{listed}{change}" + (f"\nFound before the start by {links}.\n" if links else "")


def guard_message() -> str:
    """What the guard says in the log, and stops with, where a draft's window is another under SGLang 0.5.17."""
    target, draft = Geometry(page_size=256, sliding_window=128), Geometry(page_size=256, sliding_window=4096)
    known, found = behaviour("0.5.17"), differences(target, draft)
    assert known is not None
    refused = refusal(known, target, draft, [difference.field for difference in found])
    message = mismatch_message((DSV4_POOL, target), (DSV4_POOL, draft), found, sglang_says=refused)
    error = f"{SwaGeometryError.__module__}.{SwaGeometryError.__qualname__}"
    return f"```text\n{error}: {message}\n```\n"


def releases_table() -> str:
    """What the releases of SGLang do, from the table that the guard works by; equal ones in one row."""
    rows = [
        "| SGLang | compares the pools itself, under PD | the guard | `pool.swa_window_size` | draft page under `--dcp-size` |",
        "|---|---|---|---|---|",
    ]
    releases = [(*OLDEST[:2], patch) for patch in range(OLDEST[2], NEWEST[2] + 1)]
    for cells, alike in groupby(releases, _release_cells):
        first, *more = [".".join(map(str, number)) for number in alike]
        rows.append(f"| {first}{f' to {more[-1]}' if more else ''} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _release_cells(number: Release) -> tuple[str, ...]:
    known = behaviour(".".join(map(str, number)))
    assert known is not None
    compared = "page size, window, request rows" if known.has_ring else "page size, window"
    return (
        (compared + (", not on NPU" if known.npu_exempt else "")) if known.refuses else "no: the output is wrong",
        "stops the launch under PD, else warns" if known.refuses else "warns",
        "the page size" if known.window_trap else "gone",
        "`page_size * dcp_size`" if number >= DCP_SCALES_SINCE else "`page_size`",
    )


if __name__ == "__main__":
    assert len(MESSAGES) == len(ERRORS)
    sys.exit(main())
