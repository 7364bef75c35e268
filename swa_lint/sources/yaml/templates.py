"""Helm templates as YAML: expressions covered up by as many characters, so that what is left parses in place."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from swa_lint.geometry import Const, Knob, Unknown, Value
from swa_lint.sources.facts import Launch, Setting
from swa_lint.sources.positions import Positions
from swa_lint.sources.tree import Mapping, Node, Scalar, Source

_EXPRESSION = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_CONTROL = re.compile(
    r"\{[{%][-~+]?\s*(if|else|elif|elsif|end\w*|range|for|with|define|block|template|set|/\*|\$\w+\s*:=|#)"
)
_OPENERS = frozenset({"if", "range", "for", "with"})
_VALUE = re.compile(r"\{\{-?\s*\$?\.Values\.([\w.]+)\s*((?:\|[^|}]*)*)-?\}\}")
_DEFAULT = re.compile(r"\|\s*default\s+\"?([\w.-]+)\"?")
# Private-use characters: valid in YAML, in no real manifest.
_FIRST, _COUNT = 0xE000, 6000
_COVER = re.compile("[\ue000-\uf8ff]+")


@dataclass
class Template:
    """A template with its expressions covered up; `values` is the chart's `values.yaml`.

    `branches` are the line ranges between an opening and its `end`, `holes` the lines where more text would be put in.
    """

    source: Source
    values: Mapping | None = None
    branches: list[tuple[int, int]] = field(default_factory=list)
    holes: set[int] = field(default_factory=set)
    _expressions: list[str] = field(default_factory=list)

    def resolve(self, text: str) -> Value | None:
        """The value of a text that holds covered expressions, or None when it holds none."""
        if not _COVER.search(text):
            return None
        if len(set(text)) == 1:
            return self._value(self._expressions[ord(text[0]) - _FIRST])
        return Unknown(_COVER.sub(self._uncover, text))

    def _uncover(self, found: re.Match[str]) -> str:
        codes = dict.fromkeys(ord(char) - _FIRST for char in found[0])
        return "".join(self._expressions[code] for code in codes if code < len(self._expressions))

    def _value(self, expression: str) -> Value:
        found = _VALUE.fullmatch(expression)
        if not found:
            return Unknown(expression)
        node: Node | None = self.values
        for key in found[1].split("."):
            node = node.get(key) if isinstance(node, Mapping) else None
        if isinstance(node, Scalar) and node.value:
            return Knob(f".Values.{found[1]}", Const(node.value))
        default = _DEFAULT.search(found[2])
        return Knob(f".Values.{found[1]}", Const(default[1]) if default else None)

    def adjust(self, launch: Launch) -> Launch:
        """What conditions and holes leave certain: a setting in a branch of its own has no known value."""
        first, last = launch.where.line, launch.where.end_line
        open_ = launch.open or any(first <= line <= last for line in self.holes)
        inside = [(a, b) for a, b in self.branches if (a, b) != (first, last) and (a > first or b < last)]
        inside = [(a, b) for a, b in inside if a <= last and b >= first]
        settings = tuple(_uncertain(setting, inside) for setting in launch.settings)
        return dataclasses.replace(launch, settings=settings, open=open_ or bool(inside))


def _uncertain(setting: Setting, branches: Sequence[tuple[int, int]]) -> Setting:
    if any(a <= setting.where.line <= b for a, b in branches):
        return dataclasses.replace(setting, value=Unknown(setting.text), removal=None)
    return setting


def is_template(text: str) -> bool:
    """Whether a text holds template expressions (a brace pair of flow style YAML is none)."""
    return _EXPRESSION.search(text) is not None


def cover(path: str, text: str) -> Template:
    """`text` with its expressions covered up, ready to be parsed."""
    expressions: list[str] = []
    holes: set[int] = set()
    branches: list[tuple[int, int]] = []
    opened: list[int] = []
    lines = Positions(path, text)

    def put(found: re.Match[str]) -> str:
        line = lines.point(found.start())[0]
        control = _CONTROL.match(found[0])
        word = control[1] if control else ""
        if word in _OPENERS or word in ("define", "block"):
            opened.append(line)
        elif word.startswith("end") and opened:
            branches.append((opened.pop(), line))
        start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
        around = text[start : found.start()] + text[found.end() : end if end >= 0 else len(text)]
        alone = not _EXPRESSION.sub("", around).strip()
        if control or alone:
            if not control or word == "template":
                holes.add(line)
            return re.sub(r"[^\n]", " ", found[0])
        expressions.append(found[0])
        code = chr(_FIRST + min(len(expressions) - 1, _COUNT))
        return re.sub(r"[^\n]", code, found[0]).replace("\n", code)

    parsed = _EXPRESSION.sub(put, text)
    return Template(Source(path, text, parsed), None, branches, holes, expressions)
