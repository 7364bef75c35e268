"""Edits of the draft worker helpers of 0.5.17, which override fields of the copy, some by a dict made elsewhere."""

from __future__ import annotations

from planted_edits import Case, Edit, after, before

_IMPORTS = "import logging\nfrom copy import deepcopy\n"
_FIELD = "        skip_tokenizer_init=True,\n"
_BUILD = '        "draft_worker.build",\n'
_SPREAD = "        **draft_server_args_overrides(target_model_config, draft_backend),\n"
_RESOLVED = "        resolved.update(fields)\n"
_MERGED = "            **resolved,\n"
_NO_FIELDS = "        return {}\n"
_LOAD_FORMAT = "    return dict(load_format=draft_load_format)\n"
_OVERRIDDEN = f"{_SPREAD}    )\n"
_PASSED = "            server_args=draft_server_args,\n            gpu_id=gpu_id,\n"
_BUILT = "    draft_model_runner = draft_worker.model_runner"
_RETURNED = "    return draft_server_args\n\n\ndef build_draft_tp_worker("

_DEFECTS = (
    Edit("keyword of the helper's dict", ((_FIELD, _FIELD + "        page_size=1,  # SWA101\n"),)),
    Edit("override field", ((_BUILD, _BUILD + "        page_size=1,  # SWA101\n"),)),
    Edit("item of a merged dict", ((_MERGED, _MERGED + '            "page_size": 1,  # SWA101\n'),)),
    Edit(
        "another helper's dict",
        ((_LOAD_FORMAT, "    return dict(load_format=draft_load_format, page_size=8)  # SWA101\n"),),
    ),
    Edit("another helper's default", ((_NO_FIELDS, '        return {"page_size": 16}  # SWA101\n'),)),
    Edit(
        "setattr past the lock",
        ((_OVERRIDDEN, _OVERRIDDEN + '    object.__setattr__(draft_server_args, "page_size", 1)  # SWA101\n'),),
    ),
    Edit("dict item assigned", ((_RESOLVED, _RESOLVED + '    resolved["page_size"] = 1  # SWA101\n'),)),
    Edit("dict update", ((_RESOLVED, _RESOLVED + "    resolved.update(page_size=1)  # SWA101\n"),)),
    Edit(
        "alias first",
        (
            (
                _OVERRIDDEN,
                f'{_OVERRIDDEN}    args = draft_server_args\n    args.override("draft_worker.page", page_size=64)  # SWA101\n',
            ),
        ),
    ),
    Edit(
        "keyword changed",
        (
            (_IMPORTS, "import dataclasses\n" + _IMPORTS),
            (
                _PASSED,
                "            server_args=dataclasses.replace(draft_server_args, page_size=32),  # SWA101\n"
                "            gpu_id=gpu_id,\n",
            ),
        ),
    ),
    Edit(
        "conditional",
        ((_BUILD, f'{_BUILD}        page_size=1 if algo_label == "DFLASH" else server_args.page_size,  # SWA101\n'),),
    ),
    Edit(
        "draft-only option",
        ((_BUILD, _BUILD + "        page_size=get_spec().speculative_draft_page_size,  # SWA101\n"),),
    ),
    Edit(
        "returned copy replaced",
        (
            (_IMPORTS, "import dataclasses\n" + _IMPORTS),
            (
                _RETURNED,
                _RETURNED.replace(
                    "draft_server_args\n", "dataclasses.replace(draft_server_args, page_size=4)  # SWA101\n", 1
                ),
            ),
        ),
    ),
    Edit("page size of the runner", (after(_BUILT, "draft_model_runner.page_size = 1  # SWA101"),)),
    Edit("window of the model config", (after(_BUILT, "draft_model_runner.model_config.window_size = 128  # SWA102"),)),
    Edit(
        "override JSON",
        ((_FIELD, f"""{_FIELD}        json_model_override_args='{{"sliding_window": 128}}',  # SWA104\n"""),),
    ),
)

_HARMLESS = (
    Edit("another field", ((_FIELD, _FIELD + "        max_running_requests=1,\n"),)),
    Edit("the target's value in the override", ((_BUILD, _BUILD + "        page_size=server_args.page_size,\n"),)),
    Edit("the process's value in the override", ((_BUILD, _BUILD + "        page_size=get_schedule().page_size,\n"),)),
    Edit(
        "the target's value in the merged dict",
        ((_MERGED, _MERGED + '            "page_size": server_args.page_size,\n'),),
    ),
    Edit("another name", (("draft_server_args", "worker_args"),), everywhere=True),
    Edit(
        "keywords in another order",
        ((_PASSED, "            gpu_id=gpu_id,\n            server_args=draft_server_args,\n"),),
    ),
    Edit(
        "override dict kept in a local",
        (
            before(
                '    draft_server_args.override(\n        "draft_worker.build",\n',
                "fields = draft_server_args_overrides(target_model_config, draft_backend)",
            ),
            (_SPREAD, "        **fields,\n"),
        ),
    ),
    Edit("page size taken out of a dict", ((_RESOLVED, _RESOLVED + '    resolved.pop("page_size", None)\n'),)),
    Edit(
        "a copy that reaches no worker",
        (before(_BUILT, "probe = deepcopy(server_args)", 'probe.override("probe", page_size=1)', "del probe"),),
    ),
    Edit(
        "overridden back",
        (
            (_BUILD, _BUILD + "        page_size=1,\n"),
            (
                _OVERRIDDEN,
                f'{_OVERRIDDEN}    draft_server_args.override("draft_worker.page", page_size=server_args.page_size)\n',
            ),
        ),
    ),
    Edit(
        "compared before use",
        (
            (
                _OVERRIDDEN,
                f"{_OVERRIDDEN}    if draft_server_args.page_size != server_args.page_size:\n        raise ValueError(algo_label)\n",
            ),
        ),
    ),
)

COMMON = Case("0.5.17", "sglang/srt/speculative/draft_worker_common.py", _DEFECTS, _HARMLESS)
