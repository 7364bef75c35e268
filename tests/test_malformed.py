"""Files that no source can read: a finding or a note with the reason, never a traceback, and the others are still checked."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swa_lint.cli import run
from swa_lint.project.kinds import Kind, read_facts

SOUND = "#!/bin/sh\npython3 -m sglang.launch_server --disaggregation-mode prefill --page-size 64 &\n"
BROKEN = SOUND + "python3 -m sglang.launch_server --disaggregation-mode decode --page-size 32 &\n"
LAUNCH = "python3 -m sglang.launch_server --page-size 64"
FILES: dict[str, bytes] = {
    "tabs.yaml": b"prefill:\n\tcommand: " + LAUNCH.encode() + b"\n",
    "unclosed.yaml": b"command: [python3, -m, 'sglang.launch_server, --page-size\n",
    "unclosed.sh": b"python3 -m sglang.launch_server --page-size '64\n",
    "loop.sh": b"f() { f; }; f; while true; do " + LAUNCH.encode() + b"; done\n",
    "binary.sh": b"\x7fELF\x02\x01\x00\x00 sglang --page-size 64",
    "latin.sh": b"# caf\xe9\n" + LAUNCH.encode() + b"\n",
    "nul.yaml": b"command: sglang\0 --page-size 64\n",
    "deep.yaml": b"sglang: " + b"[" * 10_000 + b"]" * 10_000 + b"\n# --page-size\n",
    "deep.json": b'{"sglang --page-size": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "model/config.json": b'{"architectures": ["A"], "model_type": ' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}",
    "list/config.json": b'["architectures"]',
    "cut/config.json": b'{"architectures": ["LlamaForCausalLM"], "sliding_window": ',
    "bomb.yaml": b"sglang: page_size\na: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in range(ord("b"), ord("j"))),
    "template.yaml": b"args: [--page-size, {{ .Values.page }}]\n{{- if }}\n sglang: }}{{\n",
    "half.toml": b"[sglang\npage_size = \n",
    "Dockerfile": b'FROM x\nCMD ["python3", "-m", "sglang.launch_server", \n',
    "fence.md": b"```bash\npython3 -m sglang.launch_server --page-size '\n",
    "large.yaml": b"# sglang page_size\n" + b"a: b\n" * (20 * 2**20 // 5),
}


@pytest.mark.parametrize("name", FILES)
def test_the_run_goes_on(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(FILES[name])
    (tmp_path / "launch").mkdir()
    (tmp_path / "launch" / "pd.sh").write_text(BROKEN)
    status = run(["check", "--no-cache", "--jobs", "1", "--include-markdown", "--output-format", "json"])
    printed = capsys.readouterr()
    findings = json.loads(printed.out)["findings"]
    assert status == 1
    assert "launch/pd.sh" in {finding["path"] for finding in findings}
    others = [finding for finding in findings if finding["path"] != "launch/pd.sh"]
    assert {finding["code"] for finding in others} <= {"SWA902"}
    assert not any("bug of swa-lint" in finding["message"] for finding in others)
    assert "Traceback" not in printed.err


def test_a_large_file_is_passed_over_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "large.yaml").write_bytes(FILES["large.yaml"])
    assert run(["check", "--no-cache", "--jobs", "1"]) == 0
    assert "large.yaml:1: skipped: 20 MB, more than 10 MB" in capsys.readouterr().err


def test_links_in_a_circle_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "self.sh").symlink_to(tmp_path / "self.sh")
    (tmp_path / "a" / "pd.sh").write_text(BROKEN)
    assert run(["check", "--no-cache", "--jobs", "1", "--output-format", "concise"]) == 1
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["a/pd.sh"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.sh").write_text(SOUND)
    (tmp_path / "secret.sh").chmod(0)
    assert run(["check", "--no-cache", "--jobs", "1", "--output-format", "concise"]) == 1
    assert "SWA902" in capsys.readouterr().out


PARTS = st.sampled_from(
    [
        "python3 -m sglang.launch_server",
        "--page-size",
        "64",
        "$X",
        "${X:-1}",
        "\n",
        " ",
        "'",
        '"',
        "`",
        "$(",
        ")",
        "{",
        "}",
        "prefill:",
        "decode:",
        "args:",
        "- ",
        "  ",
        "&a",
        "*a",
        "|\n",
        "[",
        "]",
        "<<EOF\n",
        "EOF\n",
        "if true; then",
        "fi",
        ";",
        "FROM x\n",
        "CMD ",
        "ENV X=",
        "\\\n",
        "```bash\n",
        "```\n",
        "{{",
        "}}",
        "=",
        "#",
        ",",
        ":",
        "\t",
        "\x00",
        "�",
    ]
)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.sampled_from([kind for kind in Kind if kind not in (Kind.PYTHON, Kind.SCRIPT)]), st.lists(PARTS, max_size=30))
def test_no_text_makes_a_source_fail(tmp_path_factory: pytest.TempPathFactory, kind: Kind, parts: list[str]) -> None:
    read_facts(kind, "some/file", "sglang page_size " + "".join(parts), tmp_path_factory.getbasetemp())
