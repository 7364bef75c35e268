"""Every rule's fixtures: bad files give their codes at their lines, sound ones nothing, and fixes give the fixed file."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from swa_lint.cli import run
from swa_lint.rules.registry import all_rules

FIXTURES = Path(__file__).parent.parent / "fixtures"
RULES = sorted(p for p in FIXTURES.glob("SWA*") if p.is_dir())
EXPECT = re.compile(r"\s*# expect: (SWA\d+)(?: (\w+))?\s*$")


def cases(prefix: str) -> list[Path]:
    """The files, or folders, of all rules whose name starts so."""
    return [p for rule in RULES for p in sorted(rule.glob(f"{prefix}*")) if p.suffix != ".expect"]


def name(path: Path) -> str:
    return path.relative_to(FIXTURES).as_posix()


def expected(file: Path) -> Counter[tuple[int, str]]:
    """Line and code of each finding of a file, from its comments or the .expect file beside it."""
    beside = file.with_name(file.name + ".expect")
    if beside.exists():
        return Counter((int(line), code) for line, code, *_ in map(str.split, beside.read_text().splitlines()))
    lines = file.read_text(encoding="utf-8").splitlines()
    return Counter((n, m.group(1)) for n, line in enumerate(lines, 1) if (m := EXPECT.search(line)))


def laid_out(case: Path, tmp_path: Path) -> Path:
    """A copy of a case in a folder of its own, without its expectations."""
    root = tmp_path / "case"
    root.mkdir()
    if case.is_dir():
        shutil.copytree(case, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.expect"))
    else:
        shutil.copy(case, root / case.name)
    return root


def check(capsys: pytest.CaptureFixture[str], code: str, *args: str) -> list[dict[str, object]]:
    chosen = sorted(
        {"SWA1", "SWA2", "SWA3", "SWA4", "SWA9", "SWA204", "SWA307"} if code in ("SWA204", "SWA307") else {"SWA"}
    )
    status = run(
        ["check", ".", "--no-cache", "--jobs", "1", "--output-format", "json", "--select", ",".join(chosen), *args]
    )
    assert status in (0, 1)
    findings: list[dict[str, object]] = json.loads(capsys.readouterr().out)["findings"]
    return findings


@pytest.mark.parametrize("case", cases("bad"), ids=name)
def test_bad_gives_its_codes_at_its_lines(
    case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = laid_out(case, tmp_path)
    monkeypatch.chdir(root)
    found = check(capsys, case.parent.name)
    files = [p for p in case.rglob("*") if p.is_file() and p.suffix != ".expect"] if case.is_dir() else [case]
    want = {(p.relative_to(case).as_posix() if case.is_dir() else p.name): expected(p) for p in files}
    got = {path: Counter[tuple[int, str]]() for path in want}
    for finding in found:
        path, code = str(finding["path"]), str(finding["code"])
        lines = range(int(str(finding["line"])), int(str(finding["end_line"])) + 1)
        line = next((n for n in lines if (n, code) in want[path]), lines[0])
        got[path][line, code] += 1
    assert got == want
    assert case.parent.name in {str(f["code"]) for f in found}


@pytest.mark.parametrize("case", [*cases("good"), *cases("near"), *cases("fixed")], ids=name)
def test_sound_code_gives_nothing(
    case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(laid_out(case, tmp_path))
    assert [f for f in check(capsys, case.parent.name) if f["code"] == case.parent.name] == []


@pytest.mark.parametrize("fixed", cases("fixed"), ids=name)
def test_the_fix_gives_the_fixed_file(
    fixed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = fixed.with_name(fixed.name.replace("fixed", "bad", 1))
    root = laid_out(case, tmp_path)
    for file in root.rglob("*.py"):
        file.write_text("".join(EXPECT.sub("\n", line) for line in file.read_text().splitlines(keepends=True)))
    monkeypatch.chdir(root)
    check(capsys, case.parent.name, "--fix", "--unsafe-fixes")
    once = {p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    sources = [p for p in fixed.rglob("*") if p.is_file()] if fixed.is_dir() else [fixed]
    for source in sources:
        inside = source.relative_to(fixed) if fixed.is_dir() else Path(case.name)
        want = re.sub(rb"[ \t]*# expect: [^\r\n]*", b"", source.read_bytes())
        assert re.sub(rb"[ \t]*# expect: [^\r\n]*", b"", once[inside]).decode() == want.decode()
    check(capsys, case.parent.name, "--fix", "--unsafe-fixes")
    assert once == {p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_every_rule_has_a_bad_and_a_sound_fixture() -> None:
    for code in all_rules():
        folder = FIXTURES / code
        assert list(folder.glob("bad*")), code
        if code != "SWA902":
            assert [p for kind in ("good", "near", "fixed") for p in folder.glob(f"{kind}*")], code
