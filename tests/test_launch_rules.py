"""Rules over launches, SWA301-SWA307, and the override JSON of two roles, on launches made by hand."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from swa_lint.cli import run
from swa_lint.finding import Applicability, Drop, Finding, Replace, Severity
from swa_lint.geometry import Choice, Const, Knob, Location, Role, Symbol, Unknown, Value
from swa_lint.project.launch_json import JsonConflict, json_conflicts, window_in_json
from swa_lint.rules.registry import all_rules
from swa_lint.sources.facts import FileFacts, Hop, Insertion, Launch, ModelConfig, ProjectFacts, Setting
from swa_lint.sources.hf_config import read_config

V4 = "deepseek-ai/DeepSeek-V4-Flash"
_lines = itertools.count(10, 10)


def setting(name: str, value: Any, line: int, text: str | None = None, **more: Any) -> Setting:
    """A setting on a line of its own; plain values become constants."""
    known: Value = value if isinstance(value, (Const, Knob, Choice, Symbol, Unknown)) else Const(value)
    written = text or str(value if isinstance(value, (str, int)) else known)
    where = Location("run.sh", line, 3, line, 40)
    more = {"value_where": Location("run.sh", line, 15, line, 40), "removal": where, **more}
    return Setting(name, known, where, written, **more)


def server(
    role: Role = Role.UNKNOWN, *, deployment: str = "run.sh", open: bool = False, language: str = "shell", **flags: Any
) -> Launch:
    """A launch with `flags` set; a Setting goes in as it is."""
    line = next(_lines)
    made = []
    for offset, (name, value) in enumerate(flags.items(), start=1):
        made.append(value if isinstance(value, Setting) else setting(name, value, line + offset))
    where = Location("run.sh", line, 1, line + 9, 1)
    end = Location("run.sh", line + 9, 1, line + 9, 1)
    insertion = Insertion(end, " {flag} {value}")
    return Launch(where, tuple(made), deployment, language, role, insertion, open)


def prefill(**flags: Any) -> Launch:
    return server(Role.PREFILL, **flags)


def decode(**flags: Any) -> Launch:
    return server(Role.DECODE, **flags)


def facts(*launches: Launch, configs: tuple[ModelConfig, ...] = (), version: str | None = None) -> ProjectFacts:
    return ProjectFacts((FileFacts("run.sh", launches=launches, configs=configs),), sglang_version=version)


def check(code: str, *launches: Launch, **more: Any) -> list[Finding]:
    return list(all_rules()[code][1](facts(*launches, **more)))


def codes(*launches: Launch, **more: Any) -> list[str]:
    """The codes of all launch rules that are on by default."""
    return [
        finding.code
        for code, (rule, run) in all_rules().items()
        if code.startswith("SWA3") and rule.default
        for finding in run(facts(*launches, **more))
    ]


def replaced(finding: Finding) -> list[str]:
    assert finding.remedy is not None
    return [change.text for change in finding.remedy.changes if isinstance(change, Replace)]


def test_301_sits_on_decode_and_names_both_values() -> None:
    left, right = prefill(page_size="64"), decode(page_size="32")
    (found,) = check("SWA301", left, right)
    assert found.where == right.settings[0].where
    assert found.target is not None and found.draft is not None
    assert (found.target.value, found.draft.value) == ("64", "32")
    assert [related.where for related in found.related] == [left.settings[0].where]
    assert "32" in found.message and "64" in found.message
    assert replaced(found) == ["64"]
    assert codes(left, right) == ["SWA301"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("64", 64),
        (Knob("PAGE", Const("64")), "64"),
        (Knob("A", Const("64")), Knob("B", Const(64))),
        (Knob("PAGE"), Knob("PAGE")),
        (Knob("PAGE"), "64"),
        (Unknown("$1"), "64"),
        (Unknown("$1"), Unknown("$2")),
        (Symbol("args.page_size"), Symbol("args.page_size")),
        (Choice((Const(32), Const(64))), 64),
    ],
)
def test_equal_or_unknown_pages_are_silent(one: Any, other: Any) -> None:
    assert codes(prefill(page_size=one), decode(page_size=other)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Knob("PAGE", Const("64")), "16"),
        (Knob("PAGE", Const("64")), Knob("PAGE", Const("32"))),
        (Knob("PAGE", Knob("OTHER", Const(64))), 16),
        (Choice((Const(32), Const(64))), 16),
    ],
)
def test_defaults_are_compared(one: Any, other: Any) -> None:
    assert codes(prefill(page_size=one), decode(page_size=other)) == ["SWA301"]


def test_only_one_deployment_and_two_roles_are_related() -> None:
    assert codes(prefill(page_size=64, deployment="a"), decode(page_size=32, deployment="b")) == []
    assert codes(decode(page_size=64), decode(page_size=32)) == []
    assert codes(server(page_size=64), server(page_size=32)) == []


def test_several_of_one_role_must_agree() -> None:
    three = [prefill(page_size=64), decode(page_size=32), decode(page_size=32)]
    assert codes(*three) == ["SWA301", "SWA301"]
    assert codes(prefill(page_size=64), decode(page_size=64), decode(page_size=32)) == []


def test_servers_of_different_models_are_different_recipes() -> None:
    a, b = {"model_path": "/models/a"}, {"model_path": "/other/b/"}
    assert codes(prefill(page_size=64, **a), decode(page_size=32, **b)) == []
    found = check(
        "SWA301",
        *(
            make(page_size=page, **m)
            for m, pages in ((a, (64, 64)), (b, (64, 32)))
            for make, page in zip((prefill, decode), pages, strict=True)
        ),
    )
    assert len(found) == 1


def test_one_place_that_two_launches_share_is_told_once() -> None:
    shared = setting("page_size", "32", 7)
    assert codes(prefill(page_size=64), decode(page_size=shared), decode(page_size=shared)) == ["SWA301"]


def test_forced_sizes_are_no_mismatch() -> None:
    assert codes(prefill(model_path=V4, page_size=64), decode(model_path=V4, page_size=32)) == ["SWA304", "SWA304"]
    assert codes(prefill(model_path=V4, page_size=256), decode(model_path=V4)) == []
    mla = {"attention_backend": "trtllm_mla"}
    assert codes(prefill(page_size=1, **mla), decode(page_size=16, **mla)) == ["SWA304", "SWA304"]
    assert codes(prefill(page_size=64), decode(decode_attention_backend="flashmla")) == []


def test_a_local_config_tells_the_model() -> None:
    config = read_config("ckpt/config.json", '{"architectures": ["DeepseekV4ForCausalLM"]}')
    assert config is not None
    assert codes(server(model_path="./ckpt", page_size=64), configs=(config,)) == ["SWA304"]


def test_302_with_a_silent_decode_sits_on_its_launch() -> None:
    quiet = decode(model_path="/m")
    (found,) = check("SWA302", prefill(model_path="/m", page_size="64"), quiet)
    assert found.severity is Severity.WARNING
    assert found.where == quiet.where
    assert replaced(found) == [" --page-size 64"]
    assert found.remedy is not None and found.remedy.applicability is Applicability.UNSAFE
    assert quiet.insertion is not None and found.remedy.changes[0].where == quiet.insertion.where


def test_302_with_a_silent_prefill_sits_on_decodes_setting() -> None:
    quiet, loud = prefill(), decode(page_size="64")
    (found,) = check("SWA302", quiet, loud)
    assert found.where == loud.settings[0].where
    assert found.remedy is not None and quiet.insertion is not None
    assert found.remedy.changes[0].where == quiet.insertion.where


def test_302_inserts_into_one_prefill_once_for_many_decodes() -> None:
    found = check("SWA302", prefill(), decode(page_size=64), decode(page_size=64))
    assert [finding.remedy.applicability for finding in found if finding.remedy] == [
        Applicability.UNSAFE,
        Applicability.DISPLAY,
    ]


@pytest.mark.parametrize("page", ["1", Unknown("$1")])
def test_302_is_silent_on_the_default_and_on_what_is_not_known(page: Any) -> None:
    assert codes(prefill(page_size=page), decode()) == []


def test_302_is_silent_where_more_flags_may_follow() -> None:
    assert codes(prefill(page_size=64), decode(open=True)) == []
    assert codes(prefill(), decode()) == []


def test_302_is_only_shown_where_the_backend_would_replace_the_value() -> None:
    (found,) = check("SWA302", prefill(page_size=16), decode(attention_backend="flashmla"))
    assert found.remedy is not None and found.remedy.applicability is Applicability.DISPLAY
    assert found.draft is not None and found.draft.value == "64"


@pytest.mark.parametrize(
    ("text", "value", "language", "expected"),
    [
        ('"32"', "32", "yaml", ['"64"']),
        ("32", 32, "yaml", ["64"]),
        ("str(32)", "32", "python", ["str(64)"]),
        ("DECODE_PAGE", "32", "python", ['"64"']),
        ("DECODE_PAGE", 32, "python", ["64"]),
        ("str(options.page)", 32, "python", ["str(64)"]),
        ("page_of(role) + 0", 32, "python", []),
        ('"${PAGE:-32}"', Knob("PAGE", Const("32")), "shell", ['"${PAGE:-64}"']),
        ('"$PAGE"', "32", "shell", ["64"]),
        ("$(page)", "32", "shell", []),
    ],
)
def test_301_writes_the_value_as_decode_wrote_it(text: str, value: Any, language: str, expected: list[str]) -> None:
    right = decode(page_size=setting("page_size", value, 500, text), language=language)
    (found,) = check("SWA301", prefill(page_size="64", language=language), right)
    assert replaced(found) == expected


def test_301_shares_a_variable_that_the_script_sets_above() -> None:
    above = Hop(Location("run.sh", 2, 1, 2, 8), "PAGE is set here")
    left = prefill(page_size=setting("page_size", "64", 3, '"$PAGE"', via=(above,)))
    right = decode(model_path=setting("model_path", "/m", 800, '"$MODEL"'), page_size="32")
    assert replaced(check("SWA301", left, right)[0]) == ['"$PAGE"']
    left = prefill(page_size=setting("page_size", Knob("PAGE", Const("64")), 3, '"$PAGE"'))
    assert replaced(check("SWA301", left, right)[0]) == ['"$PAGE"']
    inside = Hop(Location("run.sh", 2, 5, 2, 12), "PAGE is set in a function")
    left = prefill(page_size=setting("page_size", "64", 3, '"$PAGE"', via=(inside,)))
    assert replaced(check("SWA301", left, right)[0]) == ["64"]


def fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> str:
    """A file after every fix."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    assert run(["check", "--no-cache", "--fix", "--unsafe-fixes", name]) == 0
    return Path(name).read_text()


