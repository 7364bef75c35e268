"""YAML launch files: what is read, at which exact place, and what edits at these places leave behind."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from swa_lint.geometry import Const, Knob, Location, Role, Unknown
from swa_lint.sources.facts import FileFacts, Launch, Setting
from swa_lint.sources.yaml import config_settings, read


def facts(text: str, path: str = "deploy/app.yaml", root: Path | None = None) -> FileFacts:
    return read(path, textwrap.dedent(text), root=root)


def launches(text: str, path: str = "deploy/app.yaml", root: Path | None = None) -> tuple[Launch, ...]:
    found = facts(text, path, root)
    assert found.problems == ()
    return found.launches


def offsets(text: str, where: Location) -> tuple[int, int]:
    lines = text.splitlines(keepends=True)
    starts = [sum(len(line) for line in lines[:number]) for number in range(len(lines) + 1)]
    return starts[where.line - 1] + where.column - 1, starts[where.end_line - 1] + where.end_column - 1


def cut(text: str, where: Location | None) -> str:
    assert where is not None
    start, end = offsets(text, where)
    return text[start:end]


def replaced(text: str, where: Location | None, new: str) -> str:
    assert where is not None
    start, end = offsets(text, where)
    return text[:start] + new + text[end:]


def setting(launch: Launch, name: str = "page_size") -> Setting:
    found = launch.get(name)
    assert found is not None
    return found


def inserted(text: str, launch: Launch) -> str:
    assert launch.insertion is not None
    template = launch.insertion.template
    for name, value in (("{flag}", "--page-size"), ("{key}", "page-size"), ("{field}", "page_size"), ("{value}", "96")):
        template = template.replace(name, value)
    return replaced(text, launch.insertion.where, template)


MANIFEST = textwrap.dedent(
    """\
    # servers of the shop
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: shop-prefill
    spec:
      template:
        spec:
          containers:
            - name: engine
              image: example.com/engine:1
              command: [python3, -m, sglang.launch_server]
              args:
                - --model-path
                - /models/shop
                - --disaggregation-mode
                - prefill
                - --page-size  # tokens
                - "64"
                - --port=8000
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata:
      name: shop-decode
    spec:
      template:
        spec:
          containers:
            - name: engine
              image: example.com/engine:1
              command: [python3, -m, sglang.launch_server]
              args: ["--model-path", "/models/shop", "--disaggregation-mode=decode", "--page-size", 32]
    """
)


def test_manifest_has_both_roles_with_exact_places() -> None:
    prefill, decode = launches(MANIFEST)
    assert (prefill.role, decode.role) == (Role.PREFILL, Role.DECODE)
    assert prefill.deployment == decode.deployment == "deploy/app.yaml"
    page = setting(prefill)
    assert page.value == Const("64") and page.text == "64"
    assert cut(MANIFEST, page.where).startswith("--page-size  # tokens\n") and cut(MANIFEST, page.value_where) == "64"
    assert (page.where.line, page.where.end_line) == (18, 19)
    page = setting(decode)
    assert cut(MANIFEST, page.where) == '--page-size", 32' and cut(MANIFEST, page.value_where) == "32"
    assert cut(MANIFEST, setting(decode, "disaggregation_mode").value_where) == "decode"


def test_removal_and_insertion_keep_the_manifest_well_formed() -> None:
    for index in (0, 1):
        launch = launches(MANIFEST)[index]
        without = replaced(MANIFEST, setting(launch).removal, "")
        again = launches(without)[index]
        assert again.get("page_size") is None and len(again.settings) == len(launch.settings) - 1
        more = launches(inserted(without, again))[index]
        assert setting(more).value == Const("96") and len(more.settings) == len(launch.settings)


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("args: [--page-size, 64, --disaggregation-mode, decode, --model-path, m]", "[--disaggregation-mode"),
        ("args: [--disaggregation-mode, decode, --model-path, m, --page-size=64]", "--model-path, m]"),
        ('args: "--disaggregation-mode decode --page-size 64 --model-path m"', '"--disaggregation-mode decode --model'),
        (
            "args:\n  - --disaggregation-mode decode --page-size 64\n  - --model-path m",
            "- --disaggregation-mode decode\n",
        ),
        ("args:\n  - --disaggregation-mode=decode\n  - --model-path=m\n  - --page-size 64", "--model-path=m\n"),
        ("args: >-\n  --disaggregation-mode decode\n  --page-size 64\n  --model-path m", "decode\n  --model-path m"),
        ("args: |\n  --disaggregation-mode decode\n  --page-size 64\n  --model-path m\n", "decode\n  --model-path m"),
    ],
)
def test_every_style_of_arguments(body: str, left: str) -> None:
    text = f"worker:\n{textwrap.indent(body, '  ')}\n"
    (launch,) = launches(text)
    page = setting(launch)
    assert page.value == Const("64") and cut(text, page.value_where) == "64"
    without = replaced(text, page.removal, "")
    assert textwrap.indent(left, "  ").strip() in without
    (again,) = launches(without)
    assert [s.name for s in again.settings] == ["disaggregation_mode", "model_path"]
    (more,) = launches(inserted(without, again))
    assert setting(more).value == Const("96")


@pytest.mark.parametrize("style", ["|", ">-", "|2"])
def test_shell_blocks_are_read_in_place(style: str) -> None:
    script = """\
      exec python3 -m sglang.launch_server \\
        --model-path m \\
        --disaggregation-mode decode \\
        --page-size 64 \\
        --port 1
