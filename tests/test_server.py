"""The editor server, over the real protocol: a client of pygls talks to the command as an editor does."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from project import BAD, BAD_SHELL, FIXED, write
from pygls.lsp.client import LanguageClient

from swa_lint.project.text import Lines
from swa_lint.server.protocol import FIX_ALL

_TIMEOUT = 30
_MAIN = "from swa_lint.cli import main; main()"
_LANGUAGES = {".py": "python", ".sh": "shellscript", ".yaml": "yaml", ".json": "json", ".toml": "toml"}


class Editor(LanguageClient):
    """An editor over one folder; it keeps the newest diagnostics of each file and the messages it is shown."""

    def __init__(self, root: Path) -> None:
        super().__init__("test editor", "1")
        self.root = root
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.registered: list[types.Registration] = []
        self._news = asyncio.Event()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.published[params.uri] = params
            self._news.set()

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def show(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._news.set()

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.registered += params.registrations
            self._news.set()

    def uri(self, name: str) -> str:
        return name if ":" in name else (self.root / name).as_uri()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for news that make `condition` true."""

        async def wait() -> None:
            while not condition():
                self._news.clear()
                await self._news.wait()

        await asyncio.wait_for(wait(), _TIMEOUT)

    def type(self, name: str, text: str, language: str | None = None) -> None:
        """Open a document, or make `text` its content."""
        uri = self.uri(name)
        version = self.versions[uri] = self.versions.get(uri, 0) + 1
        if version == 1:
            language = language or _LANGUAGES.get(Path(name).suffix, "plaintext")
            self.text_document_did_open(
                types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, version, text))
            )
        else:
            document = types.VersionedTextDocumentIdentifier(version, uri)
            change = types.TextDocumentContentChangeWholeDocument(text)
            self.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        self.texts[uri] = text

    async def diagnostics(self, name: str) -> list[types.Diagnostic]:
        """What is published for the newest text of a document."""
        uri = self.uri(name)
        await self.until(lambda: uri in self.published and self.published[uri].version == self.versions.get(uri))
        return list(self.published[uri].diagnostics)

    async def check(self, name: str, text: str, language: str | None = None) -> list[types.Diagnostic]:
        self.type(name, text, language)
        return await self.diagnostics(name)

    async def codes(self, name: str, text: str) -> list[Any]:
        return [item.code for item in await self.check(name, text)]

    async def hover(self, name: str, line: int, character: int) -> str:
        """The hover's text at a position from 0, or nothing."""
        document = types.TextDocumentIdentifier(self.uri(name))
        found = await self.text_document_hover_async(types.HoverParams(document, types.Position(line, character)))
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def actions(self, name: str, where: types.Range, *only: str) -> list[types.CodeAction]:
        context = types.CodeActionContext([], list(only) or None)
        document = types.TextDocumentIdentifier(self.uri(name))
        found = await self.text_document_code_action_async(types.CodeActionParams(document, where, context)) or []
        assert all(isinstance(action, types.CodeAction) for action in found)
        return [action for action in found if isinstance(action, types.CodeAction)]

    def applied(self, name: str, action: types.CodeAction) -> str:
        """A document's text after an action, positions counted in UTF-16."""
        assert action.edit is not None and action.edit.changes is not None
        (uri,) = action.edit.changes
        assert uri == self.uri(name)
        text = self.texts[uri]
        lines = Lines(text)

        def offset(position: types.Position) -> int:
            line = lines.line(position.line + 1).encode("utf-16-le", "surrogatepass")
            column = len(line[: 2 * position.character].decode("utf-16-le", "surrogatepass")) + 1
            return lines.offset(position.line + 1, column)

        for edit in sorted(action.edit.changes[uri], key=lambda edit: offset(edit.range.start), reverse=True):
            text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
        return text


