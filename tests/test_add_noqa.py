"""`--add-noqa`: a comment for each finding where its language takes one, and a word where it does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from project import BAD, BAD_SHELL, write

from swa_lint.cli import run
from swa_lint.fixes.meaning import same_meaning
from swa_lint.project.kinds import Kind


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*args: str) -> int:
    return run(["check", "--no-cache", "--jobs", "1", "--output-format", "concise", *args])


def servers(page: str = "--page-size 32", end: str = "") -> str:
    """Two servers of a script, the decode one with `page` on its second line and `end` after it."""
    start = "python3 -m sglang.launch_server --model-path m --disaggregation-mode"
    return f"{start} prefill --page-size 64 &\n{start} decode \\\n  {page}{end}\n"


POD = """kind: Pod
metadata: {name: MODE}
spec:
  containers:
    - image: lmsysorg/sglang:v0.5.17
      command: COMMAND
"""
LAUNCH = "python3 -m sglang.launch_server --model-path m --disaggregation-mode"


def pods(decode: str) -> str:
    prefill = f'["sh", "-c", "{LAUNCH} prefill --page-size 64"]'
    made = POD.replace("MODE", "p").replace("COMMAND", prefill)
    return f"{made}---\n{POD.replace('MODE', 'd').replace('COMMAND', decode)}"


DRAFT_PAGES = "--speculative-draft-model-path d --page-size 64 --speculative-draft-page-size 16"
DOCKERFILE = f"""# syntax=docker/dockerfile:1
FROM lmsysorg/sglang:v0.5.17
EXPOSE 30000
CMD ["python3", "-m", "sglang.launch_server", "--model-path", "m", {", ".join(f'"{w}"' for w in DRAFT_PAGES.split())}]
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("plain.py", BAD, "    draft_args.page_size = 1  # noqa: SWA101"),
        (
            "why.py",
            BAD.replace("= 1\n", "= 1  # small \n"),
            "    draft_args.page_size = 1  # small  # noqa: SWA101",
        ),
        (
            "merge.py",
            BAD.replace("= 1\n", "= 1  # noqa: E501 long\n"),
            "    draft_args.page_size = 1  # noqa: E501, SWA101 long",
        ),
        ("backslash.py", BAD.replace("= 1\n", "= \\\n        1\n"), "        1  # noqa: SWA101"),
        (
            "string.py",
            BAD.replace("= 1\n", '= 1; print("""a # noqa\n  b""")\n'),
            '  b""")  # noqa: SWA101',
        ),
        ("cr.py", BAD.replace("\n", "\r\n"), "    draft_args.page_size = 1  # noqa: SWA101"),
        ("one.sh", BAD_SHELL, " --disaggregation-mode decode --page-size 32 &  # noqa: SWA301"),
        ("end.sh", servers(end=" \\\n  --port 1"), "  --port 1  # noqa: SWA301"),
        ("merge.sh", servers(end="  # noqa: SC2086"), "  --page-size 32  # noqa: SC2086, SWA301"),
        ("last.sh", servers().rstrip("\n"), "  --page-size 32  # noqa: SWA301"),
        ("script", "#!/bin/bash\n" + servers(), "  --page-size 32  # noqa: SWA301"),
        (
            "items.yaml",
            pods(f"[{', '.join(LAUNCH.split())}, decode,\n        --page-size, '32']"),
            "        --page-size, '32']  # noqa: SWA301",
        ),
        (
            "literal.yaml",
            pods(
                f"\n        - sh\n        - -c\n        - |\n          {LAUNCH} decode \\\n            --page-size 32"
            ),
            "            --page-size 32  # noqa: SWA301",
        ),
        (
            "serve.toml",
            'engine = "sglang"\n[servers.prefill]\nargs = ["--page-size", "64"]\n'
            '[servers.decode]\nargs = [\n  "--page-size", "32",\n]\n',
            '  "--page-size", "32",  # noqa: SWA301',
        ),
        ("Dockerfile", DOCKERFILE, "# noqa: SWA303"),
        (
            "a.Dockerfile",
            DOCKERFILE.replace("CMD", "# why\nCMD"),
            "# noqa: SWA303",
        ),
        (
            "b.Dockerfile",
            DOCKERFILE.replace("CMD", "# noqa: DL3025\nCMD"),
            "# noqa: DL3025, SWA303",
        ),
    ],
)
def test_the_comment_stands_on_the_findings_line(
    root: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, expected: str
) -> None:
    write(root, {name: text.encode()})
    assert check() == 1
    before = [line.split(": ", 1)[1] for line in capsys.readouterr().out.splitlines()]
    assert len(before) == 1, before
    assert check("--add-noqa", "--diff") == 1
    assert (root / name).read_bytes() == text.encode()
    assert check("--add-noqa") == 0
    after = (root / name).read_bytes()
    added = [line for line in after.decode().splitlines() if line not in text.splitlines()]
    assert len(added) == 1 and added[0].endswith(expected), added
    assert after.count(b"\r") == text.count("\r")
    capsys.readouterr()
    assert check() == 0
    assert capsys.readouterr().out == ""
    assert check("--add-noqa") == 0
    assert (root / name).read_bytes() == after


