"""Shell scripts: which servers start with which settings, and where each value stands."""

from __future__ import annotations

import pathlib
import textwrap
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swa_lint.geometry import Const, Knob, Location, Relation, relate
from swa_lint.sources.facts import FileFacts, Launch, Setting
from swa_lint.sources.shell import read

SERVE = "python3 -m sglang.launch_server"


def facts(script: str, **options: pathlib.Path) -> FileFacts:
    return read("run/start.sh", textwrap.dedent(script).replace("SERVE", SERVE), **options)


def at(script: str, where: Location | None) -> str:
    """The text of a range of `script`."""
    assert where is not None
    text = textwrap.dedent(script).replace("SERVE", SERVE)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return text[starts[where.line - 1] + where.column - 1 : starts[where.end_line - 1] + where.end_column - 1]


def pages(script: str) -> list[tuple[str, str, str]]:
    """Role, value and line-free source of each page size."""
    found = []
    for launch in facts(script).launches:
        page = launch.get("page_size")
        found.append((launch.role.value, str(page.value) if page else "-", at(script, page.where) if page else "-"))
    return found


def page(launch: Launch) -> Setting:
    found = launch.get("page_size")
    assert found is not None
    return found


def deployments(script: str) -> list[list[tuple[str, str]]]:
    groups: dict[str, list[tuple[str, str]]] = {}
    for launch in facts(script).launches:
        groups.setdefault(launch.deployment, []).append((launch.role.value, str(page(launch).value)))
    return list(groups.values())


def test_plain_command_with_places() -> None:
    script = "nohup SERVE --model-path m \\\n  --page-size 64 --tp=2 > log 2>&1 &\n"
    (launch,) = facts(script).launches
    assert at(script, launch.where) == f"nohup {SERVE} --model-path m \\\n  --page-size 64 --tp=2"
    assert at(script, page(launch).where) == "--page-size 64"
    assert at(script, page(launch).value_where) == "64"
    assert launch.insertion is not None
    assert launch.insertion.where == Location("run/start.sh", 2, 24, 2, 24)
    assert launch.deployment == "run/start.sh" and launch.language == "shell"


def test_columns_count_characters() -> None:
    script = "X='é𝄞' SERVE --page-size 64\n"
    (launch,) = facts(script).launches
    assert at(script, page(launch).value_where) == "64"


def test_windows_line_ends() -> None:
    script = "SERVE \\\n --page-size 64\n"
    (launch,) = read("a.sh", script.replace("SERVE", SERVE).replace("\n", "\r\n")).launches
    assert at(script, page(launch).value_where) == "64"


@pytest.mark.parametrize(
    "script",
    [
        'SIZE=64\nSERVE --page-size "$SIZE"\n',
        "SIZE=64; OTHER=${SIZE}\nSERVE --page-size=${OTHER}\n",
        "A=(--page-size 64)\nSERVE ${A[@]}\n",
        'A=(--tp 2)\nA+=(--page-size "64")\nB=("${A[@]}" --x)\nSERVE "${B[@]}"\n',
        'A="--tp 2"\nA+=" --page-size 64"\nSERVE $A\n',
        'A="--tp 2"\nA="$A --page-size 64"\nSERVE ${A}\n',
        'CMD="SERVE --page-size 64"\neval "$CMD"\n',
        "CMD='SERVE --page-size 64'\n$CMD &\n",
        "bash -c 'SERVE --page-size 64'\n",
        'ssh host "cd /x && SERVE --page-size 64" &\n',
        'sh -lc "exec SERVE --json \'{\\"a\\": 1}\' --page-size 64"\n',
        "bash <<EOF\nSERVE --page-size 64\nEOF\n",
        "ssh host bash -s <<'EOF'\nSERVE \\\n  --page-size 64\nEOF\n",
        "cat > node.sh <<'EOF'\nSERVE --page-size 64\nEOF\nbash node.sh\n",
        'f() { SERVE "$@"; }\nf --page-size 64\n',
        "f() { SERVE --page-size ${1:-64}; }\nf\n",
        "f() { local size=$1; shift; SERVE --page-size $size $@; }\nf 64 --tp 2\n",
        "function f { SERVE --page-size $SIZE; }\nSIZE=64 f\n",
        "declare -A SIZE=([big]=64 [small]=1)\nSERVE --page-size ${SIZE[big]}\n",
        "name=SIZE; SIZE=64\nSERVE --page-size ${!name}\n",
        "SERVE --page-size $((32 * 2))\n",
        "BASE=128\nSIZE=$((BASE / 2))\nSERVE --page-size $SIZE\n",
        "read -r role size <<< 'decode 64'\nSERVE --page-size $size\n",
        "set -- 1 64\nSERVE --page-size $2\n",
        "SIZE=$(echo 64)\nSERVE --page-size $SIZE\n",
        "env A=1 SERVE --page-size 64\n",
        "(cd /x && SERVE --page-size 64) &\n",
        "if SERVE --page-size 64; then echo; fi\n",
        "SERVE --page-size 64 | tee log\n",
        "SIZE=1\nSIZE=64\nSERVE --page-size $SIZE\n",
        "SIZE=64\n(SIZE=1)\nSERVE --page-size $SIZE\n",
        "docker run --rm image SERVE --page-size 64\n",
        "kubectl exec pod -- bash -c 'SERVE --page-size 64'\n",
        "while true; do SERVE --page-size 64; sleep 1; done\n",
        "true && SERVE --page-size 64 || exit 1\n",
        'SERVE --page-size 64 ${EXTRA} "$@"\n',
    ],
)
def test_value_is_followed(script: str) -> None:
    assert [value for _, value, _ in pages(script)] == ["64"]


