"""YAML launch files: Kubernetes manifests, compose files, recipes, `--config` files, Helm charts, workflows."""

from __future__ import annotations

import dataclasses
import pathlib
import posixpath

from swa_lint.sources.argv import Names, Variable
from swa_lint.sources.engines import engine_of_text
from swa_lint.sources.facts import FileFacts, Setting
from swa_lint.sources.manifest import Context, Manifest, relevant, variables_of
from swa_lint.sources.settings import direct_settings
from swa_lint.sources.tree import Items, Mapping, Node, Source
from swa_lint.sources.yaml.compose import is_compose, read_beside, read_services
from swa_lint.sources.yaml.naming import with_naming
from swa_lint.sources.yaml.reader import Unreadable, parse, problem, split
from swa_lint.sources.yaml.templates import cover, is_template

# Pure Python parses about 200 KB of YAML a second; a launch file is far smaller than this.
_MAX_CHARACTERS = 1_000_000


def read(path: str, text: str, *, root: pathlib.Path | None = None) -> FileFacts:
    """The launches of a YAML file; empty at once for one that names neither SGLang nor its own flags."""
    if not relevant(text):
        return FileFacts(path)
    source = Source(path, text)
    if len(text) > _MAX_CHARACTERS:
        skipped = problem(source, 0, f"skipped: more than {_MAX_CHARACTERS // 1000} kB of YAML", skipped=True)
        return FileFacts(path, problems=(skipped,))
    template = cover(path, text) if is_template(text) else None
    if template is not None:
        source = template.source
    manifest = Manifest(source, "yaml", root)
    if template is not None:
        template.values = _chart_values(path, manifest)
        manifest.names = Names({}, template.resolve)
    documents = _documents(manifest, skip=template is not None)
    maps = _config_maps(documents)
    for document in documents:
        _read_document(document, manifest, maps)
    if template is not None:
        manifest.launches = [template.adjust(launch) for launch in manifest.launches]
    else:
        manifest.launches = with_naming(manifest.launches, documents)
    return manifest.facts()


def config_settings(path: str, text: str) -> tuple[Setting, ...]:
    """The settings of a file that a launch names with ``--config``; empty when it is no mapping."""
    source = Source(path, text)
    try:
        node = parse(source, 0, text)
    except Unreadable:
        return ()
    return tuple(direct_settings(node, Names())) if isinstance(node, Mapping) else ()


def _documents(manifest: Manifest, *, skip: bool) -> list[Node]:
    """The file's documents that can matter; one that does not parse becomes a problem (`skip`: only a note)."""
    found: list[Node] = []
    for offset, chunk in split(manifest.source.parsed):
        if not relevant(chunk) and "ConfigMap" not in chunk:
            continue
        try:
            node = parse(manifest.source, offset, chunk)
        except Unreadable as error:
            message = f"skipped: a template that is no YAML: {error}" if skip else f"it does not parse: {error}"
            manifest.problems.append(problem(manifest.source, error.offset, message, skipped=skip))
            continue
        if node is not None:
            found.append(node)
    return found


def _read_document(document: Node, manifest: Manifest, maps: dict[str, list[Variable]]) -> None:
    if isinstance(document, Mapping):
        if is_compose(document):
            read_services(document, manifest)
            return
        if document.text("kind") == "Kustomization":
            return
        if isinstance(jobs := document.get("jobs"), Mapping) and document.get("on", "true"):
            _workflow(jobs, manifest)
            return
    manifest.walk(document, _context(document, manifest, maps))


def _context(document: Node, manifest: Manifest, maps: dict[str, list[Variable]]) -> Context:
    """What a document says of all that it holds: its name, its labels' role, its ConfigMaps, its engine."""
    if not isinstance(document, Mapping):
        return Context()
    metadata = document.mapping("metadata")
    names = [metadata.text("namespace"), metadata.text("name")] if metadata else []
    engine = engine_of_text("/".join(manifest.source.path.split("/")[-3:])) or _only_engine(document)
    path = tuple(name for name in names if name)
    if metadata and (labels := metadata.mapping("labels")) and document.get("kind"):
        role = labels.text("role", "app.kubernetes.io/component", "component", "llm-d.ai/role")
        path = (role, *path) if role else path
    return Context(path, engine, tuple(_map_variables(document, maps)))


def _only_engine(document: Mapping) -> str:
    """The engine of a document that names just one."""
    return engine_of_text(document.source.text[document.start : document.end])


def _config_maps(documents: list[Node]) -> dict[str, list[Variable]]:
    """The variables of each ConfigMap of the manifest, by its name."""
    found: dict[str, list[Variable]] = {}
    for document in documents:
        if isinstance(document, Mapping) and document.text("kind") == "ConfigMap":
            metadata = document.mapping("metadata")
            if metadata is not None:
                found[metadata.text("name")] = variables_of(document.get("data"))
    return found


def _map_variables(document: Node, maps: dict[str, list[Variable]]) -> list[Variable]:
    """The variables that containers anywhere in `document` take from ConfigMaps of the same manifest."""
    found: list[Variable] = []
    if not maps:
        return found
    seen: set[int] = set()
    stack: list[Node] = [document]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Items):
            stack += node.items
        elif isinstance(node, Mapping):
            if reference := node.mapping("configMapRef"):
                found += maps.get(reference.text("name"), [])
            taken = node.mapping("valueFrom")
            if taken and (key := taken.mapping("configMapKeyRef")):
                for variable in maps.get(key.text("name"), []):
                    if variable.name == key.text("key"):
                        found.append(dataclasses.replace(variable, name=node.text("name")))
            stack += [value for _, value in node.entries]
    return found


def _workflow(jobs: Mapping, manifest: Manifest) -> None:
    """A workflow's steps, each a deployment of its own."""
    for key, job in jobs.entries:
        steps = job.get("steps") if isinstance(job, Mapping) else None
        for index, step in enumerate(steps.items if isinstance(steps, Items) else []):
            if isinstance(step, Mapping) and step.get("run"):
                name = f"{key.value}.{index}"
                manifest.walk(step, Context((key.value, step.text("name")), deployment=name))


def _chart_values(path: str, manifest: Manifest) -> Mapping | None:
    """The chart's `values.yaml` for a file in its `templates` folder."""
    before, found, _ = f"/{path}".rpartition("/templates/")
    if not found:
        return None
    beside = posixpath.join(before.lstrip("/"), "values.yaml")
    text = read_beside(manifest.root, beside)
    if text is None:
        return None
    manifest.depends.append(beside)
    try:
        node = parse(Source(beside, text), 0, text)
    except Unreadable:
        return None
    return node if isinstance(node, Mapping) else None
