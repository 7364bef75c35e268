"""The module that holds a project's one geometry: where it is, what it says already, and its text with more values."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import AddImportsVisitor

from swa_lint.fixes.lines import parse
from swa_lint.geometry import Field

_CLASS = "SwaGeometry"
# Where projects keep their packages, relative to the root.
_BASES = ("", "src", "python")


class CannotShare(Exception):
    """Geometry cannot be shared as asked; the message says why and what to do."""


def locate_module(root: Path, module: str, name: str) -> tuple[str, str]:
    """The directory that `module` is imported from and its file, existing or not, both relative to `root`.

    Raises CannotShare for what is no module or name, and where the module's package does not exist.
    """
    parts = module.split(".")
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in (*parts, name)):
        raise CannotShare(
            f"{':'.join(filter(None, (module, name)))} is not MODULE:NAME, such as serving.geometry:GEOMETRY"
        )
    for base in _BASES:
        file = Path(base, *parts)
        for candidate in (file.with_suffix(".py"), file / "__init__.py"):
            if (root / candidate).is_file():
                return base, candidate.as_posix()
    if len(parts) == 1:
        return "", f"{module}.py"
    for base in _BASES:
        if (root / base).joinpath(*parts[:-1]).is_dir():
            return base, Path(base, *parts).with_suffix(".py").as_posix()
    raise CannotShare(
        f"there is no package {'.'.join(parts[:-1])} for {module} in {root.resolve().name}; make it first"
    )


@dataclass(frozen=True)
class SharedModule:
    """What the module says: the constants of `name` in tokens, and the fields it sets to anything else."""

    module: str
    name: str
    text: str = ""
    has_class: bool = False
    has_instance: bool = False
    values: Mapping[Field, int] = field(default_factory=dict)
    computed: frozenset[Field] = frozenset()

    @classmethod
    def of(cls, text: str, module: str, name: str) -> SharedModule:
        """Read the module's text (empty: it does not exist); raises CannotShare where it cannot take `name`."""
        tree = parse(text)
        if tree is None:
            raise CannotShare(f"{module} does not parse")
        found: ast.expr | None = None
        has_class = has_instance = False
        for statement in tree.body:
            has_class |= _CLASS in _bound_names(statement)
            if name in _bound_names(statement):
                has_instance = True
                found = getattr(statement, "value", None)
        if not has_instance:
            return cls(module, name, text, has_class)
        if not isinstance(found, ast.Call) or not isinstance(found.func, ast.Name) or found.func.id != _CLASS:
            raise CannotShare(f"{module} has a {name} already that is no {_CLASS}(...); choose another name")
        given = {k.arg: k.value for k in found.keywords}
        if found.args or None in given:
            raise CannotShare(f"{name} in {module} must be {_CLASS} with plain keywords")
        known = {f: given[f.value] for f in Field if f.value in given}
        values = {f: v.value for f, v in known.items() if isinstance(v, ast.Constant) and type(v.value) is int}
        return cls(
            module, name, text, has_class, True, values, frozenset(known) - frozenset(values) - _set_to_none(known)
        )

    def text_with(self, values: Mapping[Field, int]) -> str | None:
        """The module's text with `values` in it, or None where it has them all."""
        if self.has_instance and all(self.values.get(field) == tokens for field, tokens in values.items()):
            return None
        if not self.text.strip():
            return _HEADER + _class_text(values) + "\n\n" + self._instance_text(values) + _MAIN.format(**vars(self))
        module = cst.parse_module(self.text)
        if self.has_instance:
            return module.visit(_Filler(self.name, values)).code
        context = CodemodContext()
        added = self._instance_text(values)
        if not self.has_class:
            AddImportsVisitor.add_needed_import(context, "dataclasses", "dataclass")
            module = AddImportsVisitor(context).transform_module(module)
            added = _class_text(values) + "\n\n" + added
        newline = module.default_newline
        return module.code.rstrip() + newline * 3 + added.replace("\n", newline)

    def _instance_text(self, values: Mapping[Field, int]) -> str:
        given = ", ".join(f"{field.value}={values[field]}" for field in Field if field in values)
        return f"{self.name} = {_CLASS}({given})\n"


_HEADER = '''"""The KV pool geometry of this deployment: the one place that sets it, for the target and its draft."""

from dataclasses import asdict, dataclass


'''

_MAIN = """

if __name__ == "__main__":  # for launch files: python -m {module} > geometry.env
    for field, value in asdict({name}).items():
        if value is not None:
            print(f"{{field.upper()}}={{value}}")
"""


def _class_text(values: Mapping[Field, int]) -> str:
    """The dataclass; a field that is not known yet is None, the engine's own, and comes last for having a default."""
    known = [f"    {field.value}: int\n" for field in Field if field in values]
    unknown = [f"    {field.value}: int | None = None\n" for field in Field if field not in values]
    doc = '    """Page size and sliding window, in tokens, that the pools of the target and its draft share."""\n\n'
    return f"@dataclass(frozen=True)\nclass {_CLASS}:\n" + doc + "".join(known + unknown)


def _bound_names(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module binds by itself."""
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name for alias in statement.names}
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _set_to_none(known: Mapping[Field, ast.expr]) -> frozenset[Field]:
    return frozenset(f for f, value in known.items() if isinstance(value, ast.Constant) and value.value is None)


class _Filler(cst.CSTTransformer):
    """Gives the call that makes the instance the values that it lacks."""

    def __init__(self, name: str, values: Mapping[Field, int]) -> None:
        super().__init__()
        self._name = name
        self._values = values

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:
        names = [target.target.value for target in updated_node.targets if isinstance(target.target, cst.Name)]
        return (
            updated_node.with_changes(value=self._filled(updated_node.value)) if self._name in names else updated_node
        )

    def leave_AnnAssign(self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign) -> cst.AnnAssign:
        is_it = isinstance(updated_node.target, cst.Name) and updated_node.target.value == self._name
        if not is_it or updated_node.value is None:
            return updated_node
        return updated_node.with_changes(value=self._filled(updated_node.value))

    def _filled(self, call: cst.BaseExpression) -> cst.BaseExpression:
        assert isinstance(call, cst.Call), "SharedModule.of has seen to it"
        args = list(call.args)
        names = [arg.keyword.value if arg.keyword else "" for arg in args]
        for name, tokens in ((key.value, tokens) for key, tokens in self._values.items()):
            value = cst.Integer(str(tokens))
            if name in names:
                index = names.index(name)
                args[index] = args[index].with_changes(value=value)
            else:
                equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
                args.append(cst.Arg(value, keyword=cst.Name(name), equal=equal))
        return call.with_changes(args=args)