@pytest.mark.parametrize(
    "script",
    [
        "# SERVE --page-size 64\n",
        "if false; then SERVE --page-size 64; fi\n",
        "MODE=off\nif [ $MODE = on ]; then SERVE --page-size 64; fi\n",
        "exit 0\nSERVE --page-size 64\n",
        "exec sleep 1\nSERVE --page-size 64\n",
        "echo SERVE --page-size 64\n",
        "echo 'SERVE --page-size 64'\n",
        "cat <<EOF\nSERVE --page-size 64\nEOF\n",
        "trap 'SERVE --page-size 64' EXIT\n",
        'pkill -f "sglang.launch_server --page-size 64"\n',
        "f() { SERVE --page-size 64; }\necho done\n",
        "false && SERVE --page-size 64\n",
        "case x in y) SERVE --page-size 64;; esac\n",
        "python3 -m sglang_router.launch_router --prefill http://a --page-size 64\n",
        "vllm serve sglang --page-size 64\n",
        "lpr --page-size A4 sglang.txt\n",
    ],
)
def test_nothing_starts(script: str) -> None:
    assert facts(script).launches == ()


def test_environment_fallbacks_are_knobs_with_defaults() -> None:
    (launch,) = facts("SERVE --page-size ${PAGE:-64}\n").launches
    assert page(launch).value == Knob("PAGE", Const("64"))
    (launch,) = facts("PAGE=${PAGE-64}\nSIZE=$PAGE\nSERVE --page-size $SIZE\n").launches
    assert page(launch).value == Knob("PAGE", Const("64"))
    (launch,) = facts(": ${PAGE:=64}\nSERVE --page-size $PAGE\n").launches
    assert page(launch).value == Knob("PAGE", Const("64"))
    (launch,) = facts("SERVE --page-size ${1:?size}\n").launches
    assert page(launch).value == Knob("$1")


def test_options_loop_keeps_defaults() -> None:
    script = """
    PAGE=64
    while [[ $# -gt 0 ]]; do
      case "$1" in --page) PAGE="$2"; shift 2 ;; *) shift ;; esac
    done
    SERVE --page-size $PAGE
    """
    (launch,) = facts(script).launches
    assert page(launch).value == Knob("PAGE", Const("64"))


def test_derived_from_a_variable() -> None:
    first, second = facts("SERVE --page-size $P &\nSERVE --page-size $((P / 2))\n").launches
    assert relate(page(first).value, page(second).value) is Relation.DIFFERENT
    first, second = facts('SERVE --page-size "${P}0" &\nSERVE --page-size ${P}0\n').launches
    assert relate(page(first).value, page(second).value) is Relation.EQUAL


def test_variable_is_a_hop() -> None:
    script = 'SIZE=64\nSERVE --page-size "$SIZE"\n'
    (launch,) = facts(script).launches
    assert at(script, page(launch).where) == '--page-size "$SIZE"'
    assert page(launch).text == at(script, page(launch).value_where) == '"$SIZE"'
    assert [at(script, hop.where) for hop in page(launch).via] == ["SIZE=64"]


def test_array_append_is_the_binding() -> None:
    script = """
    COMMON=(--model-path m)
    DECODE=("${COMMON[@]}" --disaggregation-mode decode)
    DECODE+=(--page-size 16)
    SERVE "${DECODE[@]}" --tp 2
    """
    (launch,) = facts(script).launches
    assert at(script, page(launch).where) == "--page-size 16"
    assert at(script, page(launch).removal) == "DECODE+=(--page-size 16)\n"
    assert launch.insertion is not None
    assert at(script, Location("", 3, 1, 3, launch.insertion.where.column)).endswith("--disaggregation-mode decode")


