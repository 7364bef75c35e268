"""The Language Server Protocol around `analysis`, `hover` and `edits`.

One worker thread analyses, one document at a time, so that messages are answered meanwhile. A document that changes
while it is analysed is analysed once more, as it then is, and what was found of its old text is thrown away.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from swa_lint import __version__
from swa_lint.config import ConfigError
from swa_lint.finding import Applicability, Finding, Replace, Severity
from swa_lint.server.analysis import Analysis, Document, analyse
from swa_lint.server.edits import fix_all, quick_fix
from swa_lint.server.hover import hover
from swa_lint.server.positions import Positions
from swa_lint.session import USER_ERRORS

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.swaLint"
_SOURCE = "swa-lint"
_LOG = logging.getLogger(__name__)
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
# Somebody is typing faster than we read: wait this long, in seconds, for the next letters.
_PAUSE = 0.05
_T = TypeVar("_T")


@dataclass
class _Open:
    """An open document: how often an analysis was asked for and how many of those calls it has answered.

    `diagnostics` are by URI: a defect of two files may sit in the other one.
    """

    wanted: int = 0
    answered: int = 0
    task: asyncio.Task[None] | None = None
    analysis: Analysis | None = None
    diagnostics: dict[str, list[types.Diagnostic]] = field(default_factory=dict)


class Server(LanguageServer):
    """The server of one editor."""

    def __init__(self) -> None:
        # Whole texts: the changes of parts count lines otherwise than pygls does (a form feed ends a line for it).
        super().__init__(_SOURCE, __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.open: dict[str, _Open] = {}
        self._worker = ThreadPoolExecutor(1)
        self._trouble: str | None = None

    async def in_worker(self, work: Callable[[], _T]) -> _T:
        """Do `work` in the thread that analyses: nothing of an analysis is made for two at once."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def refresh(self, uris: Iterable[str]) -> None:
        """Have open documents analysed as they now are."""
        for uri in uris:
            state = self.open.setdefault(uri, _Open())
            state.wanted += 1
            if state.task is None or state.task.done():
                state.task = asyncio.create_task(self._keep_up(uri, state))

    async def current(self, uri: str) -> Analysis | None:
        """The analysis of a document's newest text; None where there is none."""
        state = self.open.get(uri)
        if state is None:
            return None
        if state.task is not None and not state.task.done():
            await asyncio.shield(state.task)  # the request may be cancelled, the analysis goes on
        return state.analysis

    def close(self, uri: str) -> None:
        """Forget a document, and what was said because of it."""
        state = self.open.pop(uri, None)
        for other in state.diagnostics if state else ():
            self._publish(other)

    async def _keep_up(self, uri: str, state: _Open) -> None:
        while state.answered < state.wanted and self.open.get(uri) is state:
            asked = state.wanted
            document = self._document(uri)
            analysis, trouble = await self.in_worker(partial(_analysed, document, self._folders()))
            state.answered = asked
            if state.wanted == asked and self.open.get(uri) is state:
                self._tell(trouble)
                self._take(uri, state, analysis, document.version)
            else:
                await asyncio.sleep(_PAUSE)

    def _document(self, uri: str) -> Document:
        text = self.workspace.get_text_document(uri)
        return Document(self._file(uri), text.source, text.language_id or "", text.version)

    def _file(self, uri: str) -> Path:
        """Where a document lies; one that was never saved, in the editor's first folder."""
        parts = urlsplit(uri)
        path = to_fs_path(uri) if parts.scheme == "file" else None
        if path:
            return Path(path)
        return next(iter(self._folders()), Path.cwd()) / (Path(unquote(parts.path)).name or "untitled")

    def _folders(self) -> list[Path]:
        folders = [to_fs_path(uri) for uri in self.workspace.folders] or [self.workspace.root_path]
        return [Path(folder) for folder in folders if folder]

    def _tell(self, trouble: str | None) -> None:
        """Show the user, once, why nothing can be analysed."""
        if trouble is not None and trouble != self._trouble:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, trouble))
        self._trouble = trouble

    def _take(self, uri: str, state: _Open, analysis: Analysis | None, version: int | None) -> None:
        """Publish what was found, and take back what no longer is."""
        before = state.diagnostics
        state.analysis, state.diagnostics = analysis, {uri: []}
        if analysis is not None:
            converter = Converter(self, uri, analysis)
            for finding in analysis.findings:
                place = converter.uri(finding.where.path)
                state.diagnostics.setdefault(place, []).append(converter.diagnostic(finding))
        for place in {**before, **state.diagnostics}:
            self._publish(place, version if place == uri else None)

    def _publish(self, uri: str, version: int | None = None) -> None:
        """Publish what is known of a file: by its own analysis where it is open, else by those of others."""
        found: list[types.Diagnostic] = []
        for state in [self.open[uri]] if uri in self.open else self.open.values():
            found += [item for item in state.diagnostics.get(uri, ()) if item not in found]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))


