"""The hooks of .pre-commit-hooks.yaml under the real pre-commit, on commits to a real repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from project import BAD, FIXED, write

ROOT = Path(__file__).parent.parent
_SHIPPED = ("swa_lint", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
# What pip says where it cannot fetch the hook's dependencies.
_UNREACHABLE = ("No matching distribution found", "Failed to establish a new connection", "Temporary failure in name")


def environment(home: Path) -> dict[str, str]:
    """This one, with a fixed author and without Git settings or pre-commit environments of the user's."""
    names = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, **names, "GIT_CONFIG_GLOBAL": os.devnull, "PRE_COMMIT_HOME": str(home), "NO_COLOR": "1"}


class Repository:
    """A Git repository whose commands run in one environment."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder = folder
        self.env = env
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q")

    def run(self, *command: str, status: int | None = 0) -> str:
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)
        assert status in (None, done.returncode), done.stdout + done.stderr
        return done.stdout + done.stderr

    def git(self, *args: str, status: int | None = 0) -> str:
        return self.run("git", *args, status=status)

    def pre_commit(self, *args: str, status: int | None = 0) -> str:
        return self.run(sys.executable, "-m", "pre_commit", *args, status=status)

    def commit(self, *, status: int | None = 0) -> str:
        self.git("add", "-A")
        return self.git("commit", "-q", "-m", "A change", status=status)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The project as it stands, in a repository that pre-commit can clone."""
    made = Repository(tmp_path_factory.mktemp("hooks"), environment(tmp_path_factory.mktemp("pre-commit")))
    for name in _SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, made.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, made.folder)
    made.commit()
    return made


def repository(folder: Path, hooks: Repository, hook: str) -> Repository:
    """A repository that runs `hook` before each commit."""
    made = Repository(folder, hooks.env)
    revision = hooks.git("rev-parse", "HEAD").strip()
    write(
        folder,
        {
            ".pre-commit-config.yaml": f"repos:\n- repo: {hooks.folder}\n  rev: {revision}\n  hooks: [{{id: {hook}}}]\n",
            "pyproject.toml": '[project]\nname = "serving"\n[tool.swa-lint]\nexclude = ["/vendor/"]\n',
        },
    )
    said = made.pre_commit("install", "--install-hooks", status=None)
    if any(sign in said for sign in _UNREACHABLE):
        pytest.skip("pre-commit cannot fetch what the hook depends on")
    assert "pre-commit installed at" in said and "error" not in said.lower(), said
    made.commit()
    return made


def server(role: str, page: int) -> str:
    return f"python3 -m sglang.launch_server --model-path m --disaggregation-mode {role} --page-size {page}\n"


def test_the_check_stops_a_bad_commit(tmp_path: Path, hooks: Repository) -> None:
    project = repository(tmp_path / "project", hooks, "swa-lint")
    write(project.folder, {"worker.py": BAD, "notes.txt": BAD, "vendor/theirs.py": BAD})
    said = project.commit(status=1)
    assert "worker.py:6:5: SWA101 error" in said and "exit code: 1" in said
    assert "1 finding in 1 file" in said, "notes.txt is no file to check, vendor is excluded"
    assert (project.folder / "worker.py").read_text() == BAD
    write(project.folder, {"worker.py": FIXED})
    project.commit()
    # pre-commit hands files to several processes; those that belong together must not be parted.
    servers = {f"chat/{name}.yaml": f"name: {name}\n" for name in "abcdefghijklmnop"}
    pods = {f"chat/{role}.yaml": pod(role, page) for role, page in (("decode", 32), ("prefill", 64))}
    write(project.folder, {**servers, **pods})
    assert "SWA301" in project.commit(status=1)


def pod(role: str, page: int) -> str:
    return (
        f"kind: Pod\nmetadata: {{name: chat-{role}}}\nspec:\n  containers:\n  - image: lmsysorg/sglang:v0.5.17\n"
        f"    command: [sh, -c, {server(role, page).strip()}]\n"
    )


def test_the_fix_mends_what_is_committed(tmp_path: Path, hooks: Repository) -> None:
    project = repository(tmp_path / "project", hooks, "swa-lint-fix")
    write(project.folder, {"worker.py": BAD, "serve.sh": server("prefill", 64)})
    assert "files were modified by this hook" in project.commit(status=1)
    assert (project.folder / "worker.py").read_text() == FIXED
    project.commit()
    assert project.git("show", "HEAD:worker.py") == FIXED
