"""Small projects that tests of the command, its files and its fixes share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

BAD = """from copy import deepcopy
from sglang.srt.managers.tp_worker import TpModelWorker

def start(server_args):
    draft_args = deepcopy(server_args)
    draft_args.page_size = 1
    return TpModelWorker(server_args=draft_args, is_draft_worker=True)
"""
"""A draft that gets a page size of its own on line 6: one SWA101 with a safe fix."""

FIXED = BAD.replace("    draft_args.page_size = 1\n", "")

BAD_SHELL = """python3 -m sglang.launch_server --model-path "$MODEL" --disaggregation-mode prefill --page-size 64 &
python3 -m sglang.launch_server --model-path "$MODEL" --disaggregation-mode decode --page-size 32 &
"""
"""A decode server on line 2 whose page size is not prefill's: one SWA301 with an unsafe fix."""


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Lay out files below `root`."""
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