def _analysed(document: Document, folders: list[Path]) -> tuple[Analysis | None, str | None]:
    """The analysis, or why there can be none."""
    try:
        return analyse(document, folders), None
    except (ConfigError, *USER_ERRORS) as error:
        return None, f"swa-lint: {error}"
    except Exception as error:  # the server outlives whatever a text does to it
        _LOG.exception("%s cannot be analysed", document.file)
        return None, f"swa-lint: internal error, please report it: {type(error).__name__}: {error}"


class Converter:
    """Findings and edits of one analysis as the protocol has them."""

    def __init__(self, server: Server, uri: str, analysis: Analysis) -> None:
        self._server = server
        self._uri = uri
        self._analysis = analysis
        self._positions: dict[str, Positions] = {}

    def uri(self, path: str) -> str:
        """The URI of a file, as the editor spells it where it is open there."""
        if path == self._analysis.path:
            return self._uri
        file = self._analysis.session.request.root / path
        known = (uri for uri in self._server.open if to_fs_path(uri) == str(file))
        return next(known, None) or from_fs_path(str(file)) or file.as_uri()

    def positions(self, path: str) -> Positions:
        """The places in a file."""
        if path not in self._positions:
            analysis = self._analysis
            text = analysis.text if path == analysis.path else analysis.session.text(path)
            self._positions[path] = Positions(text or "", self._server.workspace.position_codec)
        return self._positions[path]

    def diagnostic(self, finding: Finding) -> types.Diagnostic:
        """A finding as the editor shows it."""
        related = [
            types.DiagnosticRelatedInformation(
                types.Location(self.uri(item.where.path), self.positions(item.where.path).range(item.where)),
                item.message,
            )
            for item in finding.related
        ]
        return types.Diagnostic(
            range=self.positions(finding.where.path).range(finding.where),
            message=finding.message,
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            source=_SOURCE,
            related_information=related,
        )

    def edit(self, edits: Iterable[Replace]) -> types.WorkspaceEdit:
        """Edits of files as one change of the workspace."""
        changes: dict[str, list[types.TextEdit]] = {}
        for edit in edits:
            path = edit.where.path
            changes.setdefault(self.uri(path), []).append(
                types.TextEdit(self.positions(path).range(edit.where), edit.text)
            )
        return types.WorkspaceEdit(changes=dict(changes))


def _actions(converter: Converter, analysis: Analysis, asked: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """The fixes of findings in the range, and all safe ones together where the editor asks for such actions."""
    only = asked.context.only
    if only is None or _wants(only, types.CodeActionKind.QuickFix.value):
        positions = converter.positions(analysis.path)
        for finding in analysis.at(positions.place(asked.range.start), positions.place(asked.range.end)):
            edits = quick_fix(analysis, finding)
            if edits and finding.remedy:
                kind = finding.remedy.applicability
                yield types.CodeAction(
                    title=f"{finding.remedy.message} ({finding.code}, {kind.value} fix)",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[converter.diagnostic(finding)],
                    is_preferred=kind is Applicability.SAFE,
                    edit=converter.edit(edits),
                )
    if only is not None and _wants(only, FIX_ALL) and (edits := fix_all(analysis)):
        yield types.CodeAction(title="Apply all safe fixes of swa-lint", kind=FIX_ALL, edit=converter.edit(edits))


def _wants(only: Iterable[types.CodeActionKind | str], kind: str) -> bool:
    """Whether an editor that asks for the kinds `only` wants actions of `kind`."""
    asked = (item.value if isinstance(item, types.CodeActionKind) else item for item in only)
    return any(kind == item or kind.startswith(f"{item}.") for item in asked)


def make_server() -> Server:
    """The server with its handlers."""
    server = Server()

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace else None
        if watching and watching.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher("**/pyproject.toml")])
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            server.client_register_capability(types.RegistrationParams([types.Registration("config", method, options)]))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.refresh([params.text_document.uri])

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        server.refresh([params.text_document.uri])

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        server.refresh(list(server.open))  # others may import it, and it may be the configuration

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        server.refresh(list(server.open))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def on_hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        analysis = await server.current(uri)
        if analysis is None:
            return None
        positions = Converter(server, uri, analysis).positions(analysis.path)
        line, column = positions.place(params.position)
        found = await server.in_worker(lambda: hover(analysis, line, column))
        if found is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, found.text)
        return types.Hover(content, positions.range(found.where))

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]))
    async def on_code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        analysis = await server.current(uri)
        if analysis is None:
            return []
        converter = Converter(server, uri, analysis)
        return await server.in_worker(lambda: list(_actions(converter, analysis, params)))

    return server


def serve() -> None:
    """Serve the editor at the other end of standard input and output until it says goodbye."""
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed by accident must not get between the messages
    make_server().start_io(sys.stdin.buffer, channel)
