"""Markdown: blocks by language, each a deployment of its own, with places in the document."""

from __future__ import annotations

import pathlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swa_lint.geometry import Location
from swa_lint.sources import dockerfile, shell
from swa_lint.sources.facts import FileFacts, Problem
from swa_lint.sources.markdown import read


def python(path: str, text: str, *, root: pathlib.Path | None = None) -> FileFacts:
    """Stands for the Python source: reports the first word of the text and where it stands."""
    line = next(i for i, line in enumerate(text.split("\n"), 1) if line.strip())
    word = text.split()[0]
    return FileFacts(path, problems=(Problem(Location(path, line, 1, line, 1 + len(word)), word),))


DELEGATES = {"shell": shell.read, "dockerfile": dockerfile.read, "python": python}


def facts(text: str) -> FileFacts:
    return read("a.md", text, delegates=DELEGATES)


def bindings(text: str) -> list[str]:
    """The text of every page size setting."""
    lines = text.split("\n")
    found = []
    for launch in facts(text).launches:
        page = launch.get("page_size")
        assert page is not None and page.where.line == page.where.end_line
        found.append(lines[page.where.line - 1][page.where.column - 1 : page.where.end_column - 1])
    return found


@pytest.mark.parametrize(
    "text",
    [
        "# T\n\n```bash\nsglang serve --page-size 64\n```\n",
        "~~~sh\nsglang serve \\\n  --page-size 64\n~~~\n",
        '```shell title="x"\nsglang serve --page-size 64\n```\n',
        "```{.bash .numberLines}\nsglang serve --page-size 64\n```\n",
        "```\nsglang serve --page-size 64\n```\n",
        "1. do\n\n   ```bash\n   sglang serve \\\n     --page-size 64\n   ```\n",
        "> ```bash\n> sglang serve --page-size 64\n> ```\n",
        "```console\n$ sglang serve \\\n>   --page-size 64\nsglang started --page-size 1\n```\n",
        "```bash\nsglang serve --model-path <your model> --page-size 64\n```\n",
        "````bash\nsglang serve --page-size 64\n````\n",
        "```bash\nsglang serve --page-size 64\n",
        "```dockerfile\nFROM a\nCMD sglang serve --page-size 64\n```\n",
    ],
)
def test_block_is_read_in_place(text: str) -> None:
    assert bindings(text) == ["--page-size 64"]


def test_windows_line_ends() -> None:
    text = "```bash\r\nsglang serve \\\r\n --page-size 64\r\n```\r\n"
    assert bindings(text) == ["--page-size 64"]


@pytest.mark.parametrize(
    "text",
    [
        "sglang serve --page-size 64\n",
        "`sglang serve --page-size 64`\n",
        "```text\nsglang serve --page-size 64\n```\n",
        "```json\n{}\n```\n",
        "````text\n```bash\nsglang serve --page-size 64\n```\n````\n",
    ],
)
def test_other_text_is_not_read(text: str) -> None:
    assert facts(text) == FileFacts("a.md")


def test_every_block_is_a_deployment() -> None:
    block = "```bash\nsglang serve --disaggregation-mode {} --page-size 1\n```\n"
    found = facts(block.format("prefill") + "or\n" + block.format("decode")).launches
    assert [launch.deployment for launch in found] == ["a.md#2", "a.md#6"]


def test_one_block_is_one_deployment() -> None:
    lines = "sglang serve --disaggregation-mode {} --page-size 1 &\n"
    found = facts("```bash\n" + lines.format("prefill") + lines.format("decode") + "```\n").launches
    assert len({launch.deployment for launch in found}) == 1


def test_indented_block_is_dedented_for_its_source() -> None:
    seen = []

    def spy(path: str, text: str, *, root: pathlib.Path | None = None) -> FileFacts:
        seen.append(text)
        return FileFacts(path)

    read("a.md", "- x\n  ```python\n  if x:\n      y\n  ```\n", delegates={"python": spy})
    assert seen == ["\n\nif x:\n    y\n"]


def test_problems_of_blocks_are_no_problems_of_the_file() -> None:
    assert facts("```python\nbroken(\n```\n").problems == ()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "```bash\n",
                "```\n",
                "~~~sh\n",
                "   ```sh\n",
                "> ",
                "  ",
                "$ ",
                "sglang serve ",
                "--page-size 64",
                "\n",
                "\\\n",
                "'",
                "<a b>",
                "é",
                "\r\n",
                "FROM a\n",
                "```dockerfile\n",
                "CMD sglang serve\n",
            ]
        ),
        max_size=25,
    ).map("".join)
)
def test_no_text_breaks_the_reader(text: str) -> None:
    delegates = {"shell": shell.read, "dockerfile": dockerfile.read}
    for launch in read("a.md", text, delegates=delegates).launches:
        assert launch.deployment.startswith("a.md#")
