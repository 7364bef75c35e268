"""Which launches run together across files."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from swa_lint.geometry import Const, Location, Role
from swa_lint.project.deployments import group
from swa_lint.sources.facts import FileFacts, Launch, Setting
from swa_lint.sources.yaml import read

POD = """\
kind: Pod
metadata: {{name: {name}}}
spec:
  containers:
    - name: server
      image: e
      args: [--model-path, /m, --disaggregation-mode, {role}, --page-size, "{page}"]
"""


def pod(role: str, page: int = 64, name: str = "") -> str:
    return POD.format(role=role, page=page, name=name or f"app-{role}")


def grouped(root: Path, files: dict[str, str]) -> set[frozenset[tuple[str, str, str]]]:
    """The deployments with both roles: (path, role, page size) of their launches."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    facts = [read(path, text, root=root) for path, text in files.items()]
    found: dict[str, list[Launch]] = defaultdict(list)
    for file in group(facts, root):
        for launch in file.launches:
            found[launch.deployment].append(launch)
    return {
        frozenset((item.where.path, item.role.value, page(item)) for item in items)
        for items in found.values()
        if {Role.PREFILL, Role.DECODE} <= {item.role for item in items}
    }


def page(launch: Launch) -> str:
    found = launch.get("page_size")
    return str(found.value) if found else ""


def pair(prefill: str, decode: str, pages: tuple[int, int] = (64, 64)) -> frozenset[tuple[str, str, str]]:
    return frozenset({(prefill, "prefill", str(pages[0])), (decode, "decode", str(pages[1]))})


def test_kustomize_tree(tmp_path: Path) -> None:
    files = {
        "k/kustomization.yaml": "resources: [one.yaml, two.yaml]\n",
        "k/one.yaml": pod("prefill"),
        "k/two.yaml": pod("decode"),
        "k/three.yaml": pod("decode", 32),
    }
    assert grouped(tmp_path, files) == {pair("k/one.yaml", "k/two.yaml")}


def test_kustomize_folders_under_one_root(tmp_path: Path) -> None:
    files = {
        "k/kustomization.yaml": "resources:\n- ./a\n- ./b\n",
        "k/a/kustomization.yaml": "resources: [server.yaml]\n",
        "k/a/server.yaml": pod("prefill"),
        "k/b/kustomization.yaml": "resources: [server.yaml]\n",
        "k/b/server.yaml": pod("decode", 32),
    }
    assert grouped(tmp_path, files) == {pair("k/a/server.yaml", "k/b/server.yaml", (64, 32))}


def test_overlays_borrow_from_their_base_and_stay_apart(tmp_path: Path) -> None:
    overlay = "resources: [../../base]\npatches:\n  - path: patch.yaml\n    target: {kind: Pod}\n"
    files = {
        "base/kustomization.yaml": "resources: [p.yaml, d.yaml]\n",
        "base/p.yaml": pod("prefill"),
        "base/d.yaml": pod("decode"),
        "overlays/east/kustomization.yaml": overlay,
        "overlays/east/patch.yaml": pod("decode", 32),
        "overlays/west/kustomization.yaml": overlay,
        "overlays/west/patch.yaml": pod("decode", 16),
    }
    assert grouped(tmp_path, files) == {
        pair("base/p.yaml", "base/d.yaml"),
        pair("base/p.yaml", "overlays/east/patch.yaml", (64, 32)),
        pair("base/p.yaml", "overlays/west/patch.yaml", (64, 16)),
    }


def test_overlay_that_patches_both_roles_is_whole(tmp_path: Path) -> None:
    files = {
        "base/kustomization.yaml": "resources: [all.yaml]\n",
        "base/all.yaml": pod("prefill") + "---\n" + pod("decode"),
        "over/kustomization.yaml": "bases: [../base]\npatchesStrategicMerge: [p.yaml, d.yaml]\n",
        "over/p.yaml": pod("prefill", 32),
        "over/d.yaml": pod("decode", 16),
    }
    assert grouped(tmp_path, files) == {
        pair("base/all.yaml", "base/all.yaml"),
        pair("over/p.yaml", "over/d.yaml", (32, 16)),
    }


@pytest.mark.parametrize(
    "text", ["resources: [../k]\n", "resources: [{}]\n", "a: [\n", "resources: [../../..]\n", "[]"]
)
def test_odd_kustomizations(tmp_path: Path, text: str) -> None:
    assert grouped(tmp_path, {"k/kustomization.yaml": text, "k/one.yaml": pod("prefill")}) == set()