def folded(style: str) -> str:
    return pods(
        f"\n        - sh\n        - -c\n        - {style}\n          {LAUNCH} decode\n          --page-size 32\n          --port 1"
    )


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        (
            "config.json",
            '{"architectures": ["DeepseekV4ForCausalLM"], "window_size": 512, "sliding_window": 128}\n',
            "JSON has no comments",
        ),
        ("folded.yaml", folded(">"), "no comment can stand on its line"),
        ("quoted.sh", f"bash -c '\n{servers()}'\n", "no comment can stand on its line"),
        ("here.sh", f"cat > serve.sh <<'EOF'\n{servers()}EOF\nbash serve.sh\n", "no comment can stand on its line"),
        ("broken.py", "page_size = (\n", "the file cannot be read"),
        ("idle.py", "x = 1  # noqa: SWA101\n", "--fix removes it"),
        ("caf.py", BAD, "is read-only"),
    ],
)
def test_where_no_comment_can_stand_it_says_so(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, text: str, reason: str
) -> None:
    write(root, {name: text})
    assert check() == 1
    monkeypatch.setattr("os.access", lambda path, mode: "read-only" not in reason)
    capsys.readouterr()
    assert check("--add-noqa") == (2 if "read-only" in reason else 1)
    streams = capsys.readouterr()
    assert reason in streams.err and "Suppressed 0 findings." in streams.err
    assert len(streams.out.splitlines()) == 1
    assert (root / name).read_text() == text


def test_what_can_be_suppressed_is(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = servers() + "wait\nbash -c '\n" + servers("--page-size 16") + "'\n"
    write(root, {"two.sh": two, "a.py": BAD})
    assert check() == 1
    found = len(capsys.readouterr().out.splitlines())
    assert check("--add-noqa") == 1
    streams = capsys.readouterr()
    assert f"Suppressed {found - 1} findings." in streams.err and "two.sh:8: SWA301 not suppressed" in streams.err
    assert len(streams.out.splitlines()) == 1
    assert (root / "two.sh").read_text() == two.replace("--page-size 32", "--page-size 32  # noqa: SWA301")


def test_two_codes_share_a_comment_and_flake8_obeys_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = BAD.replace("page_size = 1", "page_size = 1; draft_args.sliding_window = 7")
    write(root, {"a.py": both})
    assert check() == 1
    codes = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert codes == ["SWA101", "SWA102"]
    assert check("--add-noqa") == 0
    assert "sliding_window = 7  # noqa: SWA101, SWA102\n" in (root / "a.py").read_text()
    command = [sys.executable, "-m", "flake8", "--isolated", "--select", "SWA", "a.py"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


def test_only_selected_codes_are_suppressed(root: Path) -> None:
    write(root, {"a.py": BAD})
    assert check("--add-noqa", "--select", "SWA2") == 0
    assert (root / "a.py").read_text() == BAD


def test_it_does_not_go_with_fixes(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"a.py": BAD})
    assert check("--add-noqa", "--fix") == 2
    assert "exclude each other" in capsys.readouterr().err
    assert (root / "a.py").read_text() == BAD


@pytest.mark.parametrize(
    ("kind", "before", "after", "same"),
    [
        (Kind.PYTHON, "x = 1\n", "x = 1  # c\n", True),
        (Kind.PYTHON, "x = 1 + \\\n 2\n", "x = 1 + \\  # c\n 2\n", False),
        (Kind.PYTHON, 'x = """a\n"""\n', 'x = """a  # c\n"""\n', False),
        (Kind.SHELL, "a b\n", "a b  # c\n", True),
        (Kind.SHELL, "a 'b\n'\n", "a 'b  # c\n'\n", False),
        (Kind.SHELL, "a b \\\n c\n", "a b \\  # c\n c\n", False),
        (Kind.YAML, "a: {{ .Values.x }}\n", "a: {{ .Values.x }}  # c\n", True),
        (Kind.YAML, "a: 'b\n  c'\n", "a: 'b  # c\n  c'\n", False),
        (Kind.YAML, "a: |\n  b\n", "a: |\n  b  # c\n", True),
        (Kind.YAML, "a: >\n  b\n  d\n", "a: >\n  b  # c\n  d\n", False),
        (Kind.YAML, "a: b\n c\n", "a: b  # c\n c\n", False),
        (Kind.TOML, "a = 1\n", "a = 1  # c\n", True),
        (Kind.TOML, 'a = """\nb\n"""\n', 'a = """\nb  # c\n"""\n', False),
    ],
)
def test_a_comment_is_one_for_the_languages_parser(kind: Kind, before: str, after: str, same: bool) -> None:
    assert same_meaning(kind, before, after) is same
