"""README and documentation say what the program does: every command is run, every snippet is checked or loaded."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click import Context
from project import write
from ruamel.yaml import YAML

from swa_lint.cli import cli, run
from swa_lint.cli.check import _FORMATS
from swa_lint.config import _KEYS, load_config
from swa_lint.rules.registry import Rule, all_rules
from swa_lint.sglang.errors import ERRORS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import console  # noqa: E402
import generate  # noqa: E402
import screenshots  # noqa: E402

PAGES = generate.written()

_FENCE = re.compile(
    r"(?:^(?P<gap>[ ]*)<!-- (?P<note>[^>]*) -->\n+)?^(?P<indent>[ ]*)```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
CLI = "import sys; from swa_lint.cli import run; sys.exit(run())"


@dataclass(frozen=True)
class Block:
    """A fenced block: its page, its language, the comment above it, its text."""

    page: str
    language: str
    note: str
    text: str


def blocks(*languages: str) -> list[Block]:
    return [block for page in PAGES for block in _blocks(page) if block.language in languages]


def _blocks(page: Path) -> Iterator[Block]:
    for found in _FENCE.finditer(page.read_text("utf-8")):
        name = page.relative_to(ROOT).as_posix()
        yield Block(name, found["language"], found["note"] or "", textwrap.dedent(found["text"]))


def name_of(block: Block) -> str:
    return f"{block.page}-{block.text.strip()[:30]}"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes(capsys: pytest.CaptureFixture[str], *args: str) -> set[str]:
    assert run(["check", "--no-cache", "--jobs", "1", "--output-format", "json", *args]) in (0, 1)
    return {finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]}


@pytest.mark.parametrize("page", generate.written(), ids=lambda path: path.name)
def test_commands_print_what_the_page_shows(page: Path) -> None:
    text = page.read_text("utf-8")
    assert console.rewritten(generate.filled(text)) == text, "run python docs/generate.py"


def test_generated_pages_are_up_to_date() -> None:
    expected = dict(generate.generated())
    for path, text in expected.items():
        assert path.read_text("utf-8") == text, f"{path.name}: run python docs/generate.py"
    assert set((ROOT / "docs" / "rules").glob("*.md")) == set(expected)


def test_each_error_has_its_message() -> None:
    hit = [error for message in generate.MESSAGES for error in ERRORS if error.pattern.search(message)]
    assert hit == list(ERRORS)


def test_a_change_of_output_is_seen() -> None:
    (command,) = console.commands("$ tool\na ... b\n...\nend\n")
    assert command.prints("a x b\nend\n") and command.prints("a x b\n1\n2\nend\n")
    assert not command.prints("a x c\nend\n") and not command.prints("a x b\n1\n")


def test_every_shell_block_is_run_or_says_where_it_is() -> None:
    unaccounted = [
        name_of(block)
        for block in blocks("sh", "bash", "shell")
        if not block.note.startswith(("not run: ", "file: ")) and block.page != "README.md"
    ]
    assert unaccounted == []
    install, tests = [block.text.strip() for block in blocks("sh") if block.page == "README.md"]
    assert install.splitlines() == [install] and tests.splitlines() == [tests]
    ci = (ROOT / ".ci" / "run").read_text("utf-8")
    for part in tests.split(" && "):
        assert part.replace("pip install", "pip install --quiet") in ci


def test_every_block_has_a_test_for_its_language() -> None:
    """Those of editors.md in other languages are settings of editors, read by test_editor_settings_*."""
    tested = {"sh", "bash", "console", "python", "toml", "yaml", "text"}
    others = {(block.page, block.language) for page in PAGES for block in _blocks(page) if block.language not in tested}
    assert others == {("docs/editors.md", language) for language in ("json", "js", "lua")}
    for page in PAGES:
        prose = _FENCE.sub("", page.read_text("utf-8"))
        assert [
            line for line in prose.splitlines() if re.match(r"    (\$ |pip |python |swa-lint |from |import )", line)
        ] == []


def test_editor_settings_start_the_server() -> None:
    languages: dict[str, list[str]] = {}
    for block in blocks("json", "js", "lua"):
        languages.setdefault(block.language, []).append(block.text)
    for text in languages["json"]:
        json.loads(text)
    (extension,) = languages["js"]
    assert 'command: "swa-lint", args: ["server"]' in extension
    assert json.loads(languages["json"][0])["main"] == "./extension.js"
    assert [text for text in languages["lua"] if 'cmd = { "swa-lint", "server" }' in text]
    for tool, text in [("node", extension), ("luac", "\n".join(languages["lua"]))]:
        if program := shutil.which(tool):
            command = [program, "--check", "-"] if tool == "node" else [program, "-p", "-"]
            done = subprocess.run(command, input=text, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr


def test_ruff_keeps_the_comments_once_it_is_told_of_the_codes(tmp_path: Path) -> None:
    (settings,) = (block.text for block in blocks("toml") if "tool.ruff" in block.text)
    for text, kept in (("", False), (settings, True)):
        write(tmp_path, {"pyproject.toml": text, "a.py": "x = 1  # noqa: SWA101\n"})
        command = [sys.executable, "-m", "ruff", "check", "--preview", "--no-cache", "--select", "RUF", "--fix", "a.py"]
        subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        assert ("SWA101" in (tmp_path / "a.py").read_text()) is kept


def test_every_command_that_is_named_exists() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES)
    named = set(re.findall(r"[`$] ?swa-lint (?!COMMAND\b)([a-z]+)", text))
    for command in sorted(named):
        assert run([command, "--help"]) == 0, command
    commands = (ROOT / "docs" / "commands.md").read_text("utf-8")
    assert [name for name in cli.list_commands(Context(cli)) if f"| `swa-lint {name}" not in commands] == []
    for name in _FORMATS:
        assert f"| `{name}` |" in commands


@pytest.mark.parametrize("block", blocks("python"), ids=name_of)
def test_python_blocks_are_flagged_or_silent_as_they_say(
    root: Path, capsys: pytest.CaptureFixture[str], block: Block
) -> None:
    if block.note.startswith("file: "):
        pytest.skip("followed by test_adding_a_rule_works")
    write(root, {"block.py": block.text})
    verb, _, code = block.note.partition(": ")
    if verb == "not run":
        pytest.skip(code)
    if verb == "run":
        pools = {f"{role}_pool": SimpleNamespace(page_size=64, sliding_window=128) for role in ("target", "draft")}
        exec(block.text, dict(pools))
        pools["draft_pool"].page_size = 32
        with pytest.raises(RuntimeError, match="page_size: target 64, draft 32"):
            exec(block.text, dict(pools))
        return
    assert verb in ("flags", "silent"), f"say above the block what the linter does: {block.text}"
    assert codes(capsys) == ({code} if verb == "flags" else set())
    if "noqa" in block.text:
        write(root, {"block.py": re.sub(r"  # noqa.*", "", block.text)})
        assert codes(capsys) == set(re.findall(r"noqa: (\w+)", block.text))


@pytest.mark.parametrize("block", blocks("toml"), ids=name_of)
def test_toml_blocks_are_configuration_that_loads(root: Path, block: Block) -> None:
    write(root, {"pyproject.toml": block.text})
    table = tomllib.loads(block.text)["tool"]
    if "swa-lint" in table:
        load_config(root)
        prose = (ROOT / block.page).read_text("utf-8")
        assert {key for key in _KEYS if f"\n{key} = " not in prose and f"swa-lint.{key}]" not in prose} == set()
    else:
        with (ROOT / "pyproject.toml").open("rb") as file:
            assert tomllib.load(file)["tool"]["ruff"]["lint"]["external"] == table["ruff"]["lint"]["external"]


@pytest.mark.parametrize("block", blocks("yaml"), ids=name_of)
def test_yaml_blocks_use_what_the_repository_offers(block: Block) -> None:
    held = YAML(typ="safe").load(block.text)
    if "repos" in held:
        hooks = {hook["id"] for hook in YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
        assert {hook["id"] for repo in held["repos"] for hook in repo["hooks"]} <= hooks
        assert [hook for hook in hooks if not re.search(rf"{hook}\b(?!-)", block.text)] == []
    elif "jobs" in held:
        action = YAML(typ="safe").load((ROOT / "action.yml").read_text("utf-8"))
        (used,) = [step["with"] for job in held["jobs"].values() for step in job["steps"] if "with" in step]
        assert set(used) <= set(action["inputs"])
    else:
        (job,) = held.values()
        *_, command = job["script"]
        args = command.removeprefix("swa-lint ").partition(" > ")[0].split()
        assert run([*args, str(ROOT / "fixtures" / "deployment")]) == 1


PREAMBLE = """import json
from copy import deepcopy

