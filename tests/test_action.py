"""The GitHub action: its steps, run as a runner would run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = YAML(typ="safe").load((ROOT / "action.yml").read_text("utf-8"))


def step(name: str) -> dict[str, Any]:
    (found,) = [step for step in ACTION["runs"]["steps"] if step.get("name") == name]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("given", "status", "annotated"),
    [
        ({}, 1, ["chat/decode.yaml", "draft_worker.py", "v4/nextn/config.json"]),
        ({"paths": "chat v4"}, 1, ["chat/decode.yaml", "v4/nextn/config.json"]),
        ({"paths": "chat", "args": "--select SWA1 --statistics"}, 0, []),
    ],
)
def test_findings_become_annotations(tmp_path: Path, given: dict[str, str], status: int, annotated: list[str]) -> None:
    project = shutil.copytree(ROOT / "fixtures" / "deployment", tmp_path / "deployment")
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "swa-lint").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m swa_lint "$@"\n')
    (commands / "swa-lint").chmod(0o755)
    inputs = {name: given.get(name, of["default"]) for name, of in ACTION["inputs"].items()}
    check = step("Check")
    env = {name: inputs[value.strip("${} ").removeprefix("inputs.")] for name, value in check["env"].items()}
    env |= {"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(["bash", "-e", "-c", check["run"]], cwd=project, env=env, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert [line.partition("file=")[2].split(",")[0] for line in done.stdout.splitlines()] == annotated


def test_what_it_installs_is_the_action_itself() -> None:
    assert step("Install")["run"].endswith('install --quiet "$GITHUB_ACTION_PATH"')
