"""What an editor shows for a place: the finding there, what the engine makes of the setting there, the rule's documentation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from swa_lint.finding import Finding, Side
from swa_lint.geometry import Default, Location, Relation, Role, Unknown, as_tokens, relate, source_of
from swa_lint.project.launch_pairs import Server, literal_default, servers
from swa_lint.report.rules import markdown
from swa_lint.rules.registry import all_rules
from swa_lint.rules.swa301_pd_page_size_mismatch import RULE as PD_MISMATCH
from swa_lint.rules.swa302_pd_page_size_one_sided import RULE as PD_ONE_SIDED
from swa_lint.server.analysis import Analysis, touches
from swa_lint.sglang.forced import DCP_SCALES_SINCE
from swa_lint.sglang.windows import window_unread
from swa_lint.sources.facts import ConfigPair, Fact, ModelConfig, Pair, ProjectFacts, WindowKey

_BETWEEN_SERVERS = (PD_MISMATCH.code, PD_ONE_SIDED.code)
_RELATIONS = {
    Relation.EQUAL: "equal",
    Relation.DIFFERENT: "different",
    Relation.UNPROVEN: "not provably equal",
}


@dataclass(frozen=True)
class Hover:
    """Markdown about the range `where`."""

    text: str
    where: Location


def hover(analysis: Analysis, line: int, column: int) -> Hover | None:
    """What there is to say about a place of the document; None where there is nothing."""
    place = (line, column)
    found = list(analysis.at(place, place))
    sections = [(_finding(finding), finding.where) for finding in found]
    project = analysis.session.project()
    for where, text in (*_settings(project), *_bindings(project), *_windows(project)):
        spoken_for = any(where == finding.where and finding.target is not None for finding in found)
        if touches(where, analysis.path, place, place) and not spoken_for:
            sections.append((text, where))
    if not sections:
        return None
    rules = all_rules()
    documentation = [markdown(rules[code][0]) for code in dict.fromkeys(finding.code for finding in found)]
    texts = dict.fromkeys(text for text, _ in sections)
    return Hover("\n\n---\n\n".join([*texts, *documentation]), sections[0][1])


def _finding(finding: Finding) -> str:
    target, draft = ("prefill", "decode") if finding.code in _BETWEEN_SERVERS else ("target", "draft")
    lines = [f"**{finding.code}** {finding.message}", ""]
    name = ", ".join(field.value for field in finding.fields)
    lines += [
        f"- {role} {name}: {_side(side)}" for role, side in ((target, finding.target), (draft, finding.draft)) if side
    ]
    if finding.remedy is not None:
        lines += ["", f"Fix ({finding.remedy.applicability.value}): {finding.remedy.message}"]
    return "\n".join(lines)


def _side(side: Side) -> str:
    return f"`{side.value}`" if side.source == side.value else f"`{side.value}` ({side.source})"


def _settings(project: ProjectFacts) -> Iterator[tuple[Location, str]]:
    """Each setting of a launch, with the geometry that the whole launch gets."""
    pairs = {pair.origin: pair for pair in project.config_pairs}
    for server in servers(project):
        where = server.launch.where
        text = _launch(server, pairs.get(f"{where.path}:{where.line}"))
        for setting in server.launch.settings:
            yield setting.where, text


def _launch(server: Server, pair: ConfigPair | None) -> str:
    role = "" if server.launch.role is Role.UNKNOWN else f", {server.launch.role.value}"
    lines = [f"**Effective geometry** of this launch{role}", "", f"- page size: {_page(server)}"]
    setting = server.launch.get("dcp_size")
    ranks = as_tokens(literal_default(setting.value)) if setting else None
    if ranks is not None and ranks > 1 and server.engine.release >= DCP_SCALES_SINCE:
        tokens = as_tokens(server.page)
        pages = "the page size" if tokens is None else f"`{tokens * ranks}`, the page size"
        lines.append(f"- the draft pool's page size: {pages} times --dcp-size {ranks}")
    if pair is not None:
        lines += [
            f"- {role} window: {_window(config)}" for role, config in (("target", pair.target), ("draft", pair.draft))
        ]
    return "\n".join(lines)


def _page(server: Server) -> str:
    if isinstance(server.page, Default):
        return "the engine's default, for the target and the draft alike"
    if isinstance(server.page, Unknown):
        return "decided by the engine at start-up"
    given = server.setting.value if server.setting else Default()
    if relate(literal_default(given), server.page) is Relation.EQUAL:
        return f"`{server.page}`, as set here"
    replaced = f"; the `{given}` given here has no effect" if server.setting else ""
    return f"`{server.page}`, from {server.source}{replaced}"


def _window(config: ModelConfig) -> str:
    if window_unread(config.architectures):
        return f"none: the engine reads no window of {config.architectures[0]}"
    if not config.windows:
        return f"none in {config.path}"
    read = config.windows[0]
    return f"`{read.value}` ({read.name} in {config.path})"


def _bindings(project: ProjectFacts) -> Iterator[tuple[Location, str]]:
    """Each place in Python that sets the geometry of a draft, and of the target it goes with."""
    for pair in project.pairs:
        text = _pair(pair)
        yield pair.draft.where, text
        if pair.target is not None:
            yield pair.target.where, text


def _pair(pair: Pair) -> str:
    lines = [f"**Effective geometry**: {pair.draft.field.value}", ""]
    if pair.target is None:
        return "\n".join([*lines, f"- draft: {_fact(pair.draft)}"])
    relation = _RELATIONS[relate(pair.target.value, pair.draft.value)]
    return "\n".join([*lines, f"- target: {_fact(pair.target)}", f"- draft: {_fact(pair.draft)}", f"- {relation}"])


def _fact(fact: Fact) -> str:
    return f"{_side(Side(str(fact.value), source_of(fact.value)))} on `{fact.carrier.name}`"


def _windows(project: ProjectFacts) -> Iterator[tuple[Location, str]]:
    """Each window key of a model config, with what the engine reads."""
    for config in project.configs:
        for key in config.windows:
            yield key.where, f"**Effective geometry**\n\n- window: {_window(config)}{_unread(key, config)}"


def _unread(key: WindowKey, config: ModelConfig) -> str:
    if key == config.windows[0] or window_unread(config.architectures):
        return ""
    return f"; {key.name} is not read"