def test_call_argument_is_the_binding() -> None:
    script = """
    start() {
      SERVE --disaggregation-mode "$1" --page-size "$2" &
    }
    start prefill 64
    start decode 32
    """
    prefill, decode = facts(script).launches
    assert (prefill.role.value, decode.role.value) == ("prefill", "decode")
    assert at(script, page(decode).where) == page(decode).text == "32"
    assert at(script, decode.where) == "start decode 32"
    assert [at(script, hop.where) for hop in page(decode).via] == ["--page-size"]
    assert page(decode).removal is None and decode.insertion is None


def test_flags_passed_through_a_function() -> None:
    script = """
    start() { SERVE --tp 4 "$@" & }
    start --disaggregation-mode prefill --port 1
    start --disaggregation-mode decode --page-size 64
    """
    prefill, decode = facts(script).launches
    assert at(script, page(decode).where) == "--page-size 64"
    assert at(script, prefill.where) == "start --disaggregation-mode prefill --port 1"
    assert prefill.insertion is not None and prefill.insertion.where.line == 3


@pytest.mark.parametrize(
    "script",
    [
        """
        case "$1" in
          prefill) PAGE=32 ;;
          decode) PAGE=64 ;;
          *) exit 1 ;;
        esac
        SERVE --disaggregation-mode $1 --page-size $PAGE
        """,
        """
        if [ "$ROLE" = prefill ]; then PAGE=32; else PAGE=64; fi
        SERVE --disaggregation-mode "$ROLE" --page-size $PAGE
        """,
        """
        ROLE=${1:-prefill}
        [[ $ROLE == decode ]] && PAGE=64 || PAGE=32
        exec SERVE --disaggregation-mode "$ROLE" --page-size $PAGE
        """,
        """
        declare -A PAGE=([prefill]=32 [decode]=64)
        for role in prefill decode; do
          SERVE --disaggregation-mode $role --page-size "${PAGE[$role]}" &
        done
        """,
        """
        if [ "$SLURM_PROCID" -eq 0 ]; then
          ARGS="--disaggregation-mode prefill --page-size 32"
        else
          ARGS="--disaggregation-mode decode --page-size 64"
        fi
        SERVE $ARGS
        """,
        """
        for role in prefill decode; do
          size=32
          if [ $role = decode ]; then size=64; fi
          SERVE --disaggregation-mode $role --page-size $size &
        done
        """,
        """
        prefill() { SERVE --disaggregation-mode prefill --page-size 32; }
        decode() { SERVE --disaggregation-mode decode --page-size 64; }
        "$@"
        """,
        """
        run() { SERVE --disaggregation-mode $1 --page-size $PAGE & }
        PAGE=32
        run prefill
        PAGE=64
        run decode
        """,
        """
        cat > node.sh <<'EOF'
        exec SERVE --disaggregation-mode $1 --page-size $2
        EOF
        chmod +x node.sh
        srun ./node.sh prefill 32 &
        srun ./node.sh decode 64 &
        """,
    ],
)
def test_roles_of_one_deployment(script: str) -> None:
    assert [sorted(group) for group in deployments(script)] == [[("decode", "64"), ("prefill", "32")]]


def test_differing_values_of_one_word_stand_at_their_assignments() -> None:
    script = """
    if [ "$ROLE" = prefill ]; then PAGE=32; else PAGE=64; fi
    SERVE --disaggregation-mode "$ROLE" --page-size $PAGE
    """
    found = {launch.role.value: page(launch) for launch in facts(script).launches}
    assert at(script, found["decode"].where) == "PAGE=64"
    assert at(script, found["decode"].value_where) == found["decode"].text == "64"


@pytest.mark.parametrize(
    "script",
    [
        """
        case "$1" in
          small) SERVE --disaggregation-mode prefill --page-size 32 & SERVE --disaggregation-mode decode --page-size 32 ;;
          large) SERVE --disaggregation-mode prefill --page-size 64 & SERVE --disaggregation-mode decode --page-size 64 ;;
        esac
        """,
        """
        if [ -n "$LARGE" ]; then P=64; else P=32; fi
        SERVE --disaggregation-mode prefill --page-size $P &
        SERVE --disaggregation-mode decode --page-size $P
        """,
        """
        for size in 32 64; do
          SERVE --disaggregation-mode prefill --page-size $size &
          SERVE --disaggregation-mode decode --page-size $size &
          sleep 9; kill %1 %2
        done
        """,
        """
        pair() {
          SERVE --disaggregation-mode prefill --page-size $1 &
          SERVE --disaggregation-mode decode --page-size $1 &
        }
        pair 32
        pair 64
        """,
        """
        SERVE --disaggregation-mode prefill --page-size 32 &
        SERVE --disaggregation-mode decode --page-size 32 &
        pkill -f sglang
        SERVE --disaggregation-mode prefill --page-size 64 &
        SERVE --disaggregation-mode decode --page-size 64 &
        """,
    ],
)
def test_recipes_stay_apart(script: str) -> None:
    groups = [{value for _, value in group} for group in deployments(script)]
    assert len(groups) == 2 and all(len(values) == 1 for values in groups)


