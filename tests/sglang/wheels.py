"""SGLang releases for the tests and benchmarks: fetched once from the package registry, unpacked, only read.

The cache is the folder that the environment variable SWA_LINT_SGLANG_WHEELS names, else one in the user's cache;
it holds one folder a release, `0.5.23/sglang/...`.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import platformdirs

CACHE_VARIABLE = "SWA_LINT_SGLANG_WHEELS"
_DOWNLOAD_SECONDS = 300


class Unavailable(Exception):
    """A release that cannot be fetched here; the text says why."""


def cache_folder() -> Path:
    """Where unpacked releases are kept."""
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else Path(platformdirs.user_cache_dir("swa-lint")) / "sglang-wheels"


@functools.cache
def release(version: str) -> Path:
    """The folder that holds the package `sglang` of a release. Raises Unavailable where it cannot be had."""
    folder = cache_folder() / version
    if not (folder / "sglang").is_dir():
        cache_folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=f".{version}-") as scratch:
            unpacked = Path(scratch) / "unpacked"
            with zipfile.ZipFile(_download(version, Path(scratch))) as wheel:
                wheel.extractall(unpacked)
            try:
                unpacked.rename(folder)
            except OSError:
                # Another process was first; its copy is the same.
                if not (folder / "sglang").is_dir():
                    raise
    return folder


def _download(version: str, into: Path) -> Path:
    options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--quiet", "--retries=1"]
    command = [sys.executable, "-m", "pip", "download", *options, f"--dest={into}", f"sglang=={version}"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_DOWNLOAD_SECONDS)
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"pip cannot download sglang {version}: {last}") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"pip took over {_DOWNLOAD_SECONDS} s to download sglang {version}") from error
    return next(into.glob("*.whl"))
