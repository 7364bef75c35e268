"""One source of geometry: the plan, the module it makes, the files that read it, and LibCST's runner."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from swa_lint.cli import run as cli
from swa_lint.fixes.share_source import CannotShare, SharePlan, plan_sharing
from swa_lint.sources.facts import Pair
from swa_lint.sources.python import read

PROJECT = Path(__file__).parent.parent / "fixtures" / "share_source" / "project"
ARGS = "from copy import deepcopy\nfrom sglang.srt.server_args import ServerArgs\n\n\n"
POOL = "from sglang.srt.mem_cache.deepseek_v4_memory_pool import DeepSeekV4TokenToKVPool as Pool\n\n\n"


def draft(target: str = "256", own: str = "32") -> str:
    """The body of a module that starts a draft with a page size of its own."""
    return (
        f"def start(model):\n    server_args = ServerArgs(model_path=model, page_size={target})\n"
        f"    draft_args = deepcopy(server_args)\n    draft_args.page_size = {own}\n"
        "    return run(server_args, draft_args)\n"
    )


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, newline="")


def python_files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))


def plan(root: Path, module: str = "geometry", name: str = "GEOMETRY") -> SharePlan:
    return plan_sharing(root, python_files(root), module, name)


def share(root: Path, files: dict[str, str], module: str = "geometry", name: str = "GEOMETRY") -> dict[str, str]:
    """Write the files, share, and give what changed; a second run must change nothing."""
    write(root, files)
    changed = plan(root, module, name).texts(root)
    write(root, changed)
    assert plan(root, module, name).texts(root) == {}
    assert pairs(root) == []
    return changed


def pairs(root: Path) -> list[Pair]:
    return [pair for path in python_files(root) for pair in read(path, (root / path).read_text(), root=root).pairs]


def run(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *command], cwd=root, env=environment, capture_output=True, text=True)


def test_target_and_draft_read_one_source(tmp_path: Path) -> None:
    changed = share(tmp_path, {"launch.py": ARGS + draft()})
    assert changed == {
        "geometry.py": changed["geometry.py"],
        "launch.py": ARGS.replace("\n\n\n", "\nfrom geometry import GEOMETRY\n\n\n")
        + draft("GEOMETRY.page_size", "GEOMETRY.page_size"),
    }
    scope: dict[str, object] = {}
    exec(changed["geometry.py"], scope)
    assert repr(scope["GEOMETRY"]) == "SwaGeometry(page_size=256, sliding_window=None)"


def test_both_fields(tmp_path: Path) -> None:
    made = "target_pool = Pool(8, page_size=64, sliding_window=512)\ndraft_pool = Pool(8, page_size=64, sliding_window=128)\n"
    changed = share(tmp_path, {"pools.py": POOL + made})
    assert "GEOMETRY = SwaGeometry(page_size=64, sliding_window=512)\n" in changed["geometry.py"]
    assert (
        "draft_pool = Pool(8, page_size=GEOMETRY.page_size, sliding_window=GEOMETRY.sliding_window)"
        in changed["pools.py"]
    )


def test_equal_literals_are_shared_too(tmp_path: Path) -> None:
    made = "target_pool = Pool(8, page_size=64)\ndraft_pool = Pool(8, page_size=64)\n"
    changed = share(tmp_path, {"pools.py": POOL + made})
    assert changed["pools.py"].count("page_size=GEOMETRY.page_size") == 2


def test_a_name_bound_once_keeps_its_uses(tmp_path: Path) -> None:
    changed = share(tmp_path, {"launch.py": ARGS + "PAGE = 256\n\n\n" + draft("PAGE")})
    assert "PAGE = GEOMETRY.page_size\n" in changed["launch.py"]
    assert "page_size=PAGE)" in changed["launch.py"]
    assert "draft_args.page_size = GEOMETRY.page_size\n" in changed["launch.py"]


@pytest.mark.parametrize("statement", ["from .sizes import DRAFT, OTHER", "from app.sizes import DRAFT, OTHER"])
def test_imports_left_without_use_go(tmp_path: Path, statement: str) -> None:
    files = {
        "src/app/__init__.py": "",
        "src/app/sizes.py": "DRAFT = 1\nOTHER = 2\n",
        "src/app/launch.py": f"{statement}\n{ARGS}print(OTHER)\n{draft(own='DRAFT')}",
    }
    write(tmp_path, files)
    changed = plan(tmp_path, "app.geometry").texts(tmp_path)
    assert set(changed) == {"src/app/geometry.py", "src/app/launch.py"}
    assert changed["src/app/launch.py"].startswith(statement.replace("DRAFT, ", "") + "\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("draft_args.page_size = 32", "draft_args.page_size = GEOMETRY.page_size"),
        ("draft_args.page_size //= 2", "draft_args.page_size = GEOMETRY.page_size"),
        ('setattr(draft_args, "page_size", 32)', 'setattr(draft_args, "page_size", GEOMETRY.page_size)'),
        (
            'for k, v in (("page_size", 32),):\n        setattr(draft_args, k, v)',
            '(("page_size", GEOMETRY.page_size),):',
        ),
        ('vars(draft_args).update({"page_size": 32})', '.update({"page_size": GEOMETRY.page_size})'),
    ],
)
def test_forms(tmp_path: Path, text: str, expected: str) -> None:
    body = draft().replace("draft_args.page_size = 32", text)
    assert expected in share(tmp_path, {"launch.py": ARGS + body})["launch.py"]


def test_a_choice_between_shared_values_goes(tmp_path: Path) -> None:
    body = "def make(is_draft_worker):\n    return Pool(8, page_size=32 if is_draft_worker else 256)\n"
    changed = share(tmp_path, {"pools.py": POOL + body})
    assert "return Pool(8, page_size=GEOMETRY.page_size)\n" in changed["pools.py"]


def test_a_taken_name_gets_an_alias(tmp_path: Path) -> None:
    changed = share(tmp_path, {"launch.py": ARGS + "GEOMETRY = 'flat'\n" + draft()})
    assert "from geometry import GEOMETRY as SHARED_GEOMETRY\n" in changed["launch.py"]
    assert "draft_args.page_size = SHARED_GEOMETRY.page_size\n" in changed["launch.py"]


def test_what_is_no_kv_geometry_stays(tmp_path: Path) -> None:
    web = "from sglang import x\n\n\ndef listing(pager):\n    pager.page_size = 256\n    return pager\n"
    assert set(share(tmp_path, {"launch.py": ARGS + draft(), "web.py": web})) == {"geometry.py", "launch.py"}


def test_line_ends_and_comments_stay(tmp_path: Path) -> None:
    text = (ARGS + draft(own="32  # small")).replace("\n", "\r\n")
    changed = share(tmp_path, {"launch.py": text})["launch.py"]
    assert changed.count("\n") == changed.count("\r\n") == text.count("\n") + 1
    assert "GEOMETRY.page_size  # small\r\n" in changed


def test_an_existing_module_is_extended(tmp_path: Path) -> None:
    old = '"""Numbers."""\n\nimport os\n\nNODES = 2\n'
    changed = share(tmp_path, {"launch.py": ARGS + draft(), "geometry.py": old})
    assert changed["geometry.py"].startswith(
        '"""Numbers."""\n\nimport os\nfrom dataclasses import dataclass\n\nNODES = 2\n\n\n@dataclass(frozen=True)\n'
    )


def test_a_second_instance_uses_the_class(tmp_path: Path) -> None:
    first = share(tmp_path, {"launch.py": ARGS + draft()})["geometry.py"]
    write(tmp_path, {"launch.py": ARGS + draft("64")})
    assert plan(tmp_path, name="OTHER").module_text == first.rstrip() + "\n\n\nOTHER = SwaGeometry(page_size=64)\n"


def test_a_field_is_filled_in_later(tmp_path: Path) -> None:
    share(tmp_path, {"launch.py": ARGS + draft()})
    made = "target_pool = Pool(8, sliding_window=512)\ndraft_pool = Pool(8, sliding_window=128)\n"
    changed = share(tmp_path, {"pools.py": POOL + made})
    assert "GEOMETRY = SwaGeometry(page_size=256, sliding_window=512)\n" in changed["geometry.py"]
    assert set(changed) == {"geometry.py", "pools.py"}


def test_a_computed_value_of_the_module_stays(tmp_path: Path) -> None:
    own = (
        "import os\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass SwaGeometry:\n    page_size: int\n\n\n"
        'GEOMETRY = SwaGeometry(page_size=int(os.environ["PAGE"]))\n'
    )
    write(tmp_path, {"launch.py": ARGS + draft(), "geometry.py": own})
    assert plan(tmp_path).texts(tmp_path) == {}


@pytest.mark.parametrize(
    ("files", "spec", "message"),
    [
        ({"launch.py": ARGS + draft("page()")}, "geometry:G", "no value to share"),
        ({"web.py": "page_size = 3\n"}, "geometry:G", "no value to share"),
        ({}, "geometry:G", "no value to share"),
        ({"a.py": ARGS + draft(), "b.py": ARGS + draft("64")}, "geometry:G", "256 at a.py:6 and 64 at b.py:6"),
        ({"a.py": ARGS + draft()}, "missing.geometry:G", "there is no package missing"),
        ({"a.py": ARGS + draft()}, "geometry:not a name", "is not MODULE:NAME"),
        ({"a.py": ARGS + draft()}, "class:G", "is not MODULE:NAME"),
        ({"a.py": ARGS + draft(), "geometry.py": "G = 3\n"}, "geometry:G", "that is no SwaGeometry"),
        ({"a.py": ARGS + draft(), "geometry.py": "G = \n"}, "geometry:G", "does not parse"),
        (
            {"a.py": ARGS + draft(), "geometry.py": "G = SwaGeometry(page_size=64)\n"},
            "geometry:G",
            "64 at geometry.py: G and 256 at a.py:6",
        ),
    ],
)
def test_cannot_share(tmp_path: Path, files: dict[str, str], spec: str, message: str) -> None:
    write(tmp_path, files)
    with pytest.raises(CannotShare, match=message):
        plan(tmp_path, *spec.split(":"))
    assert python_files(tmp_path) == sorted(files)


def test_unreadable_files_have_no_part(tmp_path: Path) -> None:
    write(tmp_path, {"broken.py": "page_size = (\n", "notes.txt": "page_size"})
    (tmp_path / "bytes.py").write_bytes(b"page_size = '\xff'\n")
    write(tmp_path, {"launch.py": ARGS + draft()})
    found = plan_sharing(tmp_path, ["broken.py", "notes.txt", "bytes.py", "gone.py", "launch.py"], "geometry", "G")
    assert set(found.texts(tmp_path)) == {"geometry.py", "launch.py"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PROJECT, tmp_path / "project"))


def test_whole_project(project: Path) -> None:
    before = {path: (project / path).read_text() for path in python_files(project)}
    assert pairs(project)
    changed = share(project, {}, "serving.geometry")
    assert not set(changed) & {"serving/reports.py", "serving/limits.py", "serving/constants.py"}
    for path in set(changed) - {"serving/geometry.py"}:
        old, new = before[path].splitlines(), changed[path].splitlines()
        assert all("GEOMETRY" in line or "import" in line for line in new if line not in old), path
        ast.parse(changed[path])
    tests = run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert tests.returncode == 0, tests.stdout
    after = run(project, "-c", _RUN)
    assert after.stdout == "[(256, 256), (256, 256), (256, 256), (256, 256), (4096, 4096)]\n", after.stderr


_RUN = """
import tests.conftest
from serving.pools import make_pools
from serving.workers import dspark, eagle, nextn
workers = [nextn.start_nextn("m"), eagle.EagleLauncher("m").start(), dspark.start_dspark("m")]
pools = make_pools(8)
print([tuple(w.server_args.page_size for w in two) for two in workers]
      + [tuple(p.page_size for p in pools), tuple(p.sliding_window for p in pools)])
