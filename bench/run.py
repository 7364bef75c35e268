"""How long the linter takes, against flake8, `ast` and its peers, on the same tree in the same run.

    python bench/run.py                    # prints the tables
    python bench/run.py --write            # writes bench/RESULTS.md and its plots
    python bench/run.py --copies 1 --repeat 1 --no-sample

Fetches SGLang 0.5.23 and makes an environment for each peer at the first use. Takes about half an hour; let nothing else run.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "sglang"))

from speed import report
from speed.environments import versions
from speed.tasks import sampled, scaled, whole
from wheels import release

from swa_lint import __version__
from swa_lint.project.workers import default_jobs

_HERE = Path(__file__).resolve().parent
_SGLANG = "0.5.23"


def _say(what: str) -> None:
    click.echo(f"... {what}", err=True)


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{default_jobs()} cores ({platform.machine()}), {memory:.0f} GiB of memory, {platform.system()}"


def _head(files: int, size: int) -> str:
    peers = ", ".join(f"{name} {version}" for name, version in versions().items())
    return (
        "# Speed\n\nWritten by `python bench/run.py --write`: every figure is of one run on one machine, so compare the ratios.\n\n"
        f"- date: {datetime.date.today()}\n- machine: {_machine()}\n- Python {platform.python_version()}, swa-lint {__version__}, {peers}\n"
        f"- tree: sglang {_SGLANG}, {files} Python files, {size / 2**20:.0f} MB\n\n"
    )


@click.command(help=__doc__)
@click.option("--write", is_flag=True, help="Write bench/RESULTS.md and its plots.")
@click.option("--copies", default="1,4,16", show_default=True, help="Numbers of copies of the release to check.")
@click.option("--repeat", default=2, show_default=True, help="Runs of each; the fastest counts.")
@click.option("--sample/--no-sample", default=True, help="Run TorchFix and Fixit on a sample of files.")
def main(write: bool, copies: str, repeat: int, sample: bool) -> None:
    tree, jobs = release(_SGLANG), default_jobs()
    files = [file.stat().st_size for file in (tree / "sglang").rglob("*.py")]
    rows = dict(whole(tree, jobs, repeat, _say))
    text = _head(len(files), sum(files)) + "## Targets\n\n" + report.targets(rows)
    text += (
        f"\n## The whole release, {jobs} processes\n\n" + report.table(rows, "flake8 --select F") + "\n![](whole.svg)\n"
    )
    drawings = {"whole.svg": report.bars("The whole release, wall time", rows)}
    if sample:
        some = dict(sampled(tree, jobs, _say))
        text += "\n## A sample of 200 files\n\n" + report.table(some, "flake8 --select F") + "\n![](sample.svg)\n"
        drawings["sample.svg"] = report.bars("200 files, wall time", some)
    scales = list(scaled(tree, tuple(int(number) for number in copies.split(",")), _say))
    text += "\n## Larger trees\n\n" + report.scale(scales) + "\n![](scale.svg)\n"
    drawings["scale.svg"] = report.lines("Cold run over copies of the release", scales)
    click.echo(text)
    if write:
        (_HERE / "RESULTS.md").write_text(text)
        for name, drawing in drawings.items():
            (_HERE / name).write_text(drawing)


if __name__ == "__main__":
    main()
