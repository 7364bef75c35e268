"""What is measured: this tool's runs, and the work of others on the same tree that they are held against."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from speed.environments import environment
from speed.measure import Figure, measure
from speed.trees import DEFECT, copies, edit, sample

_READ = """
import hashlib, sys
from pathlib import Path
for file in Path(".").rglob("*"):
    if file.suffix in (".py", ".sh", ".yaml", ".yml", ".json", ".toml") and file.is_file():
        hashlib.sha256(file.read_bytes()).digest()
"""
_PARSE = """
import ast, gc, warnings
from pathlib import Path
from swa_lint.sources.python import mentions_geometry
gc.disable(); warnings.simplefilter("ignore")
for file in Path(".").rglob("*.py"):
    data = file.read_bytes()
    if {wanted}:
        ast.parse(data)
"""
Rows = Iterator[tuple[str, Figure]]


def _python(code: str, folder: Path) -> Figure:
    return measure([sys.executable, "-c", code], folder)


def _swa(tree: Path, *options: str | Path, command: str = "check") -> Figure:
    return measure([sys.executable, "-m", "swa_lint", command, ".", *options], tree)


def whole(release: Path, jobs: int, repeat: int, say: Callable[[str], None]) -> Rows:
    """The whole release: this tool from cold to fixing, reading and parsing alone, flake8 with and without the plugin."""
    with tempfile.TemporaryDirectory() as folder:
        tree, cache = copies(release, 1, Path(folder, "tree")), Path(folder, "cache")
        say("this tool")
        yield "swa-lint, cold", Figure.best([_swa(tree, "--no-cache") for _ in range(repeat)])
        _swa(tree, "--cache-dir", cache)
        yield "swa-lint, warm", Figure.best([_swa(tree, "--cache-dir", cache) for _ in range(repeat)])
        edit(tree, "\n# An edit.\n")
        yield "swa-lint, one file edited", _swa(tree, "--cache-dir", cache)
        edit(tree, DEFECT)
        yield "swa-lint fix, cold", _swa(tree, "--no-cache", command="fix")
        say("reading and parsing")
        yield "hash every file", Figure.best([_python(_READ, tree) for _ in range(repeat)])
        yield "ast.parse, files that mention geometry", _python(_PARSE.format(wanted="mentions_geometry(data)"), tree)
        yield "ast.parse, every file", _python(_PARSE.format(wanted="True"), tree)
        say("flake8 and Ruff")
        flake8 = [_flake8("flake8", tree, jobs) for _ in range(repeat)]
        plugin = [_flake8("flake8 with swa-lint", tree, jobs) for _ in range(repeat)]
        yield "flake8 --select F", Figure.best(flake8)
        yield "flake8 --select F, plugin installed", Figure.best(plugin)
        yield "ruff check --select F", measure([environment("Ruff") / "ruff", *_RUFF], tree)


_RUFF = ("check", "--isolated", "--no-cache", "--select", "F", "--exit-zero", "--silent", ".")


def _flake8(name: str, tree: Path, jobs: int, select: str = "F") -> Figure:
    options = ["--isolated", "--select", select, "--jobs", str(jobs), "--exit-zero", "--quiet"]
    return measure([environment(name) / "flake8", *options, "."], tree)


def sampled(release: Path, jobs: int, say: Callable[[str], None]) -> Rows:
    """A sample of files: the peers that would take minutes on the whole release."""
    with tempfile.TemporaryDirectory() as folder:
        tree = sample(release, Path(folder))
        say("TorchFix and Fixit")
        yield "swa-lint, cold", _swa(tree, "--no-cache")
        yield "ast.parse, every file", _python(_PARSE.format(wanted="True"), tree)
        yield "flake8 --select F", _flake8("flake8", tree, jobs)
        yield "flake8 --select SWA", _flake8("flake8 with swa-lint", tree, jobs, "SWA")
        yield "flake8 --select TOR (TorchFix)", _flake8("flake8 with TorchFix", tree, jobs, "TOR")
        yield "fixit lint", measure([environment("Fixit") / "fixit", "lint", "."], tree, expected=range(256))
        yield "ruff check --select F", measure([environment("Ruff") / "ruff", *_RUFF], tree)


def scaled(release: Path, numbers: tuple[int, ...], say: Callable[[str], None]) -> Iterator[tuple[int, Figure, Figure]]:
    """Copies of the release side by side: this tool cold and warm on each number of them."""
    for number in numbers:
        say(f"{number} copies")
        with tempfile.TemporaryDirectory() as folder:
            tree, cache = copies(release, number, Path(folder, "tree")), Path(folder, "cache")
            cold = _swa(tree, "--cache-dir", cache)
            yield number, cold, _swa(tree, "--cache-dir", cache)
