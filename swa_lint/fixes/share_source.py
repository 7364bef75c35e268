"""One source of geometry for a repository: a dataclass instance in one module that every Python site reads."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias

import libcst as cst
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import AddImportsVisitor, RemoveImportsVisitor

from swa_lint.finding import Replace
from swa_lint.fixes.lines import PythonLines, parse
from swa_lint.fixes.rewrite import Rewriter
from swa_lint.fixes.shared_module import CannotShare, SharedModule, locate_module
from swa_lint.geometry import Field, Location, Role, as_tokens
from swa_lint.project.text import Undecodable, decode
from swa_lint.sources.facts import Fact, FileFacts, Setting
from swa_lint.sources.python import mentions_geometry, read
from swa_lint.sources.python.bindings import constant_bindings

__all__ = ["CannotShare", "FilePlan", "SharePlan", "plan_sharing"]


@dataclass(frozen=True)
class FilePlan:
    """What changes in one file: the values replaced, the name they read and the imports that may no longer be used."""

    path: str
    edits: tuple[Replace, ...]
    module: str
    name: str
    package: str = ""
    alias: str | None = None
    unused: tuple[tuple[str, str | None, str | None], ...] = ()

    def values_replaced(self, text: str) -> str:
        """`text` with the values replaced; the imports are still to be added."""
        lines = PythonLines(text)
        for edit in reversed(self.edits):
            span = lines.span(edit.where)
            assert span is not None, "planned on this text"
            text = text[: span[0]] + edit.text + text[span[1] :]
        return text

    def schedule_imports(self, context: CodemodContext) -> None:
        """Tell LibCST's import visitors of `context` what to add and to remove."""
        AddImportsVisitor.add_needed_import(context, self.module, self.name, self.alias)
        for module, name, alias in self.unused:
            RemoveImportsVisitor.remove_unused_import(context, module, name, alias)

    def apply(self, text: str) -> str:
        """The whole new text of the file."""
        context = CodemodContext(filename=self.path, full_package_name=self.package or None)
        self.schedule_imports(context)
        module = cst.parse_module(self.values_replaced(text))
        for visitor in (AddImportsVisitor, RemoveImportsVisitor):
            module = visitor(context).transform_module(module)
        return module.code


@dataclass(frozen=True)
class SharePlan:
    """Everything that sharing changes: the module with its new text (None: as it is) and the files that read it."""

    module_path: str
    module_text: str | None
    files: tuple[FilePlan, ...]

    def texts(self, root: Path) -> dict[str, str]:
        """The new text of every file that changes, by path relative to `root`."""
        changed = {file.path: file.apply(_read(root, file.path)) for file in self.files}
        return changed if self.module_text is None else {self.module_path: self.module_text, **changed}

    def create_module(self, root: Path) -> None:
        """Write the module where there is none yet; of several processes one does."""
        if self.module_text is None:
            return
        try:
            with open(root / self.module_path, "x", encoding="utf-8") as stream:
                stream.write(self.module_text)
        except FileExistsError:
            pass


@dataclass(frozen=True)
class _Site:
    """A value of shared geometry; one that is `equal` may also read it from somewhere else already."""

    where: Location
    field: Field
    equal: bool


def plan_sharing(root: Path, paths: Iterable[str], module: str, name: str) -> SharePlan:
    """Plan `name`, an instance of ``SwaGeometry`` in the dotted `module`, as the one source of geometry of `paths`.

    Paths are Python files relative to `root`; others, and those that cannot be read, have no part in it. Raises
    CannotShare when the target's geometry is not known as a constant, is not one constant, or the module cannot take
    the name.
    """
    base, module_path = locate_module(root, module, name)
    shared = SharedModule.of(_read(root, module_path) if (root / module_path).exists() else "", module, name)
    texts = {path: text for path in paths if path != module_path and (text := _mentioning_geometry(root, path))}
    facts = [read(path, text, root=root) for path, text in texts.items()]
    bindings = [fact for path, text in texts.items() for fact in constant_bindings(path, text, root=root)]
    values = _target_constants(facts, bindings, shared, f"{module_path}: {name}")
    if not values and not shared.computed:
        raise CannotShare(
            "no Python file of these paths sets the target's page size or window to a constant, so there is no value to "
            "share; set one on the target first, or let `swa-lint fix` make each draft follow its target"
        )
    sites: dict[str, list[_Site]] = {}
    for site in [*_divergent(facts, values), *_launched(facts, values), *_agreeing(bindings, values)]:
        if site.where.path in texts:
            sites.setdefault(site.where.path, []).append(site)
    planner = _Planner(module, name, base)
    files = (planner.plan(path, texts[path], found) for path, found in sorted(sites.items()))
    return SharePlan(module_path, shared.text_with(values), tuple(file for file in files if file.edits))


def _read(root: Path, path: str) -> str:
    return decode((root / path).read_bytes(), python=True).text


def _mentioning_geometry(root: Path, path: str) -> str | None:
    """The text of a Python file that may set geometry."""
    try:
        data = (root / path).read_bytes() if path.endswith(".py") else b""
        return decode(data, python=True).text if mentions_geometry(data) else None
    except (OSError, Undecodable):
        return None


