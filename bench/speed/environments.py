"""The programs that are compared, each set in an environment of its own, made once in the user's cache."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

import platformdirs

PROJECT = Path(__file__).resolve().parents[2]
# flake8 runs every plugin that is installed beside it, so each needs an environment that has no other.
REQUIREMENTS = {
    "flake8": ["flake8"],
    "flake8 with swa-lint": ["flake8", "-e", str(PROJECT)],
    "flake8 with TorchFix": ["flake8", "torchfix"],
    "Fixit": ["fixit"],
    "Ruff": ["ruff"],
}


def environment(name: str) -> Path:
    """The folder of an environment's programs; made at the first use."""
    key = hashlib.sha256(repr((name, REQUIREMENTS[name], sys.version_info[:2])).encode()).hexdigest()[:12]
    folder = Path(platformdirs.user_cache_dir("swa-lint")) / "bench" / key
    programs = folder / "bin"
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        command = [str(programs / "python"), "-m", "pip", "install", "--quiet", *REQUIREMENTS[name]]
        subprocess.run(command, check=True)
        (folder / "complete").touch()
    return programs


def versions() -> dict[str, str]:
    """The version of each program that is compared."""
    found = {}
    for name, package in (
        ("flake8", "flake8"),
        ("flake8 with TorchFix", "torchfix"),
        ("Fixit", "fixit"),
        ("Ruff", "ruff"),
        ("flake8 with swa-lint", "libcst"),
    ):
        code = f"import importlib.metadata as m; print(m.version({package!r}))"
        done = subprocess.run([environment(name) / "python", "-c", code], check=True, capture_output=True, text=True)
        found[package] = done.stdout.strip()
    return found