def test_probing_a_process_is_no_end_of_it() -> None:
    script = """
    SERVE --disaggregation-mode prefill --page-size 32 &
    kill -0 $! || exit 1
    SERVE --disaggregation-mode decode --page-size 64 &
    wait -n
    """
    assert len(deployments(script)) == 1


def test_branch_with_a_flag_of_its_own() -> None:
    script = """
    ARGS=(--disaggregation-mode decode)
    if [ "$FAST" = 1 ]; then ARGS+=(--page-size 16); fi
    SERVE --disaggregation-mode prefill --page-size 64 &
    SERVE "${ARGS[@]}"
    """
    decodes = [launch for launch in facts(script).launches if launch.role.value == "decode"]
    assert [launch.get("page_size") is not None for launch in decodes] == [True, False]
    assert len({launch.deployment for launch in decodes}) == 2


def test_unrelated_branches_do_not_multiply() -> None:
    noise = "\n".join(f'if [ -f /x{i} ]; then LOG{i}=a; echo "$LOG{i}"; fi' for i in range(40))
    assert len(facts(f"{noise}\nSERVE --page-size 64\n").launches) == 1


@pytest.mark.parametrize(
    ("script", "left"),
    [
        ("SERVE --page-size 64 --tp 2\n", "SERVE --tp 2\n"),
        ("SERVE --tp 2 --page-size=64\n", "SERVE --tp 2\n"),
        ("SERVE \\\n  --page-size 64 \\\n  --tp 2\n", "SERVE \\\n  --tp 2\n"),
        ("SERVE \\\n  --tp 2 \\\n  --page-size 64\n", "SERVE \\\n  --tp 2\n"),
        ("A=(\n  --tp 2\n  --page-size 64\n)\nSERVE ${A[@]}\n", "A=(\n  --tp 2\n)\nSERVE ${A[@]}\n"),
        ("A=(--tp 2)\nA+=( --page-size 64 )\nSERVE ${A[@]}\n", "A=(--tp 2)\nSERVE ${A[@]}\n"),
        ('A="--tp 2"\nA+=" --page-size 64"\nSERVE $A\n', 'A="--tp 2"\nSERVE $A\n'),
        ("bash -c 'SERVE --page-size 64 --tp 2'\n", "bash -c 'SERVE --tp 2'\n"),
    ],
)
def test_removal_leaves_no_hole(script: str, left: str) -> None:
    (launch,) = facts(script).launches
    removed = at(script, page(launch).removal)
    assert script.replace("SERVE", SERVE).replace(removed, "", 1) == left.replace("SERVE", SERVE)


@pytest.mark.parametrize(
    ("script", "binding", "removed"),
    [
        ("export SGLANG_DRAFT_PAGE_SIZE=1\nSERVE\n", "SGLANG_DRAFT_PAGE_SIZE=1", "export SGLANG_DRAFT_PAGE_SIZE=1\n"),
        ("SGLANG_DRAFT_PAGE_SIZE=1 SERVE\n", "SGLANG_DRAFT_PAGE_SIZE=1", "SGLANG_DRAFT_PAGE_SIZE=1 "),
        ("set -a\nSGLANG_DRAFT_PAGE_SIZE=1\nset +a\nSERVE\n", "SGLANG_DRAFT_PAGE_SIZE=1", None),
        (
            "docker run -e SGLANG_DRAFT_PAGE_SIZE=1 image SERVE\n",
            "SGLANG_DRAFT_PAGE_SIZE=1",
            " -e SGLANG_DRAFT_PAGE_SIZE=1",
        ),
        ("docker run -e SGLANG_DRAFT_PAGE_SIZE=1 i bash -c 'SERVE'\n", "SGLANG_DRAFT_PAGE_SIZE=1", None),
    ],
)
def test_draft_variable_reaches_the_server(script: str, binding: str, removed: str | None) -> None:
    (launch,) = facts(script).launches
    setting = launch.get("speculative_draft_page_size")
    assert setting is not None and setting.value == Const("1")
    assert at(script, setting.where) == binding
    if removed is not None:
        assert at(script, setting.removal) == removed