"""
    if style == ">-":
        script = script.replace(" \\", "").replace("        --", "      --")
    if style == "|2":
        style = "|2"
        script = "  # launch\n" + script.replace("      ", "  ", 1).replace("        --", "    --")
        text = f"a:\n  command: [/bin/sh, -c]\n  args:\n  - {style}\n" + textwrap.indent(script, "  ")
    else:
        text = f"a:\n  command: [/bin/sh, -c]\n  args:\n    - {style}\n{script}"
    (launch,) = launches(text)
    page = setting(launch)
    assert cut(text, page.where) == "--page-size 64" and cut(text, page.value_where) == "64"
    assert launch.role is Role.DECODE and launch.language == "yaml"
    without = replaced(text, page.removal, "")
    YAML(typ="safe").load(without)
    (again,) = launches(without)
    assert [s.name for s in again.settings] == ["model_path", "disaggregation_mode"]
    (more,) = launches(inserted(without, again))
    assert setting(more).value == Const("96")


@pytest.mark.parametrize(
    "command",
    [
        '''"bash -lc 'python3 -m sglang.launch_server --page-size 64'"''',
        '''bash -lc "python3 -m sglang.launch_server --page-size 64"''',
        "'sh -c ''python3 -m sglang.launch_server --page-size 64'''",
        '"exec python3 -m \\\n     sglang.launch_server\n     --page-size 64"',
    ],
)
def test_command_strings_with_quotes(command: str) -> None:
    text = f"server:\n  command: {command}\n"
    (launch,) = launches(text)
    assert cut(text, setting(launch).where) == "--page-size 64" and cut(text, setting(launch).value_where) == "64"


def test_anchor_shared_by_both_roles_is_one_place() -> None:
    text = """\
    shared: &args
      page: &page "64"
    prefill:
      command: &cmd [python3, -m, sglang.launch_server]
      args: [--disaggregation-mode, prefill, --page-size, *page]
    decode:
      command: *cmd
      args: [--disaggregation-mode, decode, --page-size, *page]
    """
    prefill, decode = launches(text)
    assert setting(prefill).value_where == setting(decode).value_where
    assert setting(prefill).value_where == Location("deploy/app.yaml", 2, 16, 2, 18)
    assert setting(prefill).removal is None


def test_merge_keys_keep_the_place_of_the_original() -> None:
    text = """\
    base: &base
      image: lmsysorg/sglang:1
      command: [python3, -m, sglang.launch_server, --page-size, "64"]
    prefill:
      <<: *base
      args: [--disaggregation-mode, prefill]
    decode:
      <<: [*base]
      args: [--disaggregation-mode, decode]
    """
    found = [launch for launch in launches(text) if launch.role is not Role.UNKNOWN]
    assert [setting(launch).where.line for launch in found] == [3, 3]


def test_variables_of_the_container_and_of_config_maps() -> None:
    text = """\
    kind: ConfigMap
    metadata: {name: sizes}
    data:
      PAGE: "16"
    ---
    kind: Pod
    spec:
      containers:
        - name: a
          command: [python3, -m, sglang.launch_server]
          env:
            - name: MODE
              value: decode
            - {name: SGLANG_DFLASH_DRAFT_PAGE_SIZE, value: "8"}
          envFrom: [{configMapRef: {name: sizes}}]
          args: [--disaggregation-mode=$(MODE), --page-size, $(PAGE), --dcp-size, "${DCP:-2}", --tp, $(OTHER)]
        - name: b
          command: [sh, -c]
          args: ["exec python3 -m sglang.launch_server --page-size $PAGE"]
          envFrom: [{configMapRef: {name: sizes}}]
    """
    first, second = launches(text)
    assert first.role is Role.DECODE
    assert setting(first).value == Const("16") and [hop.where.line for hop in setting(first).via] == [4]
    assert setting(first, "dcp_size").value == Knob("DCP", Const("2"))
    assert setting(first, "tp_size").value == Knob("OTHER")
    draft = setting(first, "speculative_draft_page_size")
    text = textwrap.dedent(text)
    assert draft.value == Const("8") and cut(text, draft.value_where) == "8"
    assert "DRAFT" not in replaced(text, draft.removal, "")
    assert setting(second).value == Const("16")


def test_compose_strings_lists_entrypoints_and_extends(tmp_path: Path) -> None:
    (tmp_path / "common.yaml").write_text(
        "services:\n  engine:\n    image: e:1\n    entrypoint: [python3, -m, sglang.launch_server, --page-size, '16']\n"
    )
    text = """\
    x-env: &env
      SGLANG_DFLASH_DRAFT_PAGE_SIZE: "8"
    services:
      prefill:
        image: lmsysorg/sglang:1
        environment: *env
        entrypoint: python3 -m sglang.launch_server
        command: >
          --disaggregation-mode prefill
          --page-size "${PAGE_SIZE:-64}"
      decode:
        extends: prefill
        command: ["--disaggregation-mode", "decode", "--page-size=32"]
      spare:
        extends: {file: common.yaml, service: engine}
        environment: [SGLANG_DFLASH_DRAFT_PAGE_SIZE=4]
        command: --disaggregation-mode decode
      database:
        image: postgres
        command: --page-size 8192
    """
    found = facts(text, "compose.yaml", tmp_path)
    prefill, decode, spare = found.launches
    assert setting(prefill).value == Knob("PAGE_SIZE", Const("64")) and setting(decode).value == Const("32")
    assert setting(decode, "speculative_draft_page_size").value == Const("8")
    assert (decode.where.line, decode.where.end_line) == (11, 13)
    assert setting(spare).where.path == "common.yaml" and found.depends == ("common.yaml",)
    assert setting(spare, "speculative_draft_page_size").value == Const("4")


def test_compose_service_environment_does_not_fill_the_command() -> None:
    text = """\
    services:
      one:
        image: lmsysorg/sglang
        environment: {PAGE: "16"}
        command: python3 -m sglang.launch_server --page-size ${PAGE:-64}
      two:
        image: lmsysorg/sglang
        environment: {PAGE: "16"}
        command: bash -c "python3 -m sglang.launch_server --page-size $$PAGE"
    """
    one, two = launches(text, "compose.yaml")
    assert setting(one).value == Knob("PAGE", Const("64"))
    assert setting(two).value == Const("16")


def test_recipe_of_settings_by_role() -> None:
    text = """\
    backend:
      type: sglang
      sglang_config:
        common:
          model-path: /m
          dcp_size: 2
        prefill:
          page-size: 64
          tp-size: 4
        decode: {page_size: 32, tp_size: 8}
    """
    prefill, decode = launches(text)
    assert (prefill.role, decode.role) == (Role.PREFILL, Role.DECODE)
    assert setting(prefill, "dcp_size").where == setting(decode, "dcp_size").where
    text = textwrap.dedent(text)
    for index, launch in enumerate((prefill, decode)):
        page = setting(launch)
        assert cut(text, page.where) in ("page-size: 64", "page_size: 32")
        without = replaced(text, page.removal, "")
        again = launches(without)[index]
        assert again.get("page_size") is None
        assert setting(launches(inserted(without, again))[index]).value == Const("96")


def test_chart_values_by_role() -> None:
    text = """\
    image: {repository: lmsysorg/sglang, tag: v1}
    commonArgs: [--model-path, /m]
    prefill:
      replicas: 2
      extraArgs:
        - --page-size
        - "64"
    decode:
      extraArgs: ["--page-size=32"]
    """
    prefill, decode = [launch for launch in launches(text, "chart/values.yaml") if launch.role is not Role.UNKNOWN]
    assert (prefill.role, decode.role) == (Role.PREFILL, Role.DECODE)
    assert (setting(prefill).value, setting(decode).value) == (Const("64"), Const("32"))
    assert setting(decode, "model_path").value == Const("/m")


def test_names_are_no_roles_beside_a_server_that_has_the_role() -> None:
    text = """\
    services:
      prefill: {image: s, command: python3 -m sglang.launch_server --disaggregation-mode prefill --page-size 64}
      decode: {image: s, command: python3 -m sglang.launch_server --disaggregation-mode decode --page-size 64}
      decode-reference: {image: s, command: python3 -m sglang.launch_server --page-size 1}
    """
    assert [launch.role for launch in launches(text)] == [Role.PREFILL, Role.DECODE, Role.UNKNOWN]


def test_template_is_read_as_far_as_it_parses(tmp_path: Path) -> None:
    (tmp_path / "chart/templates").mkdir(parents=True)
    (tmp_path / "chart/values.yaml").write_text("decode:\n  pageSize: 32\n")
    text = textwrap.dedent(
        """\
        {{- if .Values.decode.enabled }}
        kind: Deployment
        metadata:
          name: {{ .Release.Name }}-decode
          labels:
            {{- include "app.labels" . | nindent 4 }}
        spec:
          containers:
            - name: server
              image: "{{ .Values.image }}"
              command: [python3, -m, sglang.launch_server]
              args:
                - --disaggregation-mode
                - decode
                - --page-size={{ .Values.decode.pageSize }}
                - --tp-size
                - {{ .Values.tp | default 8 | quote }}
                {{- if .Values.big }}
                - --dcp-size
                - "2"
                {{- end }}
                {{- toYaml .Values.extra | nindent 12 }}
        {{- end }}
        """
    )
    found = read("chart/templates/decode.yaml", text, root=tmp_path)
    (launch,) = found.launches
    assert found.problems == () and found.depends == ("chart/values.yaml",)
    assert launch.role is Role.DECODE and launch.open
    assert setting(launch).value == Knob(".Values.decode.pageSize", Const("32"))
    assert cut(text, setting(launch).value_where) == "{{ .Values.decode.pageSize }}"
    assert setting(launch, "tp_size").value == Knob(".Values.tp", Const("8"))
    assert isinstance(setting(launch, "dcp_size").value, Unknown)


def test_template_that_is_no_yaml_is_skipped_with_a_note() -> None:
    found = facts("sglang: [\n{{ if x }}\n  - }}{{ y }}\n")
    assert found.launches == () and [problem.skipped for problem in found.problems] == [True]


def test_workflow_steps_run_on_their_own() -> None:
    text = """\
    on: push
    jobs:
      test:
        steps:
          - run: python3 -m sglang.launch_server --disaggregation-mode prefill --page-size 64
          - name: other
            run: |
              python3 -m sglang.launch_server --disaggregation-mode decode \\
                --page-size 32 &
    """
    one, two = launches(text, ".github/workflows/test.yml")
    assert one.deployment != two.deployment
    assert cut(textwrap.dedent(text), setting(two).where) == "--page-size 32"


def test_config_map_with_a_script() -> None:
    text = """\
    kind: ConfigMap
    metadata: {name: scripts}
    data:
      start.sh: |
        #!/bin/bash
        python3 -m sglang.launch_server --disaggregation-mode decode --page-size 32
    """
    (launch,) = launches(text)
    assert cut(textwrap.dedent(text), setting(launch).value_where) == "32"


def test_leader_and_worker_of_one_set() -> None:
    part = "spec: {containers: [{name: c, image: x, args: [--model-path, m, --disaggregation-mode, prefill]}]}"
    text = f"kind: LeaderWorkerSet\nspec:\n  leaderWorkerTemplate:\n    leaderTemplate:\n      {part}\n    workerTemplate:\n      {part}\n"
    found = launches(text)
    assert [launch.role for launch in found] == [Role.PREFILL, Role.PREFILL]
    assert {launch.deployment for launch in found} == {"deploy/app.yaml"}


def test_config_file_of_the_engine() -> None:
    text = "model-path: /m\npage-size: 64\nspeculative-algorithm: EAGLE\nspeculative-draft-page-size: 32\n"
    (launch,) = launches(text)
    assert setting(launch, "speculative_draft_page_size").value == Const("32")
    names = [item.name for item in config_settings("c.yaml", "page_size: 64\nother: 1\nmodel: [x]\n")]
    assert names == ["page_size"]


@pytest.mark.parametrize(
    "text",
    [
        "services:\n  a:\n    image: vllm/vllm-openai\n    command: --model m --page-size 64 --speculative-algorithm x\n",
        "a:\n  command: [vllm, serve, m, --page-size, '64']  # not sglang\n",
        "engine: tensorrt_llm\nprefill: {extraArgs: [--page-size, '64']}\n# like sglang\n",
        "args: [--page-size, '64']\n# sglang and vllm\n",
        "pagination:\n  page_size: 50\nnote: unlike sglang or vllm\n",
        "services:\n  router:\n    image: lmsysorg/sglang\n    command: python3 -m sglang_router.launch_router --page-size 4\n",
        "vllm:\n  prefill: {page-size: 64}\n  decode: {page-size: 32}\nsglang: {}\n",
    ],
)
def test_other_programs_are_silent(text: str) -> None:
    assert launches(text) == ()


def test_what_does_not_parse_is_a_problem_at_its_place() -> None:
    for text, line in [("sglang:\n\t- a\n", 2), ('sglang: "x\n', 2), ("sglang: [a\n", 2), ("x: sglang\n y: 2\n", 2)]:
        found = facts(text)
        assert [problem.skipped for problem in found.problems] == [False]
        assert found.problems[0].where.line == line
    assert facts("other:\n\t- a\n") == FileFacts("deploy/app.yaml")
    assert facts("a: sglang\na: sglang\n").problems == ()


def test_one_bad_document_leaves_the_others_readable() -> None:
    found = facts(MANIFEST + "---\nsglang: [\n")
    assert len(found.launches) == 2 and len(found.problems) == 1


def test_aliases_cannot_explode() -> None:
    lines = ["sglang: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    started = time.perf_counter()
    found = facts("\n".join(lines))
    assert time.perf_counter() - started < 5
    assert [problem.skipped for problem in found.problems] == [True]
    assert facts("sglang: &a [*a]\n").launches == ()


def test_large_and_deep_files_are_skipped_or_refused() -> None:
    assert [p.skipped for p in facts("sglang: x\n" * 200_000).problems] == [True]
    assert len(facts("sglang: " + "[" * 5000).problems) == 1


def test_windows_line_ends() -> None:
    text = MANIFEST.replace("\n", "\r\n")
    prefill, _ = read("a.yaml", text).launches
    start, end = offsets(text, setting(prefill).removal)  # type: ignore[arg-type]
    assert text[start:end].endswith('"64"\r\n')
    assert setting(prefill).where.line == 18


def test_irrelevant_files_cost_next_to_nothing() -> None:
    text = MANIFEST.replace("sglang.launch_server", "http.server").replace("--disaggregation-mode", "--mode") * 3
    started = time.perf_counter()
    for _ in range(5000):
        assert read("a.yaml", text).launches == ()
    assert time.perf_counter() - started < 1.5


PIECES = [
    *("sglang", "args:", "- --page-size", ' "64"', "'", '"', "[", "]", "{", "}", ": ", "\n", "\n  ", "\t", "&a", "*a"),
    *(
        "<<:",
        "|",
        ">",
        "command: [sh, -c]",
        "--disaggregation-mode decode",
        "---\n",
        "{{ x }}",
        "{%",
        "\\",
        "$(X)",
        "#",
    ),
    *("services:", "jobs:", "prefill:", "decode:", "extends:", "env:", "é", "\r\n", "!!str ", "? "),
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=25).map("".join))
def test_no_text_crashes_it(text: str) -> None:
    for launch in read("a.yaml", "sglang: &s x\n" + text).launches:
        for item in launch.settings:
            assert item.where.line >= 1 and (item.where.end_line, item.where.end_column) >= (
                item.where.line,
                item.where.column,
            )


def test_flags_in_a_variable_have_their_own_places() -> None:
    text = textwrap.dedent(
        """\
        containers:
          - name: decode
            env:
              - name: EXTRA
                value: "--disaggregation-mode decode --page-size 32"
            command: [bash, -c, "python3 -m sglang.launch_server --model-path m $EXTRA"]
        """
    )
    (launch,) = launches(text)
    assert launch.role is Role.DECODE and launch.name == "containers/decode"
    assert cut(text, setting(launch).value_where) == "32"
    assert "decode --page-size 96" in replaced(text, setting(launch).value_where, "96")


def test_items_of_a_list_tell_roles_by_their_names() -> None:
    text = """\
    roles:
      - name: prefill
        template: {image: lmsysorg/sglang, args: [--page-size, "64"]}
      - name: decode
        template: {image: lmsysorg/sglang, args: [--page-size, "32"]}
    """
    assert [launch.role for launch in launches(text)] == [Role.PREFILL, Role.DECODE]


def test_comments_behind_a_block_are_no_part_of_it() -> None:
    text = textwrap.dedent(
        """\
        server:
          command: |
            # first
            python3 -m sglang.launch_server --disaggregation-mode decode

          # nothing
          # of it
        other: 1
        """
    )
    (launch,) = launches(text)
    assert setting(launches(inserted(text, launch))[0]).value == Const("96")
    assert "decode --page-size 96\n" in inserted(text, launch)
    text = (
        "a:\n  prefill: &p {page_size: 1, disaggregation_mode: prefill}\n  decode:\n    disaggregation_mode: decode\n"
    )
    text += "    model_path: |\n      /m\n  # end\n"
    assert inserted(text, launches(text)[1]).endswith("      /m\n    page_size: 96\n  # end\n")
