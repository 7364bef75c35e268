"""SWA104: the override JSON of one model is replaced as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from swa_lint.finding import Applicability, Finding, Related, Remedy, Severity, Side
from swa_lint.geometry import Const, Field, Value
from swa_lint.project.launch_json import JsonConflict, json_conflicts, window_in_json
from swa_lint.rules.pairing import finding, linked
from swa_lint.rules.registry import Rule, register
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
    fix="Display: what to merge is the author's choice. Unsafe where prefill and decode each write out a window: decode gets prefill's.",
)


@register(RULE)
def check(project: ProjectFacts) -> Iterator[Finding]:
    for pair in linked(project, Link.OVERRIDE_JSON):
        mine, theirs = _window(pair.draft.value), _window(pair.target.value if pair.target else None)
        differ = mine is not None and theirs is not None and mine != theirs
        message = (
            f"Draft `{pair.draft.carrier.name}` names the window {mine}, the target {theirs}; use one window for both"
            if differ
            else f"Draft `{pair.draft.carrier.name}` replaces the whole override JSON, and with it the user's sliding window; "
            "merge into the target's JSON instead"
        )
        advice = Remedy(Applicability.DISPLAY, "Merge the new keys into the target's override JSON")
        yield finding(RULE, pair, message, Severity.ERROR if differ else Severity.WARNING, advice)
    for conflict in json_conflicts(project):
        yield _between_roles(conflict)


def _between_roles(conflict: JsonConflict) -> Finding:
    sides = {"prefill": conflict.prefill_window, "decode": conflict.decode_window}
    texts = {role: "no window" if window is None else f"the window {window}" for role, window in sides.items()}
    return Finding(
        code=RULE.code,
        name=RULE.name,
        severity=Severity.ERROR if conflict.certain else Severity.WARNING,
        where=conflict.where,
        message=f"Decode's override JSON names {texts['decode']}, prefill's {texts['prefill']}; give both the same JSON",
        fields=(Field.SLIDING_WINDOW,),
        target=Side(str(conflict.prefill_window), "prefill's override JSON"),
        draft=Side(str(conflict.decode_window), "decode's override JSON"),
        related=(Related(conflict.prefill_where, f"prefill's override JSON names {texts['prefill']}"),),
        remedy=conflict.remedy,
    )


def _window(value: Value | None) -> int | None:
    """The window that a known override JSON text names."""
    if not isinstance(value, Const) or not isinstance(value.value, str):
        return None
    try:
        return window_in_json(value.value)
    except (ValueError, RecursionError):
        return None