_START = "python3 -m sglang.launch_server --disaggregation-mode"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        # A comment stays with its command, directives of a scheduler stay on top.
        (
            f"#!/bin/sh\n#SBATCH -N 2\n# First\n{_START} prefill --page-size '64' &\n{_START} decode --page-size=32\n",
            f'#!/bin/sh\n#SBATCH -N 2\nPAGE_SIZE=64\n# First\n{_START} prefill --page-size "$PAGE_SIZE" &\n'
            f'{_START} decode --page-size="$PAGE_SIZE"\n',
        ),
        # Inside quotes that expand, and above a function.
        (
            f'up() {{\n  A="prefill --page-size 64"\n  {_START} $A &\n  ssh b "{_START} decode --page-size 32"\n}}\nup\n',
            f'PAGE_SIZE=64\nup() {{\n  A="prefill --page-size $PAGE_SIZE"\n  {_START} $A &\n'
            f'  ssh b "{_START} decode --page-size $PAGE_SIZE"\n}}\nup\n',
        ),
        # A name that is taken.
        (
            f"PAGE_SIZE=8\n{_START} prefill --page-size 64 &\n{_START} decode --page-size 32\n",
            f'PAGE_SIZE=8\nKV_PAGE_SIZE=64\n{_START} prefill --page-size "$KV_PAGE_SIZE" &\n'
            f'{_START} decode --page-size "$KV_PAGE_SIZE"\n',
        ),
        # No variable is read in single quotes, nor in a here-document that is quoted.
        (
            f"{_START} prefill --page-size 64 &\nbash <<'E'\n{_START} decode --page-size 32\nE\n",
            f"{_START} prefill --page-size 64 &\nbash <<'E'\n{_START} decode --page-size 64\nE\n",
        ),
    ],
)
def test_301_hoists_two_literals_of_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, expected: str
) -> None:
    assert fixed(tmp_path, monkeypatch, "up.sh", script) == expected