from sglang.srt.configs.model_config import ModelConfig
from sglang.srt.managers.tp_worker import TpModelWorker
from sglang.srt.mem_cache.deepseek_v4_memory_pool import DeepSeekV4TokenToKVPool
from sglang.srt.mem_cache.swa_memory_pool import SWAKVPool


class Example:
    def example(self, server_args, shape, draft_shape, draft_options, block_size, target_pool, draft_pool,
                token_to_kv_pool, draft_token_to_kv_pool, engine):
"""
WORKER = "worker = TpModelWorker(server_args=draft_args, is_draft_worker=True)\n"


def example(rule: Rule, text: str) -> dict[str, str]:
    """The files of a rule's example: a Python fragment gets the imports, and the worker, that it leaves out."""
    if rule.language == "bash":
        return {"serve.sh": text}
    if rule.language == "json":
        target = {"architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4", "sliding_window": 128}
        return {"draft/config.json": text, "target/config.json": json.dumps(target)}
    if rule.code == "SWA902":
        return {"example.py": text}
    used = text if "draft_args" not in text or "TpModelWorker" in text else text + WORKER
    return {"example.py": PREAMBLE + textwrap.indent(used, "        ")}


@pytest.mark.parametrize("rule", [rule for rule, _ in all_rules().values()], ids=lambda rule: rule.code)
def test_examples_of_rules_are_what_they_say(root: Path, capsys: pytest.CaptureFixture[str], rule: Rule) -> None:
    pair = ["--target", "target", "--draft", "draft"] if rule.language == "json" else []
    for text, flagged in ((rule.bad, True), (rule.good, False)):
        write(root, example(rule, text))
        assert (rule.code in codes(capsys, "--select", f"SWA,{rule.code}", *pair)) is flagged, text


