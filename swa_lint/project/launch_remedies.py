"""Edits that make one launch's page size follow another's, stated as remedies."""

from __future__ import annotations

import re

from swa_lint.finding import Applicability, Change, Drop, Remedy, Replace
from swa_lint.geometry import Const, Knob, Location, as_tokens
from swa_lint.project.launch_pairs import Server, effective, literal_default
from swa_lint.sources.facts import Launch, Setting

FLAG = "--page-size"

_NUMBER = re.compile(r"(?<![\w.$])\d+(?![\w.])")
_VARIABLE = re.compile(r"^(?P<quote>[\"']?)\$(\{)?(?P<name>[A-Za-z_]\w*)(?(2)\})(?P=quote)$")
_NAME = re.compile(r"^[A-Za-z_][\w.]*$")
_TEXT_OF_NAME = re.compile(r"^str\([\w.]+\)$")


def follow(setting: Setting, server: Server, models: tuple[Server, ...], message: str) -> Remedy:
    """Give `setting` of `server` the page size that `models` use, from one source where their text has room for one.

    Display where the text leaves no safe way to.
    """
    model = models[0]
    text = _shared_variable(server, model)
    tokens = as_tokens(literal_default(model.page))
    if text is None and (changes := _named(setting, models, tokens)):
        return Remedy(Applicability.UNSAFE, f"{message}, from one name", changes)
    if text is None and tokens is not None:
        text = _with_number(setting, tokens, server.launch.language)
    where = setting.value_where
    same_place = model.setting is not None and model.setting.value_where == where
    keeps = tokens is None or effective(Const(tokens), server.engine) == Const(tokens)
    if text is None or where is None or same_place or not keeps:
        return Remedy(Applicability.DISPLAY, message)
    return Remedy(Applicability.UNSAFE, message, (Replace(where, text),))


def add(servers: tuple[Server, ...], model: Server, message: str) -> Remedy:
    """Give every one of `servers`, which set no page size, that of `model`; display where one takes no more flags."""
    changes: dict[Location, Change] = {}
    for server in servers:
        insertion = server.launch.insertion
        tokens = as_tokens(literal_default(model.page))
        text = _shared_variable(server, model) or (None if tokens is None else str(tokens))
        if insertion is None or text is None or insertion == model.launch.insertion:
            return Remedy(Applicability.DISPLAY, message)
        if tokens is not None and effective(Const(tokens), server.engine) != Const(tokens):
            return Remedy(Applicability.DISPLAY, message)
        changes[insertion.where] = Replace(insertion.where, _filled(insertion.template, text))
    return Remedy(Applicability.UNSAFE, message, tuple(changes.values()))


def _filled(template: str, value: str) -> str:
    """An insertion's text: a flag, or a key in the style of those beside it."""
    for name, text in (("{flag}", FLAG), ("{key}", FLAG.lstrip("-")), ("{field}", "page_size"), ("{value}", value)):
        template = template.replace(name, text)
    return template


def drop(setting: Setting, launch: Launch, message: str) -> Remedy:
    """Take `setting` out of `launch`, safe; display where it cannot be cut out."""
    if setting.removal is None:
        return Remedy(Applicability.DISPLAY, message)
    if launch.language == "python" and setting.removal == setting.where:
        return Remedy(Applicability.SAFE, message, (Drop(setting.where),))
    return Remedy(Applicability.SAFE, message, (Replace(setting.removal, ""),))


def _named(setting: Setting, models: tuple[Server, ...], tokens: int | None) -> tuple[Change, ...]:
    """Give the number that all `models` write out a name, and have `setting` read it too; empty where they cannot share one."""
    settings = [setting, *(model.setting for model in models if model.setting is not None)]
    namings = {one.naming.value: one.naming for one in settings if one.naming is not None}
    written = all(isinstance(one.value, Const) and as_tokens(one.value) == tokens for one in settings[1:])
    if len(namings) < len(settings) or len({naming.scope for naming in namings.values()}) > 1 or not written:
        return ()
    first, *others = sorted(
        namings.values(), key=lambda naming: (naming.where.line, naming.value.line, naming.value.column)
    )
    if any(not naming.define for naming in others) or (not first.define and first == setting.naming):
        return ()  # others read the name that this number has
    changes = [Replace(first.where, first.define.format(value=tokens))] if first.define else []
    readers = others if first.value == first.where else [first, *others]
    return (*changes, *(Replace(naming.value, naming.read.format(name=first.name)) for naming in readers))


def _with_number(setting: Setting, tokens: int, language: str) -> str | None:
    """`setting`'s text with another number in it, its quotes and calls kept: ``str(32)``, ``"32"``, ``${P:-32}``."""
    numbers = list(_NUMBER.finditer(setting.text))
    value = literal_default(setting.value)
    if len(numbers) == 1 and int(numbers[0].group()) == as_tokens(value):
        return setting.text[: numbers[0].start()] + str(tokens) + setting.text[numbers[0].end() :]
    if language == "python":
        if _TEXT_OF_NAME.match(setting.text):
            return f"str({tokens})"
        if _NAME.match(setting.text) and isinstance(value, Const):
            return str(tokens) if isinstance(value.value, int) else f'"{tokens}"'
        return None
    return str(tokens) if _VARIABLE.match(setting.text) else None


def _shared_variable(server: Server, model: Server) -> str | None:
    """The text of `model`'s variable, where a shell script sets it for all and `server`'s launch expands variables too."""
    setting = model.setting
    if setting is None or server.launch.language != "shell" or model.launch.language != "shell":
        return None
    found = _VARIABLE.match(setting.text)
    if found is None or found["quote"] == "'" or not _set_above(setting, found["name"], server.launch.where):
        return None
    path = server.launch.where.path
    own = [other.text for other in server.launch.settings if other.where.path == path and other.name != setting.name]
    if not any(text.lstrip("\"'").startswith("$") for text in own):
        return None
    quote = '"' if any(text.startswith('"$') for text in own) else ""
    return f"{quote}${found['name']}{quote}"


def _set_above(setting: Setting, name: str, launch: Location) -> bool:
    """Whether the variable `name` of `setting` is set for the whole script above `launch`.

    That is where its assignment starts a line, or where it is an environment variable that is used further up already.
    """
    if isinstance(setting.value, Knob) and setting.value.name == name:
        return setting.where.path == launch.path and setting.where.line < launch.line
    places = [hop.where for hop in setting.via if hop.where.path == launch.path]
    return any(place.column == 1 and place.line < launch.line for place in places)
