"""Removal of Python bindings: what goes, what stays, and that every byte outside an edit is the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swa_lint.finding import Drop, Replace
from swa_lint.fixes.lines import PythonLines
from swa_lint.fixes.python import check_parses, drop_edits
from swa_lint.geometry import Location


def unmark(marked: str) -> tuple[str, list[Drop]]:
    """The text without its « and » marks, and a drop for each marked range."""
    text, opened, spans = "", 0, []
    for character in marked:
        if character == "«":
            opened = len(text)
        elif character == "»":
            spans.append((opened, len(text)))
        else:
            text += character
    lines = PythonLines(text)
    return text, [Drop(lines.location("m.py", *span)) for span in spans]


def apply(text: str, edits: Sequence[Replace]) -> str:
    lines = PythonLines(text)
    for edit in reversed(edits):
        span = lines.span(edit.where)
        assert span is not None
        text = text[: span[0]] + edit.text + text[span[1] :]
    return text


def drop(marked: str) -> str:
    text, drops = unmark(marked)
    edits = drop_edits("m.py", text, drops)
    assert edits, "nothing was dropped"
    assert edits == drop_edits("m.py", text, [*reversed(drops), *drops]), "depends on order"
    after = apply(text, edits)
    assert check_parses(after), after
    return after


STATEMENTS = {
    "own line": ("a = 1\n«b.page_size = 2»\nc = 3\n", "a = 1\nc = 3\n"),
    "trailing comment goes, the one above stays": ("# about\n«b.page_size = 2»  # why\nc = 3\n", "# about\nc = 3\n"),
    "last line without a newline": ("a = 1\n«b.page_size = 2»", "a = 1\n"),
    "setattr": ('def f(x):\n    «setattr(x, "page_size", 1)»\n    return x\n', "def f(x):\n    return x\n"),
    "vars": ('a = 1\n«vars(args)["page_size"] = 1»\n', "a = 1\n"),
    "dict of attributes": ('a = 1\n«args.__dict__["page_size"] = 2»\n', "a = 1\n"),
    "annotated": ("class A:\n    «page_size: int = 2»\n    b = 1\n", "class A:\n    b = 1\n"),
    "augmented": ("a = 1\n«draft.page_size //= 2»\n", "a = 1\n"),
    "several lines": ("a = 1\n«b.page_size = max(\n    1,\n    2,\n)»  # x\nc = 3\n", "a = 1\nc = 3\n"),
    "the variable before stays": (
        'page = int(os.getenv("P", "1"))\n«draft.page_size = page»\nrun()\n',
        'page = int(os.getenv("P", "1"))\nrun()\n',
    ),
    "semicolon before": ("a = 1; «b.page_size = 2»\n", "a = 1\n"),
    "semicolon after": ("«b.page_size = 2»; a = 1\n", "a = 1\n"),
    "semicolons around": ("a = 1; «b.page_size = 2»; c = 3  # c\n", "a = 1; c = 3  # c\n"),
    "trailing semicolon": ("a = 1; «b.page_size = 2»;\n", "a = 1;\n"),
    "semicolon and backslash": ("a = 1; \\\n «b.page_size = 2»\nc = 3\n", "a = 1\nc = 3\n"),
    "whole line of two": ("«a.page_size = 1»; «b.page_size = 2»;  # x\nc = 3\n", "c = 3\n"),
    "two as one range": ('«v.append("--page-size")\nv.append("1")»\nrun(v)\n', "run(v)\n"),
    "one-line suite": ("if f():\n    pass\nif x: a = 1; «b.page_size = 2»\n", "if f():\n    pass\nif x: a = 1\n"),
    "only one of a function": (
        "def f(x):\n    # why\n    «x.page_size = 1»  # y\n",
        "def f(x):\n    # why\n    pass\n",
    ),
    "only one of a class": ("class A: «page_size = 1»\n", "class A: pass\n"),
    "loop": ("for a in b:\n    «a.page_size = 1»\n", "for a in b:\n    pass\n"),
    "try": (
        "try:\n    «a.page_size = 1»\nexcept E:\n    «b.page_size = 1»\nfinally:\n    c()\n",
        "try:\n    pass\nexcept E:\n    pass\nfinally:\n    c()\n",
    ),
    "match": ("match x:\n    case 1:\n        «a.page_size = 1»\n", "match x:\n    case 1:\n        pass\n"),
    "module of one": ("«a.page_size = 1»\n", ""),
}

BRANCHES = {
    "pure test": ("a = 1\nif x.is_draft and y is None:\n    «x.page_size = 1»\nb = 2\n", "a = 1\nb = 2\n"),
    "one line": ("a = 1\nif draft: «x.page_size = 1»\n", "a = 1\n"),
    "test with a call": ("if make():\n    «x.page_size = 1»\n", "if make():\n    pass\n"),
    "one line, test with a call": ("if make(): «x.page_size = 1»  # c\n", "if make(): pass  # c\n"),
    "test with a walrus": ("if (n := 2):\n    «x.page_size = 1»\n", "if (n := 2):\n    pass\n"),
    "environment": ('if os.environ.get("X"):\n    «x.page_size = 1»\n', ""),
    "nested": (
        "def f(x):\n    if a:\n        if b:\n            «x.page_size = 1»\n    return x\n",
        "def f(x):\n    return x\n",
    ),
    "only one, nested": ("def f(x):\n    if a:\n        «x.page_size = 1»\n", "def f(x):\n    pass\n"),
    "both of two": ("if a:\n    «x.page_size = 1»\n    «x.sliding_window = 1»\nb = 2\n", "b = 2\n"),
    "one of two": ("if a:\n    «x.page_size = 1»\n    y()\n", "if a:\n    y()\n"),
    "else stays": ("if a:\n    «x.page_size = 1»\nelse:\n    y()\n", "if a:\n    pass\nelse:\n    y()\n"),
    "elif stays": ("if a:\n    «x.page_size = 1»\nelif b:\n    y()\n", "if a:\n    pass\nelif b:\n    y()\n"),
    "else goes": ("if a:\n    y()\n# or\nelse:  # x\n    «x.page_size = 1»\nz()\n", "if a:\n    y()\n# or\nz()\n"),
    "one-line else goes": ("if a: y()\nelse: «x.page_size = 1»\nz()\n", "if a: y()\nz()\n"),
    "last elif goes": ("if a:\n    y()\nelif b:\n    «x.page_size = 1»\nz()\n", "if a:\n    y()\nz()\n"),
    "elif before else": (
        "if a:\n    y()\nelif b:\n    «x.page_size = 1»\nelse:\n    z()\n",
        "if a:\n    y()\nelif b:\n    pass\nelse:\n    z()\n",
    ),
    "elif with a call": (
        "if a:\n    y()\nelif f():\n    «x.page_size = 1»\n",
        "if a:\n    y()\nelif f():\n    pass\n",
    ),
    "whole chain": (
        "if a:\n    «x.page_size = 1»\nelif b:\n    «x.page_size = 2»\nelse:\n    «x.page_size = 3»\nz()\n",
        "z()\n",
    ),
    "if under else": ("if a:\n    y()\nelse:\n    if b:\n        «x.page_size = 1»\nz()\n", "if a:\n    y()\nz()\n"),
    "else of a loop": (
        "for a in b:\n    y()\nelse:\n    «x.page_size = 1»\n",
        "for a in b:\n    y()\nelse:\n    pass\n",
    ),
}

ITEMS = {
    "last keyword": ("f(a=1, «page_size=2»)\n", "f(a=1)\n"),
    "first keyword": ("f(«page_size=2», a=1)\n", "f(a=1)\n"),
    "middle keyword": ("f(b, «page_size=2», a=1)\n", "f(b, a=1)\n"),
    "only keyword": ("f(«page_size=2»)\n", "f()\n"),
    "only keyword on its line": ("f(\n    «page_size=2»,  # why\n)\n", "f()\n"),
    "only keyword under a comment": ("f(\n    # why\n    «page_size=2»,\n)\n", "f(\n    # why\n)\n"),
    "spaces": ("f( a , «page_size = (2)» , b = 3 )\n", "f( a , b = 3 )\n"),
    "trailing comma": ("f(a=1, «page_size=2»,)\n", "f(a=1,)\n"),
    "own line": ("f(\n    a=1,  # a\n    «page_size=2»,  # p\n    b=3,\n)\n", "f(\n    a=1,  # a\n    b=3,\n)\n"),
    "own last line": ("f(\n    a=1,  # a\n    «page_size=2»,\n)\n", "f(\n    a=1,  # a\n)\n"),
    "own last line, no comma": ("f(\n    a=1,\n    «page_size=2»\n)\n", "f(\n    a=1,\n)\n"),
    "own first line": ("f(\n    «page_size=2»,\n    # about a\n    a=1,\n)\n", "f(\n    # about a\n    a=1,\n)\n"),
    "comma on the next line": ("f(\n    «page_size=2»\n    , a=1)\n", "f(\n    a=1)\n"),
    "hanging first": ("f(«page_size=2»,\n  a=1)\n", "f(a=1)\n"),
    "hanging first, comment": ("f(«page_size=2»,  # p\n  a=1)\n", "f(\n  a=1)\n"),
    "hanging last": ("f(a=1,\n  «page_size=2»)\n", "f(a=1)\n"),
    "hanging last, comment": ("f(a=1,  # a\n  «page_size=2»)\n", "f(a=1,  # a\n  )\n"),
    "end of a shared line": ("f(a=1, «page_size=2»,  # x\n  b=3)\n", "f(a=1,  # x\n  b=3)\n"),
    "value on several lines": (
        "f(\n    a=1,\n    «page_size=max(\n        1, 2\n    )»,\n    b=3,\n)\n",
        "f(\n    a=1,\n    b=3,\n)\n",
    ),
    "two of three": ("f(«page_size=1», a=2, «sliding_window=3»)\n", "f(a=2)\n"),
    "neighbours": ("f(a=2, «page_size=1», «sliding_window=3»)\n", "f(a=2)\n"),
    "after star": ("f(*a, «page_size=1», **k)\n", "f(*a, **k)\n"),
    "in a header": ("if f(a, «page_size=1»):\n    b()\n", "if f(a):\n    b()\n"),
    "in an elif": ("if a:\n    b()\nelif f(«page_size=1»):\n    c()\n", "if a:\n    b()\nelif f():\n    c()\n"),
    "in a with": (
        "def g():\n    with f(a, «page_size=1») as d:\n        return d\n",
        "def g():\n    with f(a) as d:\n        return d\n",
    ),
    "in a decorator": (
        "class A:\n    @f(«page_size=1»)\n    @g\n    def m(self): return 1\n",
        "class A:\n    @f()\n    @g\n    def m(self): return 1\n",
    ),
    "in a case guard": (
        "match x:\n    case 1 if f(«page_size=1»):\n        y()\n",
        "match x:\n    case 1 if f():\n        y()\n",
    ),
    "in a return": (
        "async def g():\n    return await f(a, «page_size=1»)\n",
        "async def g():\n    return await f(a)\n",
    ),
    "in a one-line suite": ("if x: y(); f(a, «page_size=1»)\n", "if x: y(); f(a)\n"),
    "in a lambda": ("g = lambda: f(«page_size=1»)\n", "g = lambda: f()\n"),
    "in an f-string": ('g = f"{f(a, «page_size=1»)}"\n', 'g = f"{f(a)}"\n'),
    "dict item": ('d = {"a": 1, «"page_size": 1»}\n', 'd = {"a": 1}\n'),
    "dict item on its line": ('d = {\n    «"page_size": 1»,\n    "a": 2,\n}\n', 'd = {\n    "a": 2,\n}\n'),
    "only dict item": ('d = {«"page_size": 1»}\n', "d = {}\n"),
    "beside unpacking": ('d = {**base, «"page_size": 1»}\n', "d = {**base}\n"),
    "unpacked dict": ('f(a, **{«"page_size": 1»})\n', "f(a)\n"),
    "unpacked dict call": ("d = {**base, **dict(«page_size=1»)}\n", "d = {**base}\n"),
    "dict keyword": ("d = dict(a=1, «page_size=1»)\n", "d = dict(a=1)\n"),
    "pair in a list": ('p = [("a", 1), «("page_size", 2)»]\n', 'p = [("a", 1)]\n'),
    "pair in a tuple of two": ('p = (("a", 1), «("page_size", 2)»)\n', 'p = (("a", 1),)\n'),
    "first pair of two": ('p = («("page_size", 2)», ("a", 1))\n', 'p = (("a", 1),)\n'),
    "pairs on lines": (
        'p = (\n    «("page_size", 2)»,\n    ("a", 1)\n)\n',
        'p = (\n    ("a", 1),\n)\n',
    ),
    "bare tuple": ('p = ("a", 1), «("page_size", 2)»\n', 'p = ("a", 1),\n'),
    "bare tuple of one": ('p = «("page_size", 2)»,\n', "p = ()\n"),
    "only pair of a tuple": ('for k, v in («("page_size", 2)»,):\n    s(k, v)\n', "for k, v in ():\n    s(k, v)\n"),
    "only item of a set": ('s = {«("page_size", 2)»}\n', "s = set()\n"),
    "parenthesised pair": ('p = [(«("page_size", 2)»), q]\n', "p = [q]\n"),
    "flag and value": ('v = ["run", «"--page-size", str(32)», "--tp", "2"]\n', 'v = ["run", "--tp", "2"]\n'),
    "flag and value last": ('v = ["run", «"--page-size", "32"»]\n', 'v = ["run"]\n'),
    "flag and value on a line": (
        'v = [\n    "run",\n    «"--page-size", "32"»,  # p\n    "--x",\n]\n',
        'v = [\n    "run",\n    "--x",\n]\n',
    ),
    "flag and value on two lines": (
        'v = [\n    "run",\n    «"--page-size",\n    "32"»,\n]\n',
        'v = [\n    "run",\n]\n',
    ),
    "flag with value": ('v = ["run", «"--page-size=32"», "-x"]\n', 'v = ["run", "-x"]\n'),
    "flag in arguments": ('run("a", «"--page-size", "32"», "-x")\n', 'run("a", "-x")\n'),
    "continued line": ("x = a, \\\n    «b»\ny = 1\n", "x = a,\ny = 1\n"),
}

UPDATES = {
    "update": ("a = 1\nx.update(«page_size=16»)\nb = 2\n", "a = 1\nb = 2\n"),
    "update with more": ("x.update(«page_size=16», a=1)\n", "x.update(a=1)\n"),
    "update with a dict": ('vars(x).update({«"page_size": 16»})\nb = 2\n', "b = 2\n"),
    "override": ('if draft:\n    x.override("src", «page_size=1»)\nb = 2\n', "b = 2\n"),
    "override with more": ('x.override("src", «page_size=1», a=2)\n', 'x.override("src", a=2)\n'),
    "override, result used": ('x = x.override("src", «page_size=1»)\n', 'x = x.override("src")\n'),
    "receiver with a call": ("make().update(«page_size=16»)\n", "make().update()\n"),
    "other method": ("x.configure(«page_size=16»)\n", "x.configure()\n"),
    "extend": ('v.extend([«"--page-size", "32"»])\nrun(v)\n', "run(v)\n"),
    "append": ('v.append(«"--page-size=32"»)\nrun(v)\n', "run(v)\n"),
    "augmented list": ('v += [«"--page-size", "32"»]\nrun(v)\n', "run(v)\n"),
    "augmented dict": ('d |= {«"page_size": 32»}\nrun(d)\n', "run(d)\n"),
    "statement and its branch": (
        "if a:\n    x.update(«page_size=16»)\nelse:\n    y()\n",
        "if a:\n    pass\nelse:\n    y()\n",
    ),
}


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        pytest.param(*case, id=f"{kind}: {name}")
        for kind, cases in (("statement", STATEMENTS), ("branch", BRANCHES), ("item", ITEMS), ("update", UPDATES))
        for name, case in cases.items()
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_drop(marked: str, expected: str, newline: str) -> None:
    assert drop(marked.replace("\n", newline)) == expected.replace("\n", newline)


@pytest.mark.parametrize(
    "marked",
    [
        "if (page := 1) and «(page_size := 2)»:\n    pass\n",
        "f(«page_size := 2»)\n",
        "f(page_size=«2»)\n",
        "f(a, «page_size», b)\n",
        "draft.page_size = «1»\n",
        "«page = draft.page_size = 1»\n",
        "«draft.page_size, x = 1, 2»\n",
        "«draft.page_size = (n := 2)»\n",
        "«import x»\n",
        "f(«page_size=»1)\n",
        "f(«a=1, page_size=2)»\n",
        "x = (\n",
        "«»",
    ],
)
def test_no_edit(marked: str) -> None:
    text, drops = unmark(marked)
    assert drop_edits("m.py", text, drops) == []


@pytest.mark.parametrize("where", [(0, 1, 0, 2), (1, 1, 9, 1), (2, 1, 1, 1), (1, 90, 1, 95), (1, -5, 1, 3)])
def test_place_outside_the_text(where: tuple[int, int, int, int]) -> None:
    assert drop_edits("m.py", "a.page_size = 1\n", [Drop(Location("m.py", *where))]) == []


def test_columns_count_characters() -> None:
    assert drop('é = "𝕎ü"; «d.page_size = 1»; ñ = f("ß", page=2)\n') == 'é = "𝕎ü"; ñ = f("ß", page=2)\n'
    assert drop('é = f("𝕎ü", «page_size=1», ß=2)\n') == 'é = f("𝕎ü", ß=2)\n'


def test_tabs_and_form_feeds() -> None:
    assert drop("\x0cif a:\n\tb = 1\n\x0c\n\t«c.page_size = 2»\n\td(\n\t\t«page_size=1»,\n\t)\n") == (
        "\x0cif a:\n\tb = 1\n\x0c\n\td()\n"
    )
    assert drop("a = '\x0b\u2028'\nf(\x0ca, «page_size=1»)\n") == "a = '\x0b\u2028'\nf(\x0ca)\n"


def test_edits_are_located_in_the_named_file() -> None:
    text, drops = unmark("a = 1\n«b.page_size = 2»\nc = 3\n")
    assert drop_edits("m.py", text, drops) == [Replace(Location("m.py", 2, 1, 3, 1), "")]


def test_check_parses() -> None:
    assert check_parses("a = '\\d'\n")
    assert not check_parses("a = \n")
    assert not check_parses("a = '\0'\n")


NAMES = st.sampled_from(["a", "é", "draft", "value"])
INDENTS = st.sampled_from(["    ", "\t", " "])
COMMENTS = st.sampled_from(["", "  # why, (so)", " #"])
NEWLINES = st.sampled_from(["\n", "\r\n"])
KEPT = st.sampled_from(["x=1", "*rest", "**more", "f(2)", "(3)", "'ß,#'", "y=[1,\n 2]"])
DROPPED = st.sampled_from(["«page_size=1»", "«page_size = (2)»", "«page_size=f(\n  1,\n)»", "«page_size='é#,'»"])


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A statement with a call in any layout, and the items that must be left."""
    kept = sorted(draw(st.lists(KEPT, max_size=4)), key=lambda item: (item[1:2] == "=", item.startswith("**")))
    kept = [item if item[1:2] != "=" else f"k{index}{item[1:]}" for index, item in enumerate(kept)]
    positional = [item for item in kept if "=" not in item[:3] and not item.startswith("**")]
    rest = [item for item in kept if item not in positional]
    items = list(rest)
    for marked in draw(st.lists(DROPPED, min_size=1, max_size=1)):
        items.insert(draw(st.integers(0, len(items))), marked)
    items = positional + items
    text = "f("
    for index, item in enumerate(items):
        comment = draw(COMMENTS)
        text += draw(st.sampled_from(["", " ", "\n  ", "\n  # above\n  "])) + item
        if index + 1 < len(items) or draw(st.booleans()):
            text += draw(st.sampled_from(["", " "])) + ","
        text += comment + "\n" if comment else ""
    return text + draw(st.sampled_from([")", " )", "\n)"])), positional + rest