def test_variable_that_is_not_exported_stays_in_the_script() -> None:
    (launch,) = facts("SGLANG_DRAFT_PAGE_SIZE=1\nSERVE\n").launches
    assert launch.get("speculative_draft_page_size") is None


def test_unknown_words_leave_a_launch_open() -> None:
    assert facts("SERVE $(cat flags)\n").launches[0].open
    assert not facts('SERVE --model-path "$(cat name)" "$@" $EXTRA\n').launches[0].open


def test_own_folder_is_known() -> None:
    script = 'DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\nSERVE --model-path "$DIR/main"\n'
    (launch,) = facts(script).launches
    setting = launch.get("model_path")
    assert setting is not None and setting.value == Const("./main")


def test_sourced_and_called_siblings(tmp_path: pathlib.Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "env.sh").write_text("PAGE=64\nexport SGLANG_MTP_PAGE_SIZE=1\n")
    (run / "node.sh").write_text(f"exec {SERVE} --disaggregation-mode $1 --page-size ${{PAGE:-32}}\n")
    script = """
    source "$(dirname "$0")/env.sh"
    . ./missing.sh
    SERVE --page-size $PAGE &
    ./node.sh decode
    """
    found = facts(script, root=tmp_path)
    assert found.depends == ("run/env.sh", "run/node.sh")
    first, second = found.launches
    assert (page(first).value, page(second).value) == (Const("64"), Const("64"))
    draft = first.get("speculative_draft_page_size")
    assert draft is not None and draft.where.path == "run/env.sh"
    assert second.role.value == "decode"


def test_files_outside_the_root_are_not_read(tmp_path: pathlib.Path) -> None:
    (tmp_path / "env.sh").write_text("PAGE=64\n")
    (tmp_path / "root" / "run").mkdir(parents=True)
    found = facts("source ../../env.sh\nSERVE --page-size $PAGE\n", root=tmp_path / "root")
    assert found.depends == () and page(found.launches[0]).value == Knob("PAGE")


def test_broken_script_gives_what_can_be_read() -> None:
    assert len(facts("SERVE --page-size 64\necho 'never closed\n").launches) == 1
    found = facts('if true; then\n SERVE --page-size "64\n')
    assert found.launches == () and [problem.skipped for problem in found.problems] == [True]


def test_other_files_are_empty_at_once() -> None:
    text = "for i in $(seq 9); do echo $i; done\n" * 200_000
    start = time.perf_counter()
    assert read("a.sh", text) == FileFacts("a.sh")
    assert time.perf_counter() - start < 0.5


def test_many_branches_and_loops_end() -> None:
    branches = "\n".join(f'if [ -n "$V{i}" ]; then A+=(--x{i}); fi' for i in range(30))
    start = time.perf_counter()
    assert facts(f'A=(--page-size 64)\n{branches}\nSERVE "${{A[@]}}"\n').launches
    assert facts("f() { f; SERVE --page-size 64; f; }\nf\n").launches
    assert time.perf_counter() - start < 10


SHELL = st.lists(
    st.sampled_from(
        [
            *(
                f"{SERVE} ",
                "--page-size ",
                "--page-size=",
                "64",
                "$X",
                '"$X"',
                "${X:-64}",
                "${X",
                "$(",
                ")",
                "((",
                "))",
            ),
            *(
                "A=(",
                "A+=(",
                '"${A[@]}"',
                "if ",
                "then ",
                "fi",
                "else ",
                "case $1 in ",
                "esac",
                ";;",
                "a) ",
                "for x in a b; ",
            ),
            *(
                "do ",
                "done",
                "\n",
                ";",
                "&",
                "|",
                "&&",
                "<<EOF\n",
                "\nEOF\n",
                "'",
                '"',
                "\\\n",
                "\\",
                "f() { ",
                "}",
                "f ",
                "$1",
            ),
            *(
                "[ ",
                " ]",
                "[[ ",
                " ]]",
                " = ",
                "eval ",
                "bash -c ",
                "é",
                "𝄞",
                "\r\n",
                "\0",
                "set -- ",
                "shift\n",
                "${!X}",
            ),
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(SHELL | st.text(max_size=80).map(lambda text: f"sglang {text}"))
def test_no_text_breaks_the_reader(text: str) -> None:
    found = read("a.sh", text)
    lines = text.replace("\r\n", "\n").split("\n")
    for launch in found.launches:
        for setting in launch.settings:
            assert 1 <= setting.where.line <= setting.where.end_line <= len(lines)
