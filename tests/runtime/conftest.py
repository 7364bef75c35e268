"""Runs the files of `inside/` with pytest in the environments that .ci/sglang-env makes, one fresh process each."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
INSIDE = Path(__file__).resolve().parent / "inside"

RunInside = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def sglang_environments() -> Path:
    """The folder of the environments; skips with the reason where it has not been made."""
    script = REPOSITORY / ".ci" / "sglang-env"
    if not script.exists():
        pytest.skip("no .ci/sglang-env beside these tests: SGLang cannot be set up")
    loader = SourceFileLoader("sglang_env", str(script))
    spec = importlib.util.spec_from_loader("sglang_env", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    root: Path = module.environments()
    if not (root / "ready").exists():
        pytest.skip("SGLang is not set up: run .ci/sglang-env (Python 3.11 and a package registry)")
    return root


@pytest.fixture
def run_inside(sglang_environments: Path, tmp_path: Path) -> RunInside:
    """Run one file of `inside/` against one release; `installed`: with the entry point of the installed package."""

    def run(
        release: str, name: str, *arguments: str, guard: str | None = None, installed: bool = True
    ) -> subprocess.CompletedProcess[str]:
        paths = [REPOSITORY, sglang_environments / f"sglang-{release}"]
        if installed:
            paths.append(_entry_point(tmp_path))
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SWA_LINT", "SGLANG"))}
        environment |= {"PYTHONPATH": os.pathsep.join(map(str, paths)), "CUDA_VISIBLE_DEVICES": ""}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1"} | ({"SWA_LINT_GUARD": guard} if guard else {})
        python = sglang_environments / "base" / "bin" / "python"
        command = [str(python), "-W", "ignore", "-m", "pytest", "-W", "ignore", "-p", "no:cacheprovider"]
        command += ["-c", os.devnull, "--rootdir", str(INSIDE)]
        return subprocess.run(
            [*command, "-q", *arguments, str(INSIDE / name)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


def _entry_point(folder: Path) -> Path:
    """A folder with the metadata of the installed swa-lint, by which SGLang finds its plugin."""
    installed = importlib.metadata.distribution("swa-lint")
    metadata = folder / "site" / f"swa_lint-{installed.version}.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    for name in ("METADATA", "entry_points.txt"):
        (metadata / name).write_text(installed.read_text(name) or "", encoding="utf-8")
    return metadata.parent
