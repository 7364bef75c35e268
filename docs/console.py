"""Runs the console blocks of Markdown pages and compares what they print, or writes it into the page.

A block is a fence of the language `console`: commands after `$ ` (longer ones go on after `> `), each with its output.
Its commands run in one shell, in a copy of the project that the last `<!-- project: FOLDER -->` above it names; blocks
below the same comment share the copy. `<!-- project: FOLDER as PATH -->` runs them above the copy, which lies at PATH.
In the output `...` stands for any text of a line, and on a line of its own for any number of lines.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(
    r"<!-- project: (?P<project>\S+)(?: as (?P<path>\S+))? -->|^```console\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_MARK = "--- end of output ---"
_AUTHOR = ("-c", "user.name=Docs", "-c", "user.email=docs@example.org")


@dataclass(frozen=True)
class Command:
    """One command of a block and the output that the page shows."""

    text: str
    output: str

    @property
    def prompt(self) -> str:
        """The command as the page shows it."""
        first, *more = self.text.split("\n")
        return "".join([f"$ {first}\n", *(f"> {line}\n" for line in more)])

    def prints(self, output: str) -> bool:
        """Whether `output` is what the page shows."""
        lines = re.split(r"^\.\.\.\n", self.output, flags=re.MULTILINE)
        pattern = "(?:.*\n)*?".join(".*".join(map(re.escape, part.split("..."))) for part in lines)
        return re.fullmatch(pattern, output) is not None


def commands(block: str) -> list[Command]:
    """The commands of a block's text."""
    made: list[Command] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            made.append(Command(line[2:], ""))
        elif line.startswith("> ") and made and not made[-1].output:
            made[-1] = Command(f"{made[-1].text}\n{line[2:]}", "")
        elif made:
            made[-1] = Command(made[-1].text, f"{made[-1].output}{line}\n")
        else:
            raise ValueError(f"a console block must begin with `$ `, not {line!r}")
    return made


def rewritten(page: str) -> str:
    """The page with the output that its console blocks have now. Raises ValueError for one without a project."""
    with tempfile.TemporaryDirectory() as scratch:
        place: Path | None = None
        parts, end = [], 0
        for count, found in enumerate(_BLOCK.finditer(page)):
            if found["project"]:
                place = _copy(ROOT / found["project"], Path(scratch, str(count)), found["path"])
                continue
            if place is None:
                raise ValueError("a console block needs `<!-- project: FOLDER -->` above it")
            wanted = commands(found["text"])
            outputs = _run([command.text for command in wanted], place)
            text = "".join(
                command.prompt + (command.output if command.prints(output) else output)
                for command, output in zip(wanted, outputs, strict=True)
            )
            parts += [page[end : found.start("text")], text]
            end = found.end("text")
        return "".join([*parts, page[end:]])


def _copy(project: Path, scratch: Path, path: str | None) -> Path:
    """A Git repository that holds a copy of `project`, at `path` in it or as a whole."""
    place = scratch / project.name
    shutil.copytree(project, place / path if path else place, ignore=shutil.ignore_patterns("__pycache__", ".*cache"))
    for command in (["init", "-q"], ["add", "-A"], [*_AUTHOR, "commit", "-q", "-m", "As it was"]):
        subprocess.run(["git", *command], cwd=place, check=True, stdout=subprocess.DEVNULL)
    return place


def _run(texts: list[str], place: Path) -> list[str]:
    """The output of each command, errors among it."""
    script = "".join(f"{text}\nstatus=$?; echo '{_MARK}'; (exit $status)\n" for text in texts)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"],
        cwd=place,
        env={
            **os.environ,
            "PATH": path,
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "XDG_CACHE_HOME": str(place.parent / "cache"),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    *outputs, _ = done.stdout.split(f"{_MARK}\n")
    if len(outputs) != len(texts):
        raise ValueError(f"the shell ended early: {done.stdout}")
    return outputs
