"""How long an editor waits: a real server answers a client about files of 2,000 lines. Exits 1 over the limit.

    python bench/server.py

Limit: 100 ms from a change, or a request, to the answer, after the first answer, on a machine that starts a bare interpreter
in 10 ms; the median of the repetitions counts. Files: Python, a launch script and a manifest of many documents, each with
findings. Without a limit beside them: the first answers, and a compose file, one YAML document that is parsed as a whole.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

LIMIT_MS = 100.0
LINES = 2000
REPETITIONS = 15
_MAIN = "from swa_lint.cli import main; main()"

_FUNCTION = '''
def helper_{n}(items, server_args, draft_worker=None):
    """One of many functions that have little to do with geometry."""
    total = 0
    for index, item in enumerate(items):
        if item is None or index % {n} == 0:
            continue
        total += item.size * server_args.page_size
    return {{"total": total, "pages": total // server_args.page_size}}

'''
_DEFECT = """
from copy import deepcopy
from sglang.srt.managers.tp_worker import TpModelWorker

def start(server_args):
    draft_args = deepcopy(server_args)
    draft_args.page_size = 1
    return TpModelWorker(server_args=draft_args, is_draft_worker=True)

"""
_SHELL = """
run_{n}() {{
  export NCCL_DEBUG=WARN
  echo "starting step {n}"
  python3 -m sglang.bench_serving --num-prompts {n} --output-file "out-{n}.json"
}}
"""
_LAUNCHES = """
python3 -m sglang.launch_server --model-path m --disaggregation-mode prefill --page-size 64 &
python3 -m sglang.launch_server --model-path m --disaggregation-mode decode --page-size 32 &
"""  # noqa: SWA301 (meant)
_DEPLOYMENT = """---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: server-{n}
spec:
  template:
    spec:
      containers:
        - name: sglang
          image: lmsysorg/sglang:latest
          args: ["--model-path", "m", "--page-size", "{n}"]
          env:
            - name: STEP
              value: "{n}"
            - name: NCCL_DEBUG
              value: WARN
          ports:
            - containerPort: 30000
          readinessProbe:
            httpGet:
              path: /health
              port: 30000
            periodSeconds: 10
          resources:
            limits:
              nvidia.com/gpu: 8
          volumeMounts:
            - name: models
              mountPath: /models
      volumes:
        - name: models
          persistentVolumeClaim:
            claimName: models
"""
_DEPLOYMENTS = """---
apiVersion: v1
kind: Pod
metadata:
  name: pair
spec:
  containers:
    - name: prefill
      command: [python3, -m, sglang.launch_server, --model-path, m, --disaggregation-mode, prefill, --page-size=64]
    - name: decode
      command: [python3, -m, sglang.launch_server, --model-path, m, --disaggregation-mode, decode, --page-size=32]
"""
_SERVICE = """  helper-{n}:
    image: busybox
    environment:
      STEP: "{n}"
    command: ["sleep", "{n}"]
"""
_SERVICES = """  prefill:
    image: lmsysorg/sglang:latest
    command: python3 -m sglang.launch_server --model-path m --disaggregation-mode prefill --page-size 64
  decode:
    image: lmsysorg/sglang:latest
    command: python3 -m sglang.launch_server --model-path m --disaggregation-mode decode --page-size 32