@asynccontextmanager
async def _editor(root: Path, watch: bool = False) -> AsyncIterator[Editor]:
    editor = Editor(root)
    await editor.start_io(sys.executable, "-c", _MAIN, "server", "--stdio", cwd=root)
    watched = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=watch)
    capabilities = types.ClientCapabilities(types.WorkspaceClientCapabilities(did_change_watched_files=watched))
    folders = [types.WorkspaceFolder(root.as_uri(), root.name)]
    await asyncio.wait_for(
        editor.initialize_async(types.InitializeParams(capabilities, workspace_folders=folders)), _TIMEOUT
    )
    editor.initialized(types.InitializedParams())
    try:
        yield editor
        assert editor._server is not None and editor._server.returncode is None, "the server is gone"
        await asyncio.wait_for(editor.shutdown_async(None), _TIMEOUT)
        editor.exit(None)
        assert await asyncio.wait_for(editor._server.wait(), _TIMEOUT) == 0
        assert editor._server.stderr is not None
        assert (await editor._server.stderr.read()).decode() == ""
    finally:
        if editor._server is not None and editor._server.returncode is None:
            editor._server.kill()
        await editor.stop()


def edit_in(root: Path, session: Callable[[Editor], Awaitable[None]], *, watch: bool = False) -> None:
    """Run `session` with an editor over `root`; the server must end well."""

    async def run() -> None:
        async with _editor(root, watch) as editor:
            await session(editor)

    asyncio.run(run())


