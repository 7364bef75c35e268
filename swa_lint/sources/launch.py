"""From an argv to a Launch: the one place that reads SGLang's command line, whatever language the argv stands in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from swa_lint.geometry import Const, Knob, Location, Role, Unknown, Value
from swa_lint.sglang.flags import field_of_flag, server_entry
from swa_lint.sources.facts import Hop, Insertion, Launch, Setting


@dataclass(frozen=True)
class Inline:
    """The VALUE of a ``--flag=VALUE`` word: what it is, where it stands, how it is written."""

    value: Value
    where: Location | None
    written: str


@dataclass(frozen=True)
class Arg:
    """One argv word.

    `text` is the word with everything known filled in (what is not known stays as written, ``--page-size=$X``), `value`
    the whole word as a value, `where` its source range, `written` its source text (default: `text`).
    `inline` tells the value part of ``--flag=VALUE`` where `value` is not a constant or the word holds escapes.
    `bound` is the range of a call's argument that gave the word its value; the finding then sits there.
    `splice` marks a word that stands for any number of words that cannot be followed (``$(flags)``, ``*extra``).
    """

    text: str
    value: Value
    where: Location
    written: str | None = None
    inline: Inline | None = None
    bound: Location | None = None
    via: tuple[Hop, ...] = ()
    splice: bool = False


Removal = Callable[[Arg, "Arg | None"], "Location | None"]

_PD_FIELDS = ("disaggregation_transfer_backend", "disaggregation_bootstrap_port", "disaggregation_ib_device")


def build_launch(
    words: Sequence[Arg],
    *,
    where: Location,
    deployment: str,
    language: str,
    insertion: Insertion | None = None,
    env: Sequence[Setting] = (),
    role_hint: Role = Role.UNKNOWN,
    removal: Removal | None = None,
) -> Launch | None:
    """The launch that `words` make, or None when they do not start an SGLang server.

    `env` are settings from environment variables (see `swa_lint.sglang.flags.field_of_variable`). `role_hint` is what
    names say; it counts only where the mode is absent and other PD flags are there. `removal(flag, value)` gives the
    range whose deletion takes a flag out (`value` is None for ``--flag=VALUE``); not asked for values a call passed in.
    """
    entry = server_entry([word.text for word in words])
    if entry is None:
        return None
    settings = (*env, *_settings(words[entry.index :], prefixed=entry.prefixed, removal=removal))
    return Launch(
        where=where,
        settings=settings,
        deployment=deployment,
        language=language,
        role=launch_role(settings, role_hint),
        insertion=insertion,
        open=any(word.splice for word in words[entry.index :]),
    )


def launch_role(settings: Sequence[Setting], role_hint: Role = Role.UNKNOWN) -> Role:
    """The PD role that `settings` give a launch; `role_hint` counts only without a mode and beside other PD flags."""
    mode = next((s.value for s in reversed(settings) if s.name == "disaggregation_mode"), None)
    if isinstance(mode, Knob):
        mode = mode.default
    if isinstance(mode, Const):
        return {"prefill": Role.PREFILL, "decode": Role.DECODE}.get(str(mode.value).lower(), Role.UNKNOWN)
    if mode is None and any(s.name in _PD_FIELDS for s in settings):
        return role_hint
    return Role.UNKNOWN


def _settings(words: Sequence[Arg], *, prefixed: bool, removal: Removal | None) -> Iterator[Setting]:
    index = 0
    while index < len(words):
        flag = words[index]
        index += 1
        spelling, equals, _ = flag.text.partition("=")
        name = field_of_flag(spelling, prefixed=prefixed)
        if name is None or (prefixed and not spelling.startswith("--sglang") and name != "model_path"):
            continue
        if equals:
            yield _inline_setting(name, flag, removal)
        elif index < len(words) and not words[index].text.startswith("--") and not words[index].splice:
            yield _pair_setting(name, flag, words[index], removal)
            index += 1


def _pair_setting(name: str, flag: Arg, value: Arg, removal: Removal | None) -> Setting:
    text = value.text if value.written is None else value.written
    follows = (value.where.line, value.where.column) >= (flag.where.end_line, flag.where.end_column)
    if value.bound is not None:
        hop = Hop(flag.where, f"{flag.text} takes it here")
        return Setting(name, value.value, value.bound, text, value.bound, None, (*value.via, hop))
    if value.where.path != flag.where.path or not follows:
        hop = Hop(flag.where, f"{flag.text} takes it here")
        return Setting(name, value.value, value.where, text, value.where, None, (*value.via, hop))
    where = Location(flag.where.path, flag.where.line, flag.where.column, value.where.end_line, value.where.end_column)
    cut = removal(flag, value) if removal else None
    return Setting(name, value.value, where, text, value.where, cut, value.via)


def _inline_setting(name: str, word: Arg, removal: Removal | None) -> Setting:
    inline = word.inline or _inline_of_text(word)
    if word.bound is not None:
        hop = Hop(word.where, f"{word.text.partition('=')[0]} takes it here")
        return Setting(name, inline.value, word.bound, inline.written, word.bound, None, (*word.via, hop))
    cut = removal(word, None) if removal else None
    return Setting(name, inline.value, word.where, inline.written, inline.where, cut, word.via)


def _inline_of_text(word: Arg) -> Inline:
    """The part after ``=`` of a word whose source is its text, plain or in one pair of quotes."""
    head, _, tail = word.text.partition("=")
    value: Value = Const(tail) if isinstance(word.value, Const) else Unknown(tail)
    where = word.where
    quotes = where.end_column - where.column - len(word.text)
    if where.line != where.end_line or quotes not in (0, 2):
        return Inline(value, None, tail)
    start = where.column + len(head) + 1 + quotes // 2
    return Inline(value, Location(where.path, where.line, start, where.line, start + len(tail)), tail)