def test_flake8_shows_the_rule_that_the_page_switches_on(tmp_path: Path) -> None:
    (code,) = re.findall(r"`extend-select = (\w+)`", (ROOT / "docs" / "integrations.md").read_text("utf-8"))
    write(tmp_path, example(all_rules()[code][0], all_rules()[code][0].bad))
    command = [sys.executable, "-m", "flake8", "--isolated", "example.py"]
    shown = [
        subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True).stdout
        for options in ([], ["--extend-select", code])
    ]
    assert [code in text for text in shown] == [False, True]


def test_adding_a_rule_works(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "swa_lint", tmp_path / "swa_lint", ignore=shutil.ignore_patterns("__pycache__"))
    steps = [block for page in PAGES if page.name == "CONTRIBUTING.md" for block in _blocks(page)]
    files = {block.note.removeprefix("file: "): block.text for block in steps if block.note.startswith("file: ")}
    write(tmp_path, files)
    module, *fixtures = files
    assert module.startswith("swa_lint/rules/swa") and fixtures

    def swa_lint(*args: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            [sys.executable, "-c", CLI, *args], cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    for fixture in fixtures:
        done = swa_lint("check", "--no-cache", "--output-format", "json", fixture)
        found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
        assert [f["code"] for f in found] == (["SWA308"] if Path(fixture).name.startswith("bad") else []), done.stderr
    assert "repeated-page-size" in swa_lint("rule", "SWA308").stdout
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "test_fixtures.py", tmp_path / "tests")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_fixtures.py", "-k", "SWA308"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and f"{len(fixtures)} passed" in done.stdout, done.stdout + done.stderr
    for tool in (["ruff", "check"], ["ruff", "format", "--check"], ["mypy", "--strict"]):
        settings = ["--config", str(ROOT / "pyproject.toml")] if tool[0] == "ruff" else ["--config-file", ""]
        done = subprocess.run(
            [sys.executable, "-m", *tool, *settings, module], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", screenshots.PICTURES)
def test_pictures_show_what_runs_print(name: str) -> None:
    shown = (ROOT / "docs" / name).read_text("utf-8")
    assert _words(screenshots.picture(name)) == _words(shown), "run python docs/screenshots.py"


def _words(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_links_between_files_lead_somewhere() -> None:
    for page in [*PAGES, *dict(generate.generated())]:
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", page.read_text("utf-8")):
            place = page.parent / target if target else page
            assert place.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in _anchors(place), f"{page.name}: {target}#{anchor}"


def _anchors(page: Path) -> set[str]:
    """The anchors that a page's headings have, both on GitHub and on the site."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the site's tools are not installed: pip install -e '.[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "rules" / "SWA101" / "index.html").exists()


def test_the_first_command_of_the_readme_works_in_a_new_environment(tmp_path: Path) -> None:
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True)
    if archive.returncode:
        pytest.skip("not a Git checkout")
    write(tmp_path, {"tree.tar": archive.stdout})
    with tarfile.open(tmp_path / "tree.tar") as tree:
        tree.extractall(tmp_path / "clone", filter="data")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    install, _ = [block.text.strip() for block in blocks("sh") if block.page == "README.md"]
    path = f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", install],
        cwd=tmp_path / "clone",
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    if re.search(r"connection|resolution|timed out|No matching distribution", done.stderr, re.IGNORECASE):
        pytest.skip("the package registry cannot be reached")
    assert done.returncode == 1, done.stderr
    assert "safe fix: " in done.stdout and "3 findings" in done.stdout