_RECIPE = "backend: sglang\nprefill:\n  page-size: {}\ndecode:\n  page-size: {}\n"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("64", "32"), ("&page_size 64", "*page_size")),
        (("&mine 64", "32"), ("&mine 64", "*mine")),
        # Others may read decode's anchor.
        (("64", "&mine 32"), ("64", "&mine 64")),
        (("!!int 64", "32"), ("!!int 64", "64")),
    ],
)
def test_301_uses_an_anchor_in_one_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: tuple[str, str], expected: tuple[str, str]
) -> None:
    assert fixed(tmp_path, monkeypatch, "recipe.yaml", _RECIPE.format(*values)) == _RECIPE.format(*expected)


def test_301_keeps_to_one_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pod = "kind: Pod\nspec:\n  containers:\n  - args: [-m, sglang.launch_server, --disaggregation-mode, {}, --page-size, '{}']\n"
    before = pod.format("prefill", 64) + "---\n" + pod.format("decode", 32)
    assert fixed(tmp_path, monkeypatch, "pods.yaml", before) == before.replace("32", "64")


def test_301_does_not_edit_a_place_that_both_roles_share() -> None:
    here = Location("run.sh", 4, 9, 4, 12)
    left = prefill(page_size=setting("page_size", "64", 5, value_where=here))
    right = decode(page_size=setting("page_size", "32", 6, value_where=here))
    assert replaced(check("SWA301", left, right)[0]) == []