@given(
    calls(),
    st.sampled_from(["{}", "z = {}", "if {}:\n  pass", "if 1: a; {}", "@{}\ndef g(): pass", "return_({})"]),
    NEWLINES,
)
def test_any_call(call: tuple[str, list[str]], holder: str, newline: str) -> None:
    text, kept = call
    marked = ("é = 1\n" + holder.format(text) + "\nafter = 1\n").replace("\n", newline)
    after = drop(marked)
    assert after.startswith("é = 1" + newline)
    assert after.endswith(newline + "after = 1" + newline)
    found = next(
        node
        for node in ast.walk(ast.parse(after))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "f"
    )
    expected = ast.parse(f"f({', '.join(kept)})", mode="eval").body
    assert ast.dump(found) == ast.dump(expected)
    assert "page_size" not in after
    above = marked.count("# above")
    assert after.count("# above") in (above, above - 1)


@st.composite
def blocks(draw: st.DrawFn, depth: int = 2) -> list[str]:
    """The lines of a block with some droppable statements in it."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(
            st.sampled_from(["keep", "drop", "line", "if", "chain", "def", "try"] if depth else ["keep", "drop"])
        )
        comment = draw(COMMENTS)
        if kind == "keep":
            lines += [draw(NAMES) + " = 1" + comment]
        elif kind == "drop":
            lines += ["# above"] * draw(st.integers(0, 1)) + ["«d.page_size = (1,\n2)»" + comment]
        elif kind == "line":
            lines += ["; ".join(draw(st.lists(st.sampled_from(["k()", "«d.page_size = 1»"]), min_size=1)))]
        else:
            headers = {
                "if": [draw(st.sampled_from(["if a:", "if f():", "while a:"]))],
                "chain": ["if a:", *["elif b:"] * draw(st.integers(0, 2)), *["else:"] * draw(st.integers(0, 1))],
                "def": ["def g():"],
                "try": ["try:", "except E:", "else:", "finally:"],
            }[kind]
            indent = draw(INDENTS)
            for header in headers:
                lines += [header + comment, *(indent + line for line in draw(blocks(depth - 1)))]
    return lines


@given(blocks(), NEWLINES)
def test_any_block(lines: list[str], newline: str) -> None:
    text, drops = unmark(newline.join(line.replace("\n", newline) for line in lines) + newline)
    edits = drop_edits("m.py", text, drops)
    after = apply(text, edits)
    assert check_parses(after)
    assert "page_size" not in after
    assert bool(edits) is bool(drops)
    kept = [line.strip() for line in text.split(newline) if re.match(r"\s*\w+ = 1", line)]
    assert [line.strip() for line in after.split(newline) if re.match(r"\s*\w+ = 1", line)] == kept
    assert after.count("k()") == text.count("k()")