"""  # noqa: SWA301 (meant)


def _filled(part: str, defect: str, head: str = "") -> str:
    """About `LINES` lines of `part`, with `defect` in their middle."""
    count = LINES // part.count("\n")
    parts = [part.format(n=n) for n in range(1, count + 1)]
    return head + "".join([*parts[: count // 2], defect, *parts[count // 2 :]])


FILES = {
    "worker.py": ("python", _filled(_FUNCTION, _DEFECT), "draft_args.page_size"),
    "run.sh": ("shellscript", _filled(_SHELL, _LAUNCHES), "--page-size 32"),
    "manifest.yaml": ("yaml", _filled(_DEPLOYMENT, _DEPLOYMENTS), "--page-size=32"),
    "compose.yaml": ("yaml", _filled(_SERVICE, _SERVICES, "services:\n"), "--page-size 32"),
}
WITHOUT_LIMIT = ("compose.yaml",)


class _Editor(LanguageClient):
    def __init__(self) -> None:
        super().__init__("bench", "1")
        self.news: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.news.put_nowait(params)

    async def answer(self, version: int) -> list[types.Diagnostic]:
        """The diagnostics of a version of the document."""
        while (news := await self.news.get()).version != version:
            pass
        return list(news.diagnostics)


async def _measured(work: Callable[[], Awaitable[Any]]) -> float:
    started = perf_counter()
    assert await work(), "an answer that says something"
    return 1000 * (perf_counter() - started)


async def _file(editor: _Editor, uri: str, language: str, text: str, at: str) -> dict[str, float]:
    """Milliseconds for the first answer, and the medians for changes, hovers and code actions."""
    before = text[: text.index(at)]
    position = types.Position(before.count("\n"), len(before) - before.rfind("\n"))
    document = types.TextDocumentIdentifier(uri)
    where = types.Range(position, position)

    async def first() -> object:
        editor.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, 0, text)))
        return await editor.answer(0)

    async def change(version: int) -> object:
        changed = types.TextDocumentContentChangeWholeDocument(f"{text}# {version}\n")
        identifier = types.VersionedTextDocumentIdentifier(version, uri)
        editor.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [changed]))
        return await editor.answer(version)

    async def hover() -> object:
        return await editor.text_document_hover_async(types.HoverParams(document, position))

    async def actions() -> object:
        context = types.CodeActionContext([])
        return await editor.text_document_code_action_async(types.CodeActionParams(document, where, context))

    times = {"first answer": await _measured(first)}
    changes = [await _measured(lambda version=n: change(version)) for n in range(1, REPETITIONS + 1)]  # type: ignore[misc]
    times["change"] = statistics.median(changes)
    for name, request in (("hover", hover), ("fixes", actions)):
        times[name] = statistics.median([await _measured(request) for _ in range(REPETITIONS)])
    return times


def _bare() -> float:
    """Milliseconds to start a bare interpreter: how fast this machine is, as busy as it is."""
    times = []
    for _ in range(REPETITIONS):
        started = perf_counter()
        subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
        times.append(1000 * (perf_counter() - started))
    return statistics.median(times)


async def _run(root: Path) -> float:
    editor = _Editor()
    await editor.start_io(sys.executable, "-c", _MAIN, "server", cwd=root)
    folders = [types.WorkspaceFolder(root.as_uri(), "bench")]
    await editor.initialize_async(types.InitializeParams(types.ClientCapabilities(), workspace_folders=folders))
    editor.initialized(types.InitializedParams())
    bare = _bare()
    limit = LIMIT_MS * max(1.0, bare / 10.0)
    print(f"{'file':16}{'what':16}{'measured':>12}{'limit':>10}{'of limit':>10}")
    worst = 0.0
    for name, (language, text, at) in FILES.items():
        times = await _file(editor, (root / name).as_uri(), language, text, at)
        print(f"{name:16}{'first answer':16}{times.pop('first answer'):>9.1f} ms")
        for what, milliseconds in times.items():
            share = milliseconds / limit
            worst = max(worst, share if name not in WITHOUT_LIMIT else 0.0)
            print(f"{name:16}{what:16}{milliseconds:>9.1f} ms{limit:>7.0f} ms{share:>10.0%}")
    print(f"bare interpreter {bare:.1f} ms, Python {sys.version.split()[0]}")
    await editor.shutdown_async(None)
    editor.exit(None)
    await editor.stop()
    return worst


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return 0 if asyncio.run(_run(Path(folder))) < 1 else 1


if __name__ == "__main__":
    sys.exit(main())