def test_303_is_an_error_where_both_are_known() -> None:
    launch = server(page_size=256, speculative_draft_page_size=1)
    (found,) = check("SWA303", launch)
    assert found.severity is Severity.ERROR
    assert found.where == launch.settings[1].where
    assert found.remedy is not None and found.remedy.applicability is Applicability.SAFE
    assert replaced(found) == [""]


@pytest.mark.parametrize("target", [{}, {"page_size": Knob("PAGE")}, {"page_size": Unknown("$(page)")}])
def test_303_is_a_warning_where_the_targets_is_not_known(target: dict[str, Any]) -> None:
    (found,) = check("SWA303", server(speculative_draft_page_size="32", **target))
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize(
    "flags",
    [
        {"page_size": "64", "speculative_draft_page_size": 64},
        {"page_size": Knob("P"), "speculative_draft_page_size": Knob("P")},
        {"page_size": Unknown("$P"), "speculative_draft_page_size": Unknown("$P")},
        {"page_size": "64", "speculative_draft_page_size": Unknown("$1")},
        {"model_path": V4, "page_size": 256, "speculative_draft_page_size": 32},
        {"attention_backend": "flashmla", "speculative_draft_page_size": 32},
        {"page_size": 64},
    ],
)
def test_303_is_silent(flags: dict[str, Any]) -> None:
    assert check("SWA303", server(**flags)) == []


def test_303_drops_python_bindings_by_place() -> None:
    launch = server(page_size=64, speculative_draft_page_size=32, language="python")
    (found,) = check("SWA303", launch)
    assert found.remedy is not None and found.remedy.changes == (Drop(launch.settings[1].where),)


def test_304_tells_what_is_used_and_why() -> None:
    (found,) = check("SWA304", server(attention_backend="trtllm_mla", page_size="16"))
    assert found.severity is Severity.INFO
    assert "64" in found.message and "trtllm_mla" in found.message
    assert found.remedy is not None and found.remedy.applicability is Applicability.DISPLAY


@pytest.mark.parametrize(
    "flags",
    [
        {"model_path": V4, "page_size": 256},
        {"model_path": V4, "page_size": 128, "device": "npu"},
        {"model_path": V4, "page_size": Unknown("$1")},
        {"model_path": V4},
        {"model_path": "/models/chat", "page_size": 64},
        {"attention_backend": "trtllm_mha", "page_size": 16},
        {"model_path": "deepseek-ai/DeepSeek-V3.2", "page_size": 1},
    ],
)
def test_304_is_silent(flags: dict[str, Any]) -> None:
    assert check("SWA304", server(**flags)) == []


