"""Servers that Python code starts: which, in which role, with which settings, at which places."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from swa_lint.geometry import Choice, Const, Default, Knob, Location, Role
from swa_lint.sources.facts import Launch
from swa_lint.sources.launch import launch_role
from swa_lint.sources.python import read
from tests.project import write

SERVER = '"python3", "-m", "sglang.launch_server", "--model-path", model'


def launches(source: str) -> tuple[Launch, ...]:
    return read("run.py", textwrap.dedent(source)).launches


def lone(source: str) -> Launch:
    (found,) = launches(source)
    return found


def text(source: str, where: Location | None) -> str:
    """The text at a range of one line."""
    assert where is not None and where.line == where.end_line
    return textwrap.dedent(source).split("\n")[where.line - 1][where.column - 1 : where.end_column - 1]


def page(launch: Launch) -> object:
    setting = launch.get("page_size")
    return None if setting is None else setting.value


def by_role(found: tuple[Launch, ...]) -> dict[Role, object]:
    return {launch.role: page(launch) for launch in found}


@pytest.mark.parametrize(
    "call",
    [
        "subprocess.Popen(argv)",
        "subprocess.run(argv, check=True)",
        "subprocess.check_call(argv)",
        "asyncio.create_subprocess_exec(*argv)",
        "os.execvp(argv[0], argv)",
        "os.system(' '.join(argv))",
        "subprocess.Popen(shlex.join(argv), shell=True)",
        "run_on(host, command=argv)",
        "pool.submit([argv])",
    ],
)
def test_an_argv_that_a_call_takes_is_a_launch(call: str) -> None:
    found = lone(f"""
        import asyncio, os, shlex, subprocess
        def start(model, host, pool):
            argv = [{SERVER}, "--page-size", str(32), "--disaggregation-mode", "decode"]
            {call}
        """)
    assert (found.role, page(found)) == (Role.DECODE, Const("32"))
    assert found.language == "python"


@pytest.mark.parametrize(
    "call",
    [
        "print(argv)",
        "logger.info('%s', ' '.join(argv))",
        "parser.add_argument('--x', help=' '.join(argv))",
        "argv.sort()",
    ],
)
def test_a_command_that_is_only_shown_is_no_launch(call: str) -> None:
    source = f"""
        def start(model, parser):
            argv = [{SERVER}, "--page-size", "32"]
            {call}
        """
    assert launches(source) == ()


def test_flag_and_value_are_the_place_and_the_value_alone_is_replaced() -> None:
    source = f"""
        import subprocess
        def start(model):
            subprocess.call([{SERVER}, "--page-size", str(32)])
        """
    setting = lone(source).get("page_size")
    assert setting is not None
    assert text(source, setting.where) == '"--page-size", str(32)'
    assert (text(source, setting.value_where), setting.text) == ("str(32)", "str(32)")
    assert setting.removal == setting.where


@pytest.mark.parametrize(
    ("command", "where", "value"),
    [
        ('"python3 -m sglang.launch_server --model-path m --page-size 32"', "--page-size 32", "32"),
        ('"python3 -m sglang.launch_server " "--model-path m --page-size=32 --port 1"', "--page-size=32", "32"),
        ('f"python3 -m sglang.launch_server --model-path {model} --page-size {32}"', "--page-size {32", "32"),
        ('"python3 -m sglang.launch_server --model-path {} --page-size {}".format(model, 32)', "--page-size {}", "32"),
        ('"python3 -m sglang.launch_server --model-path {m} --page-size {p}".format(m=model, p=32)', "p=32", "32"),
        ('"python3 -m sglang.launch_server --model-path " + model + " --page-size " + str(32)', None, "32"),
        ("'python3 -m sglang.launch_server \\t --model-path m --page-size \"32\"'", '--page-size "32"', '"32"'),
    ],
)
@pytest.mark.parametrize("call", ["subprocess.run({}, shell=True)", "subprocess.run(({}).split())"])
def test_command_lines_keep_the_place_of_each_part(call: str, command: str, where: str | None, value: str) -> None:
    source = f"""
        import subprocess
        def start(model):
            {call.format(command) if "{}" not in command else call.replace("{}", command, 1)}
        """
    setting = lone(source).get("page_size")
    assert setting is not None and str(setting.value).strip('"') == "32"
    assert text(source, setting.value_where).strip('"') == value.strip('"')
    if where is not None and '"32"' not in where and "{}" not in where:
        assert text(source, setting.where) == where


def test_a_table_of_flags_is_where_its_values_are_bound() -> None:
    source = """
        import subprocess
        FLAGS = {"model-path": "/m", "page-size": 64, "speculative-draft-page-size": 16}
        def start():
            argv = ["python3", "-m", "sglang.launch_server"]
            for flag, value in FLAGS.items():
                argv += [f"--{flag}", str(value)]
            return subprocess.call(argv)
        """
    setting = lone(source).get("speculative_draft_page_size")
    assert setting is not None
    assert text(source, setting.where) == '"speculative-draft-page-size": 16'
    assert setting.removal == setting.where


def test_json_text_is_where_its_items_are() -> None:
    source = f"""
        import json, subprocess
        EXTRA = json.loads('{{"extra_args": ["--page-size", 32]}}')
        def start(model):
            subprocess.call([{SERVER}] + [str(item) for item in EXTRA["extra_args"]])
        """
    setting = lone(source).get("page_size")
    assert setting is not None
    assert (text(source, setting.where), text(source, setting.value_where)) == ('--page-size", 32', "32")


def test_a_helper_is_not_at_fault_for_what_it_is_given() -> None:
    source = f"""
        import subprocess
        def launch(model, role, page):
            return subprocess.Popen([{SERVER}, "--disaggregation-mode", role, f"--page-size={{page}}"])
        def both(model):
            launch(model, "prefill", 64)
            launch(model, "decode", page=32)
        """
    found = {launch.role: launch for launch in launches(source)}
    setting = found[Role.DECODE].get("page_size")
    assert setting is not None and text(source, setting.where) == "page=32"
    assert text(source, setting.value_where) == "32" and setting.removal is None
    assert text(source, found[Role.DECODE].where) == 'launch(model, "decode", page=32)'
    assert found[Role.PREFILL].deployment == found[Role.DECODE].deployment


def test_rounds_of_a_loop_point_at_what_differs() -> None:
    source = f"""
        import subprocess
        def both(model):
            for role, page in (("prefill", 64), ("decode", 32)):
                subprocess.Popen([{SERVER}, "--disaggregation-mode", role, "--page-size", str(page)])
        """
    found = {launch.role: launch.get("page_size") for launch in launches(source)}
    decode = found[Role.DECODE]
    assert decode is not None and text(source, decode.where) == "32"


def test_a_test_of_the_role_makes_one_launch_for_each() -> None:
    found = launches(f"""
        import subprocess
        def start(model, role):
            argv = [{SERVER}, "--disaggregation-mode", role]
            if role == "prefill":
                argv += ["--page-size", "64"]
            else:
                argv.extend(["--page-size", "32"])
            subprocess.Popen(argv)
        """)
    assert by_role(found) == {Role.PREFILL: Const("64"), Role.DECODE: Const("32")}


def test_a_setting_of_one_path_is_a_choice() -> None:
    found = lone(f"""
        import subprocess
        def start(model, big):
            argv = [{SERVER}, "--disaggregation-mode", "decode"]
            if big:
                argv += ["--page-size", "64"]
            subprocess.Popen(argv)
        """)
    assert page(found) == Choice((Const("64"), Default()))


@pytest.mark.parametrize(
    "value",
    ['os.environ.get("PAGE", "64")', 'os.getenv("PAGE", "64")'],
)
def test_variables_keep_their_default(value: str) -> None:
    found = lone(f"""
        import os, subprocess
        def start(model):
            subprocess.Popen([{SERVER}, "--page-size", {value}])
        """)
    assert page(found) == Knob("PAGE", Const("64"))


def test_options_and_parameters_keep_their_default() -> None:
    found = lone(f"""
        import argparse, subprocess
        def start(model, dcp=2):
            parser = argparse.ArgumentParser()
            parser.add_argument("--page-size", type=int, default=64)
            options = parser.parse_args()
            subprocess.Popen([{SERVER}, "--page-size", str(options.page_size), "--dcp-size", str(dcp)])
        """)
    dcp = found.get("dcp_size")
    assert page(found) == Knob("page_size", Const(64))
    assert dcp is not None and dcp.value == Knob("dcp", Const(2))


@pytest.mark.parametrize(
    ("before", "keyword", "where"),
    [
        ('env = dict(os.environ); env["SGLANG_DFLASH_DRAFT_PAGE_SIZE"] = "8"', "env=env", None),
        ("pass", 'env={**os.environ, "SGLANG_DFLASH_DRAFT_PAGE_SIZE": "8"}', '"SGLANG_DFLASH_DRAFT_PAGE_SIZE": "8"'),
        ("pass", 'env=dict(os.environ, SGLANG_DFLASH_DRAFT_PAGE_SIZE="8")', 'SGLANG_DFLASH_DRAFT_PAGE_SIZE="8"'),
        ('os.environ["SGLANG_DFLASH_DRAFT_PAGE_SIZE"] = "8"', "check=True", None),
        ('os.environ.update({"SGLANG_DFLASH_DRAFT_PAGE_SIZE": "8"})', "check=True", None),
    ],
)
def test_environment_variables_are_settings(before: str, keyword: str, where: str | None) -> None:
    source = f"""
        import os, subprocess
        def start(model):
            {before}
            subprocess.run([{SERVER}, "--page-size", "64"], {keyword})
        """
    setting = lone(source).get("speculative_draft_page_size")
    assert setting is not None and setting.value == Const("8")
    assert where is None or text(source, setting.where) == where


def test_engines_and_server_arguments() -> None:
    source = """
        import sglang as sgl
        from sglang.srt.entrypoints.http_server import launch_server
        from sglang.srt.server_args import ServerArgs
        COMMON = {"model_path": "/m"}
        def offline():
            return sgl.Engine(**COMMON, page_size=64)
        def online(model):
            args = ServerArgs(model_path=model, page_size=16)
            args.page_size = 32
            launch_server(args)
        """
    first, second = sorted(launches(source), key=lambda launch: launch.where.line)
    a, b = first.get("page_size"), second.get("page_size")
    assert a is not None and b is not None
    assert (text(source, a.where), text(source, b.where)) == ("page_size=64", "args.page_size = 32")


def test_arguments_that_reach_no_server_are_no_launch() -> None:
    source = """
        from sglang.srt.server_args import ServerArgs
        def check():
            args = ServerArgs(model_path="/m", page_size=16)
            assert args.page_size == 16
            return args
        """
    assert launches(source) == ()


def test_the_helper_of_sglangs_tests() -> None:
    found = lone("""
        from sglang.test.test_utils import popen_launch_server
        class TestPages:
            @classmethod
            def setUpClass(cls):
                cls.process = popen_launch_server("/m", "http://x", timeout=9, other_args=["--page-size", 64])
        """)
    model = found.get("model_path")
    assert page(found) == Const(64) and model is not None and model.value == Const("/m")
    assert found.deployment == "run.py#TestPages"


def test_pairs_of_different_functions_are_apart_and_of_one_file_together() -> None:
    start = f'subprocess.Popen([{SERVER}, "--disaggregation-mode", "{{}}", "--page-size", "{{}}"])'
    found = launches(f"""
        import subprocess
        def one(model):
            {start.format("prefill", 64)}
            {start.format("decode", 64)}
        def two(model):
            {start.format("prefill", 32)}
            {start.format("decode", 32)}
        def three(model):
            {start.format("prefill", 16)}
        def four(model):
            {start.format("decode", 16)}
        """)
    pages: dict[str, set[object]] = {}
    for launch in found:
        pages.setdefault(launch.deployment, set()).add(page(launch))
    assert sorted(map(str, pages.values())) == sorted(map(str, [{Const("64")}, {Const("32")}, {Const("16")}]))


def test_commands_kept_in_a_table_or_returned() -> None:
    found = launches("""
        COMMANDS = {
            "prefill": ["python3", "-m", "sglang.launch_server", "--disaggregation-mode", "prefill", "--page-size", "64"],
            "decode": "python3 -m sglang.launch_server --disaggregation-mode decode --page-size 32",
        }
        ADVICE = "python3 -m sglang.launch_server --disaggregation-mode decode --page-size 16"
        def other():
            return ["python3", "-m", "sglang.launch_server", "--disaggregation-mode", "decode", "--page-size", "8"]
        """)
    assert sorted(str(page(launch)) for launch in found) == ["32", "64", "8"]


def test_words_that_cannot_be_followed_leave_the_launch_open() -> None:
    found = lone(f"""
        import subprocess
        def start(model, extra):
            subprocess.Popen([{SERVER}, "--disaggregation-mode", "decode"] + extra)
        """)
    assert found.open and found.role is launch_role(found.settings) is Role.DECODE


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ('["python3", "-m", "sglang.launch_server", "--port", "1"]', ', "{flag}", "{value}"'),
        ('"python3 -m sglang.launch_server --port 1".split()', " {flag} {value}"),
    ],
)
def test_one_more_flag_goes_after_the_last_word(argv: str, expected: str) -> None:
    source = f"""
        import subprocess
        def start():
            subprocess.Popen({argv})
        """
    insertion = lone(source).insertion
    assert insertion is not None and insertion.template == expected
    line = textwrap.dedent(source).split("\n")[insertion.where.line - 1]
    assert line[: insertion.where.column - 1].rstrip('"').endswith("1")


def test_servers_started_across_files(tmp_path: Path) -> None:
    helper = f"""import subprocess
def launch(model, *flags):
    return subprocess.Popen([{SERVER}, *flags])
"""
    main = """from helper import launch
def main(model):  # sglang
    launch(model, "--disaggregation-mode", "prefill", "--page-size", "64")
    launch(model, "--disaggregation-mode", "decode", "--page-size", "32")
"""
    write(tmp_path, {"helper.py": helper, "main.py": main})
    found = read("main.py", main, root=tmp_path).launches
    assert by_role(found) == {Role.PREFILL: Const("64"), Role.DECODE: Const("32")}
    assert {launch.get("page_size").where.path for launch in found} == {"main.py"}  # type: ignore[union-attr]


def test_items_of_a_joined_list_can_go() -> None:
    source = f"""
        def start(model, host):
            run_on(host, " ".join([{SERVER}, "--page-size", str(64)]))
        """
    setting = lone(source).get("page_size")
    assert setting is not None and setting.removal == setting.where
    assert text(source, setting.where) == '"--page-size", str(64)'
