"""The trees that are checked: copies of a release, side by side or planted with a defect, and a sample of its files."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

SAMPLE = 200
DEFECT = """

def _planted(server_args):
    from copy import deepcopy

    from sglang.srt.managers.tp_worker import TpModelWorker

    draft_args = deepcopy(server_args)
    draft_args.page_size = 1
    return TpModelWorker(server_args=draft_args, is_draft_worker=True)
"""


def copies(release: Path, number: int, into: Path) -> Path:
    """A folder with `number` copies of a release side by side."""
    for index in range(number):
        shutil.copytree(release / "sglang", into / f"copy{index}" / "sglang")
    return into


def sample(release: Path, into: Path, seed: int = 1) -> Path:
    """A folder with some Python files of a release, drawn by a seed, at the paths that they have there."""
    files = sorted(file for file in (release / "sglang").rglob("*.py") if file.stat().st_size)
    for file in random.Random(seed).sample(files, SAMPLE):
        target = into / file.relative_to(release)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return into


def edit(tree: Path, text: str) -> None:
    """Append to one file of a tree, one that others import."""
    file = next(iter(sorted(tree.rglob("speculative/eagle_utils.py"))))
    with file.open("a") as stream:
        stream.write(text)