"""


def swa_lint(root: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return run(root, "-c", "from swa_lint.cli import main; main()", *args, "--no-cache")


SHARE = ("--share-source", "serving.geometry:GEOMETRY")


def texts(root: Path) -> dict[str, str]:
    return {path: (root / path).read_text() for path in python_files(root)}


def test_command_shares_and_leaves_the_project_clean(project: Path) -> None:
    before, expected = texts(project), plan(project, "serving.geometry").texts(project)
    assert swa_lint(project, "check").returncode == 1
    shown = swa_lint(project, "fix", *SHARE, "--diff")
    assert shown.returncode == 1
    assert texts(project) == before
    ran = swa_lint(project, "fix", *SHARE)
    assert (ran.returncode, ran.stdout) == (0, "No findings in 18 files.\n")
    assert f"Shared geometry in serving/geometry.py; {len(expected) - 1} files changed to read it." in ran.stderr
    assert texts(project) == before | expected
    again = swa_lint(project, "fix", *SHARE)
    assert again.returncode == 0 and "Shared" not in again.stderr
    assert texts(project) == before | expected


def test_shown_plan_is_a_patch(project: Path) -> None:
    expected = texts(project) | plan(project, "serving.geometry").texts(project)
    patch = swa_lint(project, "fix", *SHARE, "--diff").stdout
    subprocess.run(["git", "apply", "-"], cwd=project, input=patch, text=True, check=True)
    assert texts(project) == expected


def test_launch_files_can_read_the_shared_values(project: Path) -> None:
    """The two ways that docs/fixes.md shows: bash runs them with the shared page size, and they are no findings."""
    swa_lint(project, "fix", *SHARE)
    assert run(project, "-m", "serving.geometry").stdout == "PAGE_SIZE=256\nSLIDING_WINDOW=4096\n"
    page = (Path(__file__).parent.parent / "docs" / "fixes.md").read_text("utf-8")
    scripts = [text.split("```", 1)[0] for text in page.split("```bash\n")[1:]]
    assert len(scripts) == 2
    for number, script in enumerate(scripts):
        (project / f"serve{number}.sh").write_text(script)
        shown = script.replace("python3 -m sglang.launch_server", "echo").replace("python3", sys.executable)
        ran = subprocess.run(
            ["bash", "-euc", shown], cwd=project, capture_output=True, text=True, env=os.environ | {"MODEL": "m"}
        )
        assert ran.stdout.count("--page-size 256") == 2, ran.stderr
    assert swa_lint(project, "check").returncode == 0


def test_command_fixes_what_cannot_be_shared(tmp_path: Path) -> None:
    parameter = "def start(server_args):\n    draft_args = deepcopy(server_args)\n    draft_args.page_size = 1\n    run(draft_args)\n"
    write(tmp_path, {"launch.py": ARGS + draft(), "draft.py": ARGS + parameter})
    ran = swa_lint(tmp_path, "fix", "--share-source", "geometry:GEOMETRY")
    assert ran.returncode == 0, ran.stdout
    assert "page_size" not in (tmp_path / "draft.py").read_text()
    assert "GEOMETRY.page_size" in (tmp_path / "launch.py").read_text()


@pytest.mark.parametrize("spoil", ["read-only", "changed"])
def test_sharing_changes_all_files_or_none(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], spoil: str
) -> None:
    monkeypatch.chdir(project)
    access, texts_of = os.access, SharePlan.texts
    last = "serving/workers/nextn.py"

    def edited(self: SharePlan, root: Path) -> dict[str, str]:
        made = texts_of(self, root)
        (root / last).write_text("# newer\n")
        return made

    if spoil == "read-only":  # root may write to any file
        monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith(last) and access(path, mode))
    else:
        monkeypatch.setattr(SharePlan, "texts", edited)
    before = texts(project) | ({last: "# newer\n"} if spoil == "changed" else {})
    assert cli(["fix", "--no-cache", "--jobs", "1", *SHARE]) == 2
    assert f"{last}: not changed: the file" in capsys.readouterr().err
    assert texts(project) == before


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("serving.geometry", "serving.geometry is not MODULE:NAME"),
        ("nowhere.geometry:GEOMETRY", "there is no package nowhere"),
        ("serving.constants:REPORT_ROWS", "that is no SwaGeometry"),
    ],
)
def test_command_says_why_not(project: Path, spec: str, message: str) -> None:
    before = texts(project)
    ran = swa_lint(project, "fix", "--share-source", spec)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert ran.stdout == ""
    assert texts(project) == before


def test_unknown_target_geometry_needs_a_constant(tmp_path: Path) -> None:
    text = ARGS + draft("page()")
    write(tmp_path, {"launch.py": text})
    ran = swa_lint(tmp_path, "fix", "--share-source", "geometry:GEOMETRY")
    assert ran.returncode == 2
    assert "no value to share" in ran.stderr
    assert texts(tmp_path) == {"launch.py": text}


def test_config_names_the_source(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": '[tool.swa-lint]\nshare-source = "geometry:G"\n', "launch.py": ARGS + draft()})
    assert swa_lint(tmp_path, "check").returncode == 1
    assert python_files(tmp_path) == ["launch.py"]
    assert swa_lint(tmp_path, "fix").returncode == 0
    assert "draft_args.page_size = G.page_size" in (tmp_path / "launch.py").read_text()
    write(tmp_path, {"launch.py": ARGS + draft("page()")})
    (tmp_path / "geometry.py").unlink()
    ran = swa_lint(tmp_path, "fix")
    assert (ran.returncode, "geometry is not shared" in ran.stderr) == (0, True)


def codemod(root: Path, *options: str, module: str = "serving.geometry") -> subprocess.CompletedProcess[str]:
    command = ["-m", "libcst.tool", "codemod", "-x", "swa_lint.codemod.ShareGeometry", "--no-format", "--jobs", "2"]
    return run(root, *command, "--module", module, "--name", "GEOMETRY", *options, ".")


def test_libcst_runner_does_the_same(project: Path) -> None:
    expected = plan(project, "serving.geometry").texts(project)
    before = {path: (project / path).read_text() for path in python_files(project)}
    ran = codemod(project)
    assert ran.returncode == 0, ran.stderr
    assert {path: (project / path).read_text() for path in python_files(project)} == before | expected
    assert codemod(project).returncode == 0
    assert {path: (project / path).read_text() for path in python_files(project)} == before | expected


def test_libcst_runner_says_why_not(project: Path) -> None:
    ran = codemod(project, module="nowhere.geometry")
    assert ran.returncode == 2
    assert "there is no package nowhere" in ran.stderr
    assert "Traceback" not in ran.stderr
