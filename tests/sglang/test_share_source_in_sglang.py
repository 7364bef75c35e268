"""Geometry of a copy of SGLang 0.5.12 with planted defects moves into one module, and the copy comes out clean."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from wheels import Unavailable, release

from swa_lint.cli import run

pytestmark = pytest.mark.sglang

HOOK = "sglang/srt/arg_groups/deepseek_v4_hook.py"
WORKER = "sglang/srt/speculative/dflash_worker.py"
COPY = "        draft_server_args = deepcopy(server_args)\n"
SHARE = ("--share-source", "sglang.srt.geometry:GEOMETRY")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folders of the release that set up target and draft, as the working directory."""
    try:
        original = release("0.5.12")
    except Unavailable as error:
        pytest.skip(str(error))
    for folder in ("speculative", "arg_groups"):
        shutil.copytree(original / "sglang" / "srt" / folder, tmp_path / "sglang" / "srt" / folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plant(root: Path, before: str, after: str) -> None:
    text = (root / WORKER).read_text(encoding="utf-8")
    assert text.count(COPY) == 1
    (root / WORKER).write_text(text.replace(COPY, before + COPY + after), encoding="utf-8")


def command(name: str, *options: str) -> int:
    return run([name, "sglang", "--no-cache", "--jobs", "1", "--select", "SWA1,SWA2", *options])


def test_constant_of_the_target_is_shared(engine: Path) -> None:
    plant(engine, "        server_args.page_size = 256\n", "        draft_server_args.page_size = 1\n")
    assert command("check") == 1
    assert command("fix", *SHARE) == 0
    worker = (engine / WORKER).read_text(encoding="utf-8")
    assert "        server_args.page_size = GEOMETRY.page_size\n" in worker
    assert "        draft_server_args.page_size = GEOMETRY.page_size\n" in worker
    assert "    server_args.page_size = GEOMETRY.page_size\n" in (engine / HOOK).read_text(encoding="utf-8")
    assert "GEOMETRY = SwaGeometry(page_size=256)\n" in (engine / "sglang/srt/geometry.py").read_text(encoding="utf-8")
    assert command("fix", *SHARE) == command("check") == 0


def test_draft_follows_a_target_that_is_no_constant(engine: Path) -> None:
    untouched = (engine / WORKER).read_bytes()
    plant(engine, "", "        draft_server_args.page_size = 1\n")
    assert command("fix", *SHARE) == 0
    assert (engine / WORKER).read_bytes() == untouched


def test_engine_that_sets_many_page_sizes_has_no_one_source(engine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hook = (engine / HOOK).read_text(encoding="utf-8").replace("page_size = 256", "page_size = 64")
    (engine / HOOK).with_name("other_hook.py").write_text(hook, encoding="utf-8")
    plant(engine, "", "        draft_server_args.page_size = 1\n")
    before = {path: path.read_bytes() for path in engine.rglob("*.py")}
    assert command("fix", *SHARE) == 2
    assert "one source cannot be both; run on the paths of one deployment" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in engine.rglob("*.py")} == before
