"""Edits of the DFlash worker of 0.5.12, which copies the target's args for its draft and assigns to the copy."""

from __future__ import annotations

from planted_edits import Case, Edit, after, before

_IMPORTS = "import logging\nimport math\n"
_COPY = "        draft_server_args = deepcopy(server_args)\n"
_COPIED = "        draft_server_args.skip_tokenizer_init = True"
_READY = "        saved_server_args = get_global_server_args()"
_PASSED = "            server_args=draft_server_args,\n            gpu_id=gpu_id,\n"
_BUILT = "        self.draft_model_runner = self.draft_worker.model_runner"
_CLASS = "class DFlashWorker:\n"


def _helper(*lines: str) -> tuple[str, str]:
    return _CLASS, "\n".join([*lines, "", "", _CLASS])


_DEFECTS = (
    Edit("statement inserted", (after(_COPIED, "draft_server_args.page_size = 1  # SWA101"),)),
    Edit("late statement", (before(_READY, "draft_server_args.page_size = 32  # SWA101"),)),
    Edit(
        "keyword changed",
        (
            (_IMPORTS, "import dataclasses\n" + _IMPORTS),
            (
                _PASSED,
                "            server_args=dataclasses.replace(draft_server_args, page_size=1),  # SWA101\n"
                "            gpu_id=gpu_id,\n",
            ),
        ),
    ),
    Edit("alias first", (after(_COPIED, "args = draft_server_args", "args.page_size = 64  # SWA101"),)),
    Edit("setattr", (after(_COPIED, 'setattr(draft_server_args, "page_size", 16)  # SWA101'),)),
    Edit("dict update", (after(_COPIED, "vars(draft_server_args).update(page_size=16)  # SWA101"),)),
    Edit(
        "fields in a loop",
        (
            after(
                _COPIED,
                'for name, value in {"max_running_requests": 8, "page_size": 16}.items():  # SWA101',
                "    setattr(draft_server_args, name, value)",
            ),
        ),
    ),
    Edit(
        "helper makes the copy",
        (
            _helper(
                "def _draft_args(server_args):",
                "    args = deepcopy(server_args)",
                "    args.page_size = 1  # SWA101",
                "    return args",
            ),
            (_COPY, "        draft_server_args = _draft_args(server_args)\n"),
        ),
    ),
    Edit(
        "helper is given the value",
        (
            _helper("def _with_page(args, page):", "    args.page_size = page", "    return args"),
            (_COPY, "        draft_server_args = _with_page(deepcopy(server_args), 32)  # SWA101\n"),
        ),
    ),
    Edit("half a page", (after(_COPIED, "draft_server_args.page_size = server_args.page_size // 2  # SWA101"),)),
    Edit(
        "draft-only option",
        (after(_COPIED, "draft_server_args.page_size = server_args.speculative_draft_page_size  # SWA101"),),
    ),
    Edit(
        "environment",
        (
            (_IMPORTS, _IMPORTS + "import os\n"),
            after(_COPIED, 'draft_server_args.page_size = int(os.environ.get("DRAFT_PAGE", "1"))  # SWA101'),
        ),
    ),
    Edit(
        "in one branch only",
        (
            after(
                _COPIED,
                "if self.use_compact_draft_cache:",
                "    draft_server_args.page_size = 1  # SWA101",
            ),
        ),
    ),
    Edit("target rebound after the copy", (after(_COPIED, "server_args.page_size = 128  # SWA103"),)),
    Edit("page size of the runner", (after(_BUILT, "self.draft_model_runner.page_size = 1  # SWA101"),)),
    Edit(
        "window of the model config",
        (after(_BUILT, "self.draft_model_runner.model_config.window_size = 128  # SWA102"),),
    ),
    Edit(
        "override JSON",
        (after(_COPIED, """draft_server_args.json_model_override_args = '{"sliding_window": 128}'  # SWA104"""),),
    ),
)

_HARMLESS = (
    Edit("another field", (after(_COPIED, "draft_server_args.max_running_requests = 1"),)),
    Edit("the target's value", (after(_COPIED, "draft_server_args.page_size = server_args.page_size"),)),
    Edit("the target's value, kept before", (after(_COPIED, "draft_server_args.page_size = self.page_size"),)),
    Edit(
        "the target's value, through a local",
        (after(_COPIED, "page = int(server_args.page_size)", "draft_server_args.page_size = page"),),
    ),
    Edit("another name", (("draft_server_args", "worker_args"),), everywhere=True),
    Edit(
        "keywords in another order",
        ((_PASSED, "            gpu_id=gpu_id,\n            server_args=draft_server_args,\n"),),
    ),
    Edit(
        "the target's args, before any worker exists",
        (_helper("def resolve_page_size(server_args):", "    server_args.page_size = 256"),),
    ),
    Edit(
        "a copy that reaches no worker",
        (after(_COPIED, "probe = deepcopy(server_args)", "probe.page_size = 1", "logger.debug('%s', probe)"),),
    ),
    Edit(
        "undone before use",
        (
            after(_COPIED, "draft_server_args.page_size = 1"),
            before(_READY, "draft_server_args.page_size = server_args.page_size"),
        ),
    ),
    Edit(
        "compared before use",
        (
            before(
                _READY,
                "if draft_server_args.page_size != server_args.page_size:",
                "    raise ValueError('page sizes differ')",
            ),
        ),
    ),
    Edit(
        "helper that keeps the page size",
        (
            _helper(
                "def _draft_args(server_args):",
                "    args = deepcopy(server_args)",
                "    args.disable_radix_cache = False",
                "    return args",
            ),
            (_COPY, "        draft_server_args = _draft_args(server_args)\n"),
        ),
    ),
    Edit("a branch that cannot run", (after(_COPIED, "if False:", "    draft_server_args.page_size = 1"),)),
)

WORKER = Case("0.5.12", "sglang/srt/speculative/dflash_worker.py", _DEFECTS, _HARMLESS)