def test_305_on_dcp_with_a_draft_under_pd() -> None:
    launch = decode(model_path=V4, speculative_algorithm="EAGLE", dcp_size="4")
    (found,) = check("SWA305", launch)
    assert found.where == launch.settings[2].where
    assert found.target is not None and found.draft is not None
    assert (found.target.value, found.draft.value) == ("256", "1024")
    assert "refuses" not in found.message
    (newer,) = check("SWA305", prefill(model_path="DeepSeek-V4.1", speculative_algorithm="DSPARK", dcp_size=2))
    assert "refuses" in newer.message


@pytest.mark.parametrize(
    ("make", "flags"),
    [
        (decode, {"dcp_size": 1}),
        (decode, {"dcp_size": 4, "speculative_algorithm": "NGRAM"}),
        (decode, {"dcp_size": 4, "model_path": "Qwen/Qwen3-8B"}),
        (decode, {"dcp_size": Unknown("$1")}),
        (server, {"dcp_size": 4}),
    ],
)
def test_305_is_silent(make: Any, flags: dict[str, Any]) -> None:
    assert check("SWA305", make(**{"model_path": V4, "speculative_algorithm": "EAGLE", **flags})) == []


def test_305_needs_a_draft_and_a_release_that_scales() -> None:
    assert check("SWA305", decode(model_path=V4, dcp_size=4)) == []
    assert check("SWA305", decode(model_path=V4, dcp_size=4, speculative_algorithm="EAGLE"), version="0.5.15") == []


def test_307_is_off_by_default_and_needs_a_native_window() -> None:
    assert not all_rules()["SWA307"][0].default
    flags = {"speculative_draft_window_size": "512"}
    assert [found.code for found in check("SWA307", server(model_path=V4, **flags))] == ["SWA307"]
    assert check("SWA307", server(model_path="/models/chat", **flags)) == []
    draft = read_config("d/config.json", '{"architectures": ["LlamaForCausalLMEagle3"], "sliding_window": 9}')
    assert draft is not None
    launch = server(model_path="/m", speculative_draft_model_path="d", **flags)
    assert check("SWA307", launch, configs=(draft,)) == []


def conflicts(left: dict[str, Any], right: dict[str, Any]) -> list[JsonConflict]:
    return list(json_conflicts(facts(prefill(**left), decode(**right))))


def override(text: str) -> dict[str, Any]:
    return {"json_model_override_args": setting("json_model_override_args", text, next(_lines), f"'{text}'")}


def test_override_json_of_two_roles_with_two_windows() -> None:
    (found,) = conflicts(override('{"sliding_window": 128}'), override('{"x": 1, "sliding_window": 4096}'))
    assert found.certain
    assert (found.prefill_window, found.decode_window) == (128, 4096)
    (change,) = found.remedy.changes
    assert isinstance(change, Replace) and change.text == """'{"x": 1, "sliding_window": 128}'"""
    assert change.where == found.decode.launch.settings[0].value_where


def test_override_json_on_one_side_only() -> None:
    (found,) = conflicts(override('{"text_config": {"sliding_window": 128}}'), {})
    assert not found.certain
    assert found.where == found.decode.launch.where
    assert found.remedy.changes == ()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (override('{"sliding_window": 128}'), override('{ "sliding_window":128, "x": 2}')),
        (override('{"x": 1}'), override('{"x": 2}')),
        (override('{"x": 1}'), {}),
        (override('{"sliding_window": 128}'), override("{not json}")),
        (override('{"sliding_window": 128}'), {"open": True}),
    ],
)
def test_override_json_that_does_not_part_the_roles(left: dict[str, Any], right: dict[str, Any]) -> None:
    assert conflicts(left, right) == []


def test_window_in_json() -> None:
    assert window_in_json('{"sliding_window": null, "window_size": 7}') == 7
    assert window_in_json('{"sliding_window": true}') is None
    with pytest.raises(ValueError, match="no JSON object"):
        window_in_json("[1]")
