#!/usr/bin/env python3
"""Draws the documentation's pictures of the terminal: real runs, in the colours that a terminal shows.

python docs/screenshots.py
"""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from swa_lint.cli.check import open_session, result_of
from swa_lint.config import Config
from swa_lint.report.rules import markdown
from swa_lint.report.text import segments
from swa_lint.rules.registry import all_rules
from swa_lint.session import Request

ROOT = Path(__file__).resolve().parent.parent
# Written into the picture by rich: web fonts, which no picture on a page may load.
_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def check(console: Console) -> None:
    """`swa-lint check` in the example."""
    root = ROOT / "fixtures" / "deployment"
    here = Path.cwd()
    os.chdir(root)
    try:
        result = result_of(open_session(Request(root, Config(root))), time.perf_counter())
        for text, style in segments(result):
            console.print(Text(text, style=style), end="")
    finally:
        os.chdir(here)


def rule(console: Console) -> None:
    """`swa-lint rule SWA101`."""
    console.print(Markdown(markdown(all_rules()["SWA101"][0])))


PICTURES: dict[str, tuple[str, Callable[[Console], None]]] = {
    "check.svg": ("swa-lint check", check),
    "rule.svg": ("swa-lint rule SWA101", rule),
}


def picture(name: str) -> str:
    """The picture as SVG."""
    title, draw = PICTURES[name]
    console = Console(record=True, width=110, file=io.StringIO(), force_terminal=True, highlight=False)
    draw(console)
    return _WEB_FONT.sub("", console.export_svg(title=title, unique_id="terminal"))


if __name__ == "__main__":
    for name in PICTURES:
        Path(__file__).with_name(name).write_text(picture(name), "utf-8")