def _target_constants(
    facts: Sequence[FileFacts], bindings: Sequence[Fact], shared: SharedModule, shared_at: str
) -> dict[Field, int]:
    """Each field's constant on the target; raises CannotShare where there are two.

    Where a draft diverges, its target has the say; where none does, all targets that set the field must agree.
    """
    claims = [(field, tokens, shared_at) for field, tokens in shared.values.items()]
    found = _agreed([*claims, *_claimed_by_defects(facts)])
    for field in Field:
        if field in found:
            continue
        targets = (fact for fact in bindings if fact.field is field and fact.role is Role.TARGET)
        try:
            found |= _agreed(claim for fact in targets for claim in _claim(fact, field))
        except CannotShare:
            # Independent servers may well differ in a field that no draft is at odds with.
            if not found:
                raise
    return {field: tokens for field, tokens in found.items() if field not in shared.computed}


_Claim: TypeAlias = "tuple[Field, int, str]"


def _agreed(claims: Iterable[_Claim]) -> dict[Field, int]:
    found: dict[Field, tuple[int, str]] = {}
    for field, tokens, place in claims:
        known, known_at = found.setdefault(field, (tokens, place))
        if known != tokens:
            raise CannotShare(
                f"the target's {field.value} is {known} at {known_at} and {tokens} at {place}: one source cannot be both; "
                "run on the paths of one deployment"
            )
    return {field: tokens for field, (tokens, _) in found.items()}


def _claim(fact: Fact | Setting, field: Field) -> Iterator[_Claim]:
    tokens = as_tokens(fact.value)
    if tokens is not None:
        yield field, tokens, f"{fact.where.path}:{fact.where.line}"


def _claimed_by_defects(facts: Sequence[FileFacts]) -> Iterator[_Claim]:
    """The constants of targets whose draft diverges, and of the prefill side of a deployment."""
    for file in facts:
        for pair in file.pairs:
            if pair.target is not None:
                yield from _claim(pair.target, pair.target.field)
        for launch in file.launches:
            setting = launch.get(Field.PAGE_SIZE.value)
            if setting is not None and launch.role is Role.PREFILL:
                yield from _claim(setting, Field.PAGE_SIZE)


def _divergent(facts: Sequence[FileFacts], values: Mapping[Field, int]) -> Iterator[_Site]:
    """The values of diverging drafts and of their targets."""
    for pair in (pair for file in facts for pair in file.pairs):
        target = pair.target
        if target is None or values.get(target.field) is None or as_tokens(target.value) != values[target.field]:
            continue
        for fact in (target, pair.draft):
            yield _Site(fact.value_where or fact.where, fact.field, equal=fact is target)


def _launched(facts: Sequence[FileFacts], values: Mapping[Field, int]) -> Iterator[_Site]:
    """The page sizes of prefill servers that Python starts, and of the decode servers that go with them."""
    launches = [launch for file in facts for launch in file.launches]
    prefills = {launch.deployment for launch in launches if launch.role is Role.PREFILL}
    for launch in launches:
        setting = launch.get(Field.PAGE_SIZE.value)
        if setting is None or setting.value_where is None or Field.PAGE_SIZE not in values:
            continue
        follows = launch.role is Role.DECODE and launch.deployment in prefills
        if follows or (launch.role is Role.PREFILL and as_tokens(setting.value) == values[Field.PAGE_SIZE]):
            yield _Site(setting.value_where, Field.PAGE_SIZE, equal=False)


def _agreeing(bindings: Sequence[Fact], values: Mapping[Field, int]) -> Iterator[_Site]:
    """The values of targets and drafts that are the shared ones by agreement, not by one source."""
    for fact in bindings:
        if fact.value_where is not None and as_tokens(fact.value) == values.get(fact.field, -1):
            yield _Site(fact.value_where, fact.field, equal=True)


@dataclass(frozen=True)
class _Planner:
    """Plans the files that read `name` of `module`, which is imported from the directory `base`."""

    module: str
    name: str
    base: str

    def plan(self, path: str, text: str, sites: Sequence[_Site]) -> FilePlan:
        """What replaces the values at `sites`; places that hold no expression are left."""
        package = ".".join(PurePosixPath(path).relative_to(self.base).parent.parts) if self._is_below(path) else ""
        tree = parse(text)
        assert tree is not None, "facts come from files that parse"
        imports = list(_imports(tree, package))
        local = self._local_name(tree, imports)
        rewriter = Rewriter(path, text, tree)
        for site in sites:
            rewriter.replace(site.where, f"{local}.{site.field.value}", equal=site.equal)
        edits = tuple(rewriter.edits())
        unused = tuple((i.module, i.name, i.alias) for i in imports if i.bound in rewriter.names_replaced)
        alias = None if local == self.name else local
        return FilePlan(path, edits, self.module, self.name, package, alias, unused)

    def _local_name(self, tree: ast.Module, imports: Sequence[_Import]) -> str:
        """What the file calls the instance: as it imports it now, or by its own name unless that is taken."""
        for known in imports:
            if (known.module, known.name) == (self.module, self.name):
                return known.bound
        taken = {i.bound for i in imports} | {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        taken |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
        local = self.name
        while local in taken:
            local = f"SHARED_{local}"
        return local

    def _is_below(self, path: str) -> bool:
        return not self.base or path.startswith(f"{self.base}/")


@dataclass(frozen=True)
class _Import:
    """One imported name; `name` is None for ``import module``."""

    module: str
    name: str | None
    alias: str | None

    @property
    def bound(self) -> str:
        return self.alias or self.name or self.module.partition(".")[0]


def _imports(tree: ast.Module, package: str) -> Iterator[_Import]:
    """The imports of a module of `package`, relative ones made absolute."""
    parents = package.split(".") if package else []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (_Import(alias.name, None, alias.asname) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parents[: len(parents) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (_Import(module, alias.name, alias.asname) for alias in node.names)
