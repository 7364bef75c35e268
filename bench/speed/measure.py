"""One command as a whole process: its wall time, the processor time of it and its children, and its largest process."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class Failed(Exception):
    """A command that did not do its work; the text says how it ended."""


@dataclass(frozen=True)
class Figure:
    """Seconds of wall and processor time, and the peak memory in MB of the largest single process."""

    wall: float
    cpu: float
    memory: float

    @staticmethod
    def best(figures: Sequence[Figure]) -> Figure:
        """The fastest of several runs: what else a machine does can only add."""
        return min(figures, key=lambda figure: figure.wall)


def measure(command: Sequence[str | Path], folder: Path, *, expected: Sequence[int] = (0, 1)) -> Figure:
    """Run a command in a folder and wait for it. Raises Failed where its exit status is not an expected one."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    with tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=errors
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in expected:
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
            raise Failed(f"{command[0]} ended with {process.returncode}: {''.join(last)}")
    return Figure(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