def findings_of_check(root: Path, name: str, text: str) -> list[dict[str, Any]]:
    """What the command finds in a text of that name."""
    args = ["check", "-", "--stdin-filename", name, "--output-format", "json", "--exit-zero"]
    done = subprocess.run(
        [sys.executable, "-c", _MAIN, *args], input=text.encode(), cwd=root, capture_output=True, check=True
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return found


CONFIG = '{"architectures": ["DeepseekV4ForCausalLM"], "sliding_window": 128, "window_size": 256}'
MANIFEST = """services:
  prefill:
    image: lmsysorg/sglang:latest
    command: python3 -m sglang.launch_server --model-path m --disaggregation-mode prefill --page-size 64
  decode:
    image: lmsysorg/sglang:latest
    command: python3 -m sglang.launch_server --model-path m --disaggregation-mode decode --page-size 32
"""
DOCKERFILE = """FROM lmsysorg/sglang:latest
CMD python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V4 --page-size 64
"""  # noqa: SWA304 (meant)
DOCUMENTS = {
    "bad.py": (BAD, ["SWA101"]),
    "run.sh": (BAD_SHELL, ["SWA301"]),
    "compose.yaml": (MANIFEST, ["SWA301"]),
    "Dockerfile": (DOCKERFILE, ["SWA304"]),
    "model/config.json": (CONFIG, ["SWA402"]),
    "broken.py": ("def page_size(:\n", ["SWA902"]),
}


def test_every_kind_of_file_has_the_findings_of_check(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        for name, (text, codes) in DOCUMENTS.items():
            shown = await editor.check(name, text)
            expected = findings_of_check(tmp_path, name, text)
            assert [item.code for item in shown] == [item["code"] for item in expected] == codes
            for item, finding in zip(shown, expected, strict=True):
                start, end = item.range.start, item.range.end
                assert (start.line + 1, start.character + 1) == (finding["line"], finding["column"])
                assert (end.line + 1, end.character + 1) == (finding["end_line"], finding["end_column"])
                assert item.message == finding["message"] and item.source == "swa-lint"
                assert item.severity is not None and item.severity.name.lower().startswith(finding["severity"])
                related = item.related_information or []
                assert [r.message for r in related] == [r["message"] for r in finding["related"]]

    edit_in(tmp_path, session)


def test_the_text_of_the_editor_counts_not_the_file(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": BAD})

    async def session(editor: Editor) -> None:
        assert await editor.codes("a.py", FIXED) == []
        assert await editor.codes("a.py", BAD) == ["SWA101"]
        assert await editor.codes("a.py", "def page_size(:\n") == ["SWA902"]
        assert await editor.codes("a.py", FIXED) == []

    edit_in(tmp_path, session)


def test_a_document_without_a_telling_name_goes_by_its_language(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        assert [i.code for i in await editor.check("untitled:Untitled-1", BAD, "python")] == ["SWA101"]
        assert [i.code for i in await editor.check("start", BAD_SHELL, "shellscript")] == ["SWA301"]
        assert await editor.check("notes.txt", BAD, "plaintext") == []
        assert await editor.check("main.c", BAD, "c") == []

    edit_in(tmp_path, session)


def test_what_was_typed_meanwhile_is_what_is_shown(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        for index in range(40):
            editor.type("a.py", BAD + f"\nx = {index}\n")
        editor.type("a.py", BAD.replace("= 1", "= 77"))
        (found,) = await editor.diagnostics("a.py")
        assert "77" in found.message

    edit_in(tmp_path, session)


def test_a_closed_document_has_no_diagnostics(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        assert await editor.codes("a.py", BAD) == ["SWA101"]
        uri = editor.uri("a.py")
        editor.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        await editor.until(lambda: not editor.published[uri].diagnostics)
        assert await editor.hover("a.py", 5, 6) == ""

    edit_in(tmp_path, session)


def test_a_finding_in_another_file_is_shown_there_and_taken_back(tmp_path: Path) -> None:
    config = {"architectures": ["DeepseekV4ForCausalLM"], "sliding_window": 128}
    write(
        tmp_path, {"t/config.json": json.dumps(config), "d/config.json": json.dumps({**config, "sliding_window": 64})}
    )
    launch = "python3 -m sglang.launch_server --model-path t --speculative-algorithm EAGLE"
    paired = launch + " --speculative-draft-model-path d\n"

    async def session(editor: Editor) -> None:
        assert await editor.codes("run.sh", paired) == []
        draft = editor.uri("d/config.json")
        await editor.until(lambda: draft in editor.published)
        assert [item.code for item in editor.published[draft].diagnostics] == ["SWA401"]
        text = await editor.hover("run.sh", 0, len(launch) + 5)
        assert "target window: `128`" in text and "draft window: `64`" in text
        assert await editor.codes("run.sh", launch + "\n") == []
        await editor.until(lambda: not editor.published[draft].diagnostics)

    edit_in(tmp_path, session)


def test_columns_count_utf_16(tmp_path: Path) -> None:
    line = "    s = '\U0001f600\u6f22'; draft_args.page_size = 1"
    text = BAD.replace("    draft_args.page_size = 1", line)

    async def session(editor: Editor) -> None:
        (found,) = await editor.check("a.py", text)
        at = line.index("draft_args") + 1  # one character of two units
        assert (found.range.start.line, found.range.start.character) == (5, at)
        assert found.range.end.character == len(line) + 1
        (action,) = await editor.actions("a.py", found.range)
        assert editor.applied("a.py", action) == text.replace("; draft_args.page_size = 1", "")
        assert "SWA101" in await editor.hover("a.py", 5, at)
        assert await editor.hover("a.py", 5, 6) == ""

    edit_in(tmp_path, session)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_end_as_the_protocol_says(tmp_path: Path, newline: str) -> None:
    text = ("# a\fb \u2028 c\n" + BAD).replace("\n", newline)

    async def session(editor: Editor) -> None:
        (found,) = await editor.check("a.py", text)
        assert found.range.start.line == 6
        (action,) = await editor.actions("a.py", found.range)
        assert editor.applied("a.py", action) == ("# a\fb \u2028 c\n" + FIXED).replace("\n", newline)

    edit_in(tmp_path, session)


def test_a_text_with_a_mark_or_a_declared_encoding_has_true_columns(tmp_path: Path) -> None:
    line = "\ufefffrom copy import deepcopy; deepcopy('\u00e9')"
    launch = "\ufeffpython3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V4 --page-size 64\n"
    cookie = "# -*- coding: latin-1 -*-\n" + BAD.replace("draft_args.page", "s = '\u00e9'; draft_args.page")

    async def session(editor: Editor) -> None:
        assert (await editor.check("a.py", BAD.replace("from copy import deepcopy", line)))[0].code == "SWA101"
        (found,) = await editor.check("a.sh", launch)
        assert found.range.start.character == launch.index("--page-size")
        (found,) = await editor.check("latin.py", cookie)
        assert found.range.start.character == cookie.splitlines()[6].index("draft_args")

    edit_in(tmp_path, session)


def test_fixes_name_their_safety_and_mend_the_finding(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        (found,) = await editor.check("a.py", BAD)
        (action,) = await editor.actions("a.py", found.range)
        assert action.title.endswith("(SWA101, safe fix)") and action.is_preferred
        assert action.kind == types.CodeActionKind.QuickFix
        assert list(action.diagnostics or ()) == [found]
        assert await editor.codes("a.py", editor.applied("a.py", action)) == []
        (found,) = await editor.check("run.sh", BAD_SHELL)
        (action,) = await editor.actions("run.sh", found.range, "quickfix")
        assert action.title.endswith("(SWA301, unsafe fix)") and not action.is_preferred
        assert await editor.codes("run.sh", editor.applied("run.sh", action)) == []
        (found,) = await editor.check("Dockerfile", DOCKERFILE)
        assert await editor.actions("Dockerfile", found.range) == []

    edit_in(tmp_path, session)


def test_all_safe_fixes_at_once_when_the_editor_asks(tmp_path: Path) -> None:
    twice = BAD + BAD.replace("def start", "def again")
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))

    async def session(editor: Editor) -> None:
        assert await editor.codes("a.py", twice) == ["SWA101", "SWA101"]
        assert await editor.actions("a.py", nowhere) == []
        for kind in ("source", "source.fixAll", "source.fixAll.swaLint"):
            (action,) = await editor.actions("a.py", nowhere, kind)
            assert editor.applied("a.py", action) == FIXED + FIXED.replace("def start", "def again")
        assert await editor.actions("a.py", nowhere, "source.fixAll.other") == []
        assert await editor.actions("a.py", nowhere, "source.organizeImports") == []
        assert await editor.codes("run.sh", BAD_SHELL) == ["SWA301"]
        assert await editor.actions("run.sh", nowhere, "source.fixAll") == []

    edit_in(tmp_path, session)


def test_hover_documents_the_rule_and_both_values(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        await editor.check("a.py", BAD)
        text = await editor.hover("a.py", 5, 10)
        assert "- target page_size: `server_args.page_size`" in text
        assert "- draft page_size: `1` (literal)" in text
        assert "# draft-page-size-override (SWA101)" in text
        assert await editor.hover("a.py", 0, 0) == ""
        await editor.check("run.sh", BAD_SHELL)
        text = await editor.hover("run.sh", 1, BAD_SHELL.splitlines()[1].index("32"))
        assert "- prefill page_size: `64`" in text and "- decode page_size: `32`" in text

    edit_in(tmp_path, session)


LAUNCHES = [
    ("--page-size 64", "page size: `64`, as set here"),
    ("--page-size ${PAGE:-32}", "page size: `32`, as set here"),
    ("--tp-size 2", "page size: the engine's default"),
    (
        "--attention-backend flashmla --page-size 1",
        "`64`, from the flashmla backend; the `1` given here has no eff",
    ),
    ("--disaggregation-mode decode", "**Effective geometry** of this launch, decode"),
    ("--attention-backend fa4 --page-size 64", "page size: decided by the engine at start-up"),
    ("--page-size 64 --dcp-size 2", "the draft pool's page size: `128`, the page size times --dcp-size 2"),
]


def test_hover_says_what_the_engine_makes_of_a_launch(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        launch = "python3 -m sglang.launch_server --model-path m "
        for flags, expected in LAUNCHES:
            await editor.check("run.sh", launch + flags + "\n")
            assert expected in await editor.hover("run.sh", 0, len(launch) + 3), flags
            assert await editor.hover("run.sh", 0, 2) == ""

    edit_in(tmp_path, session)


def test_hover_says_which_window_the_engine_reads(tmp_path: Path) -> None:
    config = CONFIG.replace("256", "128")

    async def session(editor: Editor) -> None:
        assert await editor.codes("config.json", config) == []
        read = await editor.hover("config.json", 0, config.index("sliding_window") + 2)
        assert "window: `128` (sliding_window in config.json)" in read and "not read" not in read
        assert "window_size is not read" in await editor.hover("config.json", 0, config.index("window_size") + 2)

    edit_in(tmp_path, session)


def test_the_configuration_holds_and_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "[tool.swa-lint]\nexclude = ['/old/']\n"})

    async def session(editor: Editor) -> None:
        await editor.until(lambda: bool(editor.registered))
        assert await editor.codes("a.py", BAD) == ["SWA101"]
        assert await editor.codes("old/a.py", BAD) == []
        write(tmp_path, {"pyproject.toml": "[tool.swa-lint]\nignore = ['SWA101']\n"})
        event = types.FileEvent(editor.uri("pyproject.toml"), types.FileChangeType.Changed)
        editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        uri = editor.uri("a.py")
        await editor.until(lambda: not editor.published[uri].diagnostics)
        write(tmp_path, {"pyproject.toml": "[tool.swa-lint]\nselekt = []\n"})
        assert await editor.codes("a.py", BAD) == []
        await editor.until(lambda: bool(editor.messages))
        assert await editor.codes("a.py", BAD) == []
        assert len(editor.messages) == 1 and "unknown key `selekt`" in editor.messages[0]
        write(tmp_path, {"pyproject.toml": ""})
        assert await editor.codes("a.py", BAD) == ["SWA101"]

    edit_in(tmp_path, session, watch=True)


def test_saving_a_file_renews_those_that_import_it(tmp_path: Path) -> None:
    write(tmp_path, {"sizes.py": "PAGE = 1\n"})
    text = "from sizes import PAGE\n" + BAD.replace("page_size = 1", "page_size = PAGE")

    async def session(editor: Editor) -> None:
        assert "1" in (await editor.check("a.py", text))[0].message
        editor.type("sizes.py", "PAGE = 4321\n")
        write(tmp_path, {"sizes.py": "PAGE = 4321\n"})
        document = types.TextDocumentIdentifier(editor.uri("sizes.py"))
        editor.text_document_did_save(types.DidSaveTextDocumentParams(document))
        uri = editor.uri("a.py")
        await editor.until(lambda: "4321" in editor.published[uri].diagnostics[0].message)

    edit_in(tmp_path, session)


def test_no_text_ends_the_server(tmp_path: Path) -> None:
    texts = [
        "",
        "\0",
        "\ufeff",
        "\ud83d = page_size",
        "page_size = " + "(" * 5000,
        "# -*- coding: nonsense -*-\npage_size",
    ]
    texts += ["draft " + "\\\n" * 300, BAD + "\ud800", "{" * 3000 + "page_size", "- page_size: &a [*a]\n", "x" * 300000]
    everywhere = types.Range(types.Position(0, 0), types.Position(999, 999))

    async def session(editor: Editor) -> None:
        for name in DOCUMENTS:
            for text in [*texts, DOCUMENTS[name][0]]:
                await editor.check(name, text)
                await editor.hover(name, 0, 0)
                await editor.hover(name, 99, 99)
                await editor.actions(name, everywhere)
            assert [i.code for i in editor.published[editor.uri(name)].diagnostics] == DOCUMENTS[name][1]
        assert editor.messages == []

    edit_in(tmp_path, session)


def test_a_stray_print_does_not_break_the_protocol(tmp_path: Path) -> None:
    """Whatever writes to standard output while the server runs must end up elsewhere."""
    chatty = "import swa_lint.server.analysis as a; old = a.load_config; "
    chatty += "a.load_config = lambda folder: print(1, end='', flush=True) or old(folder)"

    async def run() -> None:
        editor = Editor(tmp_path)
        await editor.start_io(sys.executable, "-c", f"{chatty}; {_MAIN}", "server", cwd=tmp_path)
        await editor.initialize_async(types.InitializeParams(types.ClientCapabilities(), root_uri=tmp_path.as_uri()))
        assert await editor.codes("a.py", BAD) == ["SWA101"]
        await editor.shutdown_async(None)
        editor.exit(None)
        await editor.stop()

    asyncio.run(asyncio.wait_for(run(), _TIMEOUT))


def test_the_documentation_names_the_action() -> None:
    page = Path(__file__).parent.parent / "docs" / "editors.md"
    assert f'"{FIX_ALL}"' in page.read_text("utf-8")


def test_without_pygls_the_command_says_what_to_install() -> None:
    hide = "import sys; sys.modules['pygls'] = None; "
    done = subprocess.run([sys.executable, "-c", hide + _MAIN, "server"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'swa-lint[server]'" in done.stderr and "Traceback" not in done.stderr
