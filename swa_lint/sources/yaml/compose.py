"""Compose files: services with `extends`, `entrypoint` and `command` put together, variables as compose fills them."""

from __future__ import annotations

import dataclasses
import pathlib
import posixpath

from swa_lint.sources.argv import Names
from swa_lint.sources.engines import engine_of_mapping
from swa_lint.sources.manifest import Context, Manifest, Program, variables_of
from swa_lint.sources.tree import Items, Mapping, Node, Scalar, Source
from swa_lint.sources.yaml.reader import Unreadable, parse

_SERVICE_KEYS = ("image", "build", "command", "entrypoint", "extends")
_MAX_EXTENDS = 5
_MAX_CHARACTERS = 1_000_000


def is_compose(document: Node) -> bool:
    """Whether a document is a compose file: `services` with images, builds or commands."""
    services = document.mapping("services") if isinstance(document, Mapping) else None
    if services is None:
        return False
    return any(isinstance(service, Mapping) and service.get(*_SERVICE_KEYS) for _, service in services.entries)


def read_services(document: Mapping, manifest: Manifest) -> None:
    """Add the launches of a compose file's services."""
    services = document.mapping("services")
    assert services is not None
    for key, service in services.entries:
        if isinstance(service, Mapping):
            resolved = _extended(service, services, manifest, _MAX_EXTENDS)
            _service(key, resolved, manifest)


def _service(key: Scalar, service: Mapping, manifest: Manifest) -> None:
    parts = [part for part in (service.get("entrypoint"), service.get("command")) if isinstance(part, (Items, Scalar))]
    if not parts:
        return
    context = Context((key.value, service.text("container_name")), engine_of_mapping(service))
    context = dataclasses.replace(context, path=tuple(filter(None, context.path)))
    end = max([service.end, key.end])
    where = key.source.location(key.start, end)
    environment = tuple(variables_of(service.get("environment")))
    # Compose fills `${X}` from the caller's environment, never from the service's own.
    names = Names({}, manifest.names.template)
    manifest.program(Program(parts, where, context, names, environment, compose=True))


def _extended(service: Mapping, services: Mapping, manifest: Manifest, depth: int) -> Mapping:
    """A service with what it extends put under it."""
    extends = service.get("extends")
    if extends is None or depth == 0:
        return service
    name, file = (extends.value, "") if isinstance(extends, Scalar) else ("", "")
    if isinstance(extends, Mapping):
        name, file = extends.text("service"), extends.text("file")
    others = _services_of(file, service.source, manifest) if file else services
    base = others.mapping(name) if others else None
    if others is None or base is None or base is service:
        return service
    base = _extended(base, others, manifest, depth - 1)
    entries = {key.value: (key, value) for key, value in base.entries if key.value != "depends_on"}
    for key, value in service.entries:
        if key.value == "environment" and (under := base.mapping("environment")) and isinstance(value, Mapping):
            joined = {k.value: (k, v) for k, v in (*under.entries, *value.entries)}
            value = Mapping(value.source, value.start, value.end, value.flow, list(joined.values()))
        entries[key.value] = (key, value)
    return Mapping(service.source, service.start, service.end, service.flow, list(entries.values()))


def _services_of(file: str, source: Source, manifest: Manifest) -> Mapping | None:
    """The services of another compose file, named relative to the one that extends it."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source.path), file))
    text = read_beside(manifest.root, path)
    if text is None:
        return None
    manifest.depends.append(path)
    try:
        document = parse(Source(path, text), 0, text)
    except Unreadable:
        return None
    return document.mapping("services") if isinstance(document, Mapping) else None


def read_beside(root: pathlib.Path | None, path: str) -> str | None:
    """The text of another file of the project, or None when it is none, too large, or outside the root."""
    if root is None or posixpath.isabs(path) or path.startswith("../"):
        return None
    try:
        file = root / path
        if not file.is_file() or file.stat().st_size > _MAX_CHARACTERS:
            return None
        return file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return None
