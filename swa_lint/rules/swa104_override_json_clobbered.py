"""SWA104: the override JSON of one model is replaced as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Remedy, Severity
from swa_lint.geometry import Const, Value
from swa_lint.rules.pairing import finding, linked
from swa_lint.rules.registry import Rule, register
from swa_lint.sglang.names import WINDOW_NAMES
from swa_lint.sources.facts import Link, ProjectFacts

RULE = Rule(
    code="SWA104",
    name="override-json-clobbered",
    severity=Severity.WARNING,
    what="`json_model_override_args` is replaced wholesale on one model's args, or differs in its window keys between the two.",
    why="The user's override JSON reaches both models; a new string on the draft's copy drops the user's window there, and "
    "only there. It is an error where both strings are known and name different windows.",
    bad="""\
draft_args = deepcopy(server_args)
draft_args.json_model_override_args = json.dumps({"num_hidden_layers": 1})
""",
    good="""\
overrides = json.loads(server_args.json_model_override_args)
overrides["num_hidden_layers"] = 1
draft_args = deepcopy(server_args)
draft_args.json_model_override_args = json.dumps(overrides)
""",
    fix="Display: what to merge is the author's choice.",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for pair in linked(project, Link.OVERRIDE_JSON):
        mine, theirs = _windows(pair.draft.value), _windows(pair.target.value if pair.target else None)
        differ = bool(mine and theirs and mine != theirs)
        message = (
            f"Draft `{pair.draft.carrier.name}` names the windows {mine}, the target {theirs}; use one window for both"
            if differ
            else f"Draft `{pair.draft.carrier.name}` replaces the whole override JSON, and with it the user's sliding window; "
            "merge into the target's JSON instead"
        )
        advice = Remedy(Applicability.DISPLAY, "Merge the new keys into the target's override JSON")
        yield finding(RULE, pair, message, Severity.ERROR if differ else Severity.WARNING, advice)


def _windows(value: Value | None) -> dict[str, int] | None:
    """The window keys of a known override JSON text."""
    if not isinstance(value, Const) or not isinstance(value.value, str):
        return None
    try:
        data = json.loads(value.value)
    except ValueError:
        return None
    return {k: v for k, v in data.items() if k in WINDOW_NAMES} if isinstance(data, dict) else None
