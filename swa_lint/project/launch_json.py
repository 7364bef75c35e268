"""Windows in `--json-model-override-args`: what a launch's JSON names, and where two roles of a deployment disagree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from swa_lint.finding import Applicability, Remedy, Replace
from swa_lint.geometry import Location
from swa_lint.project.launch_pairs import Server, pd_groups, text_of
from swa_lint.sglang.names import OVERRIDE_JSON
from swa_lint.sglang.windows import TEXT_CONFIGS, WINDOW_KEYS
from swa_lint.sources.facts import ProjectFacts, Setting


@dataclass(frozen=True)
class JsonConflict:
    """Override JSON of prefill and decode with different windows; a window is None where that side's JSON names none."""

    prefill: Server
    decode: Server
    prefill_window: int | None
    decode_window: int | None

    @property
    def where(self) -> Location:
        """Decode's JSON, or its launch where it has none."""
        return _place(self.decode)

    @property
    def prefill_where(self) -> Location:
        """Prefill's JSON, or its launch where it has none."""
        return _place(self.prefill)

    @property
    def certain(self) -> bool:
        """Whether both sides name a window, so that the two can only be wrong together."""
        return self.prefill_window is not None and self.decode_window is not None

    @property
    def remedy(self) -> Remedy:
        """Decode's window set to prefill's where both are written out, else display."""
        message = "Give prefill and decode the same override JSON"
        setting = self.decode.launch.get(OVERRIDE_JSON)
        if setting is None or setting.value_where is None or not self.certain:
            return Remedy(Applicability.DISPLAY, message)
        text = _with_window(setting, self.decode_window, self.prefill_window)
        if text is None:
            return Remedy(Applicability.DISPLAY, message)
        change = Replace(setting.value_where, text)
        return Remedy(Applicability.UNSAFE, f"Give decode prefill's window, {self.prefill_window}", (change,))


def json_conflicts(project: ProjectFacts) -> Iterator[JsonConflict]:
    """The PD deployments whose override JSON gives the two roles different windows, each place once."""
    seen: set[Location] = set()
    for group in pd_groups(project):
        prefill = group.prefill[0]
        for decode in group.decode:
            conflict = _conflict(prefill, decode)
            if conflict is not None and conflict.where not in seen:
                seen.add(conflict.where)
                yield conflict


def window_in_json(text: str) -> int | None:
    """The window that override JSON names, under a multimodal model's inner config too; None where it names none.

    Raises ValueError for text that is no JSON object.
    """
    whole = json.loads(text)
    if not isinstance(whole, dict):
        raise ValueError("no JSON object")
    for level in (*(whole[name] for name in TEXT_CONFIGS if isinstance(whole.get(name), dict)), whole):
        for key in sorted(WINDOW_KEYS & level.keys()):
            if isinstance(level[key], int) and not isinstance(level[key], bool):
                return int(level[key])
    return None


def _conflict(prefill: Server, decode: Server) -> JsonConflict | None:
    try:
        sides = [_window(prefill), _window(decode)]
    except (ValueError, RecursionError):
        return None
    return JsonConflict(prefill, decode, *sides) if sides[0] != sides[1] else None


def _window(server: Server) -> int | None:
    """The window of a server's override JSON; raises ValueError where it cannot be known."""
    setting = server.launch.get(OVERRIDE_JSON)
    if setting is None and not server.launch.open:
        return None
    text = text_of(setting)
    if text is None:
        raise ValueError("not known")
    return window_in_json(text)


def _place(server: Server) -> Location:
    setting = server.launch.get(OVERRIDE_JSON)
    return setting.where if setting else server.launch.where


def _with_window(setting: Setting, old: int | None, new: int | None) -> str | None:
    """The setting's text with the one window that it writes out changed; None where there is not exactly one."""
    keys = "|".join(sorted(WINDOW_KEYS))
    found = list(re.finditer(rf"""(?:{keys})\\*["']\s*:\s*(\d+)""", setting.text))
    if len(found) != 1 or int(found[0].group(1)) != old:
        return None
    start, end = found[0].span(1)
    return setting.text[:start] + str(new) + setting.text[end:]