def test_compose_override(tmp_path: Path) -> None:
    service = "python3 -m sglang.launch_server --disaggregation-mode {0} --page-size {1}"
    base = "services:\n  p: {image: e, command: " + service.format("prefill", 64) + "}\n"
    base += "  d: {image: e, command: " + service.format("decode", 64) + "}\n"
    override = "services:\n  d: {image: e, command: " + service.format("decode", 32) + "}\n"
    files = {"c/compose.yaml": base, "c/compose.override.yaml": override, "other/compose.yaml": override}
    assert pair("c/compose.yaml", "c/compose.override.yaml", (64, 32)) in grouped(tmp_path, files)
    assert len(grouped(tmp_path, files)) == 2


def test_chart_templates_and_values(tmp_path: Path) -> None:
    files = {
        "chart/Chart.yaml": "name: x\n",
        "chart/templates/one.yaml": pod("prefill"),
        "chart/templates/two.yaml": pod("decode", 32),
        "chart/values.yaml": "sglang:\n  prefill: {extraArgs: [--page-size, '8']}\n  decode: {extraArgs: [--page-size, '4']}\n",
        "chart/values-big.yaml": "sglang:\n  decode: {extraArgs: [--disaggregation-mode=decode, --page-size, '2']}\n",
    }
    found = grouped(tmp_path, files)
    assert pair("chart/templates/one.yaml", "chart/templates/two.yaml", (64, 32)) in found
    assert pair("chart/values.yaml", "chart/values.yaml", (8, 4)) in found


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("prefill.yaml", "decode.yaml"),
        ("run-prefill.yaml", "run-decode.yaml"),
        ("prefill/server.yaml", "decode/server.yaml"),
        ("a/prefillWorker.yaml", "a/decodeWorker.yaml"),
        ("a/prefill.yaml", "a/decode.yml"),
    ],
)
def test_siblings_named_by_role(tmp_path: Path, one: str, two: str) -> None:
    assert grouped(tmp_path, {one: pod("prefill"), two: pod("decode", 32)}) == {pair(one, two, (64, 32))}


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("a/prefill.yaml", "b/decode.yaml"),
        ("one-prefill.yaml", "two-decode.yaml"),
        ("server1.yaml", "server2.yaml"),
        ("decode.yaml", "prefill.yaml"),
    ],
)
def test_files_that_nothing_joins(tmp_path: Path, one: str, two: str) -> None:
    assert grouped(tmp_path, {one: pod("prefill"), two: pod("decode", 32)}) == set()


def test_alternatives_of_one_role_are_not_paired(tmp_path: Path) -> None:
    files = {"prefill.yaml": pod("prefill"), "prefill.yml": pod("prefill", 32), "decode.yml": pod("decode")}
    assert grouped(tmp_path, files) == {pair("prefill.yml", "decode.yml", (32, 64))}
    files = {"b/prefill.yml": pod("prefill"), "b/prefill.yaml": pod("prefill", 32), "b/decode.json": pod("decode")}
    assert grouped(tmp_path, files) == set()


def test_several_apps_of_one_manifest_pair_by_name(tmp_path: Path) -> None:
    documents = [pod("prefill", 64, "a-prefill"), pod("decode", 64, "a-decode")]
    documents += [pod("prefill", 16, "b-prefill"), pod("decode", 8, "b-decode")]
    assert grouped(tmp_path, {"all.yaml": "---\n".join(documents)}) == {
        pair("all.yaml", "all.yaml", (16, 8)),
        pair("all.yaml", "all.yaml"),
    }


def test_config_files_join_the_launch_that_names_them(tmp_path: Path) -> None:
    config = "model-path: /m\npage-size: 64\ndisaggregation-mode: decode\nspeculative-algorithm: EAGLE\n"
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/decode.yaml").write_text(config)
    where = Location("conf/start.sh", 1, 1, 1, 9)
    named = Setting("config", Const("decode.yaml"), where, "decode.yaml")
    own = Setting("page_size", Const("32"), where, "32")
    start = FileFacts("conf/start.sh", launches=(Launch(where, (named, own), "conf/start.sh", "shell"),))
    script, standalone = group([start, read("conf/decode.yaml", config)], tmp_path)
    (launch,) = script.launches
    assert launch.role is Role.DECODE and script.depends == ("conf/decode.yaml",)
    last = launch.get("page_size")
    assert last is own and launch.settings[1].where.path == "conf/decode.yaml"
    assert standalone.launches == ()


def test_files_without_roles_come_back_as_they_are(tmp_path: Path) -> None:
    files = (FileFacts("a.py"), read("b.yaml", "args: [--model-path, m, --speculative-algorithm, EAGLE]"))
    assert group(files, tmp_path) == files
    assert group(files) == files
