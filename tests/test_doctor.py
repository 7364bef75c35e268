"""`swa-lint doctor`, with a fake SGLang on the path and with checkpoints on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from swa_lint.cli import run


@pytest.fixture
def checkpoint(tmp_path):
    def make(name: str, window: int | None, architecture: str = "DeepseekV4ForCausalLM") -> str:
        folder = tmp_path / name
        folder.mkdir()
        config = {"architectures": [architecture], "model_type": "deepseek_v4", "sliding_window": window}
        (folder / "config.json").write_text(json.dumps(config))
        return str(folder)

    return make


def predict(capsys, *args: str) -> tuple[int, str]:
    status = run(["doctor", *args])
    return status, capsys.readouterr().out


def test_a_draft_with_a_window_of_its_own(checkpoint, capsys):
    pair = ("--target", checkpoint("t", 128), "--draft", checkpoint("d", 4096, "DeepseekV4ForCausalLMNextN"))
    status, out = predict(capsys, *pair, "--page-size", "64", "--sglang-version", "0.5.17")
    assert status == 1
    assert "draft:  page_size=256 sliding_window=4096 mode=paged" in out
    assert "256, set by DeepSeek-V4" in out
    assert "must share paged SWA geometry: target=(256, 128), draft=(256, 4096)" in out
    assert "output is wrong" in predict(capsys, *pair, "--sglang-version", "0.5.12")[1]
    assert "target=(256, 128, None)" in predict(capsys, *pair, "--sglang-version", "0.9.0")[1]


def test_equal_windows_differ_by_dcp_alone(checkpoint, capsys):
    pair = ("--target", checkpoint("t", 128), "--draft", checkpoint("d", 128), "--sglang-version", "0.5.17")
    assert predict(capsys, *pair) == (
        0,
        "target: page_size=256 sliding_window=128 mode=paged\ndraft:  page_size=256 sliding_window=128 mode=paged\n"
        "page size: 256, set by DeepSeek-V4; --page-size has no effect\nverdict: the two pools can share pages\n",
    )
    status, out = predict(capsys, *pair, "--dcp-size", "2")
    assert status == 1
    assert "page_size: target 256, draft 512" in out
    assert predict(capsys, *pair[:-1], "0.5.15", "--dcp-size", "2")[0] == 0


def test_models_of_two_families_are_not_compared(checkpoint, capsys):
    pair = ("--target", checkpoint("t", 128), "--draft", checkpoint("d", 4096, "LlamaForCausalLM"))
    status, out = predict(capsys, *pair)
    assert status == 0
    assert "two families" in out


@pytest.mark.parametrize(
    "args",
    [
        ["--target", "nowhere", "--draft", "nowhere"],
        ["--target", "nowhere"],
        ["--page-size", "64"],
        ["--target", ".", "--draft", ".", "--sglang-version", "new"],
        ["--target", ".", "--draft", ".", "--page-size", "0"],
    ],
)
def test_wrong_use_is_a_clear_error(args, capsys):
    assert run(["doctor", *args]) == 2
    error = capsys.readouterr().err
    assert error
    assert "Traceback" not in error


def _serve(site: Path, version: str) -> None:
    """A folder that looks like an installed SGLang, enough of it for the doctor."""
    files = {
        "sglang/__init__.py": "raise RuntimeError('the doctor must not import SGLang')",
        "sglang/srt/model_executor/model_runner.py": "class ModelRunner:\n    def alloc_memory_pool(self): ...\n",
        "sglang/srt/disaggregation/utils.py": "def setup_state_kv_args(): ...\n",
        f"sglang-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: sglang\nVersion: {version}\n",
    }
    for name, text in files.items():
        place = site / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def _doctor(site: Path, **variables: str) -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SGLANG", "SWA_LINT"))}
    done = subprocess.run(
        [sys.executable, "-c", "from swa_lint.cli import main; main()", "doctor"],
        env={**environment, "PYTHONPATH": str(site), **variables},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_where_the_guard_is_active(tmp_path):
    _serve(tmp_path, "0.5.17")
    status, out = _doctor(tmp_path)
    assert status == 0
    assert f"SGLang: 0.5.17 in {tmp_path / 'sglang'}" in out
    assert "alloc_memory_pool: found" in out
    assert out.endswith("guard: active\n")


@pytest.mark.parametrize(
    ("variables", "reason"),
    [({"SGLANG_PLUGINS": "other"}, "does not name swa_lint_guard"), ({"SWA_LINT_GUARD": "off"}, "stays unpatched")],
)
def test_where_it_is_switched_off(tmp_path, variables, reason):
    _serve(tmp_path, "0.5.17")
    status, out = _doctor(tmp_path, **variables)
    assert status == 1
    assert reason in out
    assert out.endswith("guard: not active\n")


def test_where_sglang_lacks_the_function(tmp_path):
    _serve(tmp_path, "0.5.17")
    (tmp_path / "sglang/srt/model_executor/model_runner.py").write_text("class ModelRunner: ...\n")
    status, out = _doctor(tmp_path)
    assert status == 1
    assert "alloc_memory_pool: NOT FOUND" in out


def test_an_sglang_that_is_not_known(tmp_path):
    _serve(tmp_path, "0.5.10")
    status, out = _doctor(tmp_path)
    assert status == 1
    assert "knows SGLang 0.5.12 to" in out


def test_no_sglang(tmp_path):
    status, out = _doctor(tmp_path)
    assert status == 1
    assert "not in this environment" in out
