"""Calls: arguments, inlining of the project's own functions and classes, bound methods, super()."""

from __future__ import annotations

import ast

from swa_lint.sglang.names import FIELD_OF_NAME, args_name
from swa_lint.sources.python.access import is_remote
from swa_lint.sources.python.base import MAX_HOPS, Frame
from swa_lint.sources.python.expressions import Expressions
from swa_lint.sources.python.heap import ABSENT, path_of
from swa_lint.sources.python.interest import Interest, interest_of
from swa_lint.sources.python.values import (
    Expr,
    Ext,
    Func,
    Klass,
    Lit,
    Namespace,
    Partial,
    Phi,
    Ref,
    State,
    Val,
    alternatives,
)

Keywords = list[tuple[str, Val]]


class Calls(Expressions):
    """Follows calls into the project; what is outside of it is `external`'s business."""

    def external(
        self,
        frame: Frame,
        state: State,
        name: str,
        base: Val | None,
        args: list[Val],
        keywords: Keywords,
        node: ast.expr,
    ) -> Val:
        """A call of something outside the project; `base` is the object of a method call."""
        raise NotImplementedError

    def construct_external(self, frame: Frame, state: State, klass: Klass) -> bool:
        """Whether the layer above knows what making an instance of this class means."""
        raise NotImplementedError

    def _eval_Call(self, frame: Frame, state: State, node: ast.Call) -> Val:
        return self.call(frame, state, node)

    def _eval_Await(self, frame: Frame, state: State, node: ast.Await) -> Val:
        return self.evaluate(frame, state, node.value)

    def _eval_Lambda(self, frame: Frame, state: State, node: ast.Lambda) -> Val:
        return Val(Func(node, frame.module, None, frame.owner, {**(frame.closure or {}), **state.env}))

    def _eval_Attribute(self, frame: Frame, state: State, node: ast.Attribute) -> Val:
        return self._super(frame, node.attr) if _of_super(frame, node) else super()._eval_Attribute(frame, state, node)

    def _super(self, frame: Frame, attr: str) -> Val:
        assert frame.owner is not None
        for base in self.bases(frame.owner):
            if isinstance(base, Klass):
                found = self.class_attribute(base, attr, frame.self_value)
                if found is not None and not self.construct_external(frame, State(), base):
                    return found
            return Val(
                Partial(Val(Ext(f"{path_of(self.heap, base)}.{attr}")), (), (("<self>", frame.self_value or ABSENT),))
            )
        return Val(Ext(f"super.{attr}"))

    def call(self, frame: Frame, state: State, node: ast.Call) -> Val:
        self.tick()
        base = None
        if isinstance(node.func, ast.Attribute) and not _of_super(frame, node.func):
            base = self.evaluate(frame, state, node.func.value)
            if node.func.attr == "options" and isinstance(base.core, (Klass, Func)) and is_remote(base.core):
                return base  # Ray: `Actor.options(num_gpus=1).remote(...)`
            callee = self.read(frame, state, base, node.func)
        else:
            callee = self.evaluate(frame, state, node.func)
        args, keywords = self.arguments(frame, state, node)
        known = base if isinstance(callee.core, (Ref, Ext)) else None
        return self._dispatch(frame, state, callee, known, args, keywords, node)

    def _dispatch(
        self,
        frame: Frame,
        state: State,
        callee: Val,
        base: Val | None,
        args: list[Val],
        keywords: Keywords,
        node: ast.expr,
    ) -> Val:
        core = callee.core
        if isinstance(core, Phi):
            return self.spread(state, callee, lambda v: self._dispatch(frame, state, v, base, args, keywords, node))
        if isinstance(core, Partial):
            return self._dispatch(
                frame, state, core.callee, base, [*core.args, *args], [*core.keywords, *keywords], node
            )
        if isinstance(core, Func):
            return self.inline(frame, state, core, args, keywords, node)
        if isinstance(core, Klass):
            return self.construct(frame, state, core, args, keywords, node)
        if isinstance(core, Namespace):
            return self._opaque(frame, node)
        if isinstance(core, Ref) and isinstance(self.heap.things[core.oid].cls, Klass):
            klass = self.heap.things[core.oid].cls
            method = self.class_attribute(klass, "__call__", callee) if isinstance(klass, Klass) else None
            if method is not None and isinstance(method.core, Func):
                return self.inline(frame, state, method.core, args, keywords, node)
        return self.external(frame, state, path_of(self.heap, core), base, args, keywords, node)

    def call_value(
        self, frame: Frame, state: State, callee: Val, args: list[Val], keywords: Keywords, node: ast.expr
    ) -> Val:
        return self._dispatch(frame, state, callee, None, args, keywords, node)

    def arguments(self, frame: Frame, state: State, node: ast.Call) -> tuple[list[Val], Keywords]:
        """Evaluated arguments, each bound where it is passed; `*xs` and `**kw` are spread where they are known."""
        args: list[Val] = []
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                inner = self.evaluate(frame, state, arg.value)
                known = self.sequence(state, inner)
                args.extend(
                    known if known is not None else [inner._replace(core=Expr(f"*{path_of(self.heap, inner.core)}"))]
                )
                continue
            place = self.span(frame, arg)
            args.append(self.evaluate(frame, state, arg).bound(place, place))
        keywords: Keywords = []
        for keyword in node.keywords:
            value = self.evaluate(frame, state, keyword.value)
            if keyword.arg is not None:
                keywords.append((keyword.arg, value.bound(self.span(frame, keyword), self.span(frame, keyword.value))))
                continue
            for option in alternatives(value, state.path):
                if isinstance(option.core, Ref):
                    base = state.slots.get((option.core.oid, "#base"))
                    if base is not None:
                        keywords.append(("#base", base.value))
                    elif self.heap.things[option.core.oid].kind != "dict":
                        keywords.append(("#base", option))
                    for name, inner in self.heap.items(state, option.core.oid):
                        keywords.append(
                            (name, inner._replace(conds=inner.conds + option.conds, given=inner.given or -1))
                        )
        return args, keywords

    # -- functions ---

    def inline(
        self, frame: Frame, state: State, func: Func, args: list[Val], keywords: Keywords, node: ast.expr
    ) -> Val:
        """Run a function of the project on these arguments."""
        body = func.node
        name = getattr(body, "name", "<lambda>")
        interest = interest_of(body, func.module)
        followed = interest is Interest.GEOMETRY or (interest is Interest.CHECK and self._tells(args, keywords))
        if not args and not keywords and func.self_value is None and "sglang" in func.module.name:
            followed &= func.module is frame.module  # SGLang's own accessors are what their names say
        if frame.depth >= MAX_HOPS or body in self.active or not followed:
            return self._unfollowed(frame, name, args, keywords, node)
        self.inlined.add(body)
        inner = Frame(func.module, name, frame.depth + 1, func.self_value, func.owner, func.closure)
        inner.expects_error = frame.expects_error
        passed = [func.self_value, *args] if func.self_value is not None else args
        depth = inner.depth
        env = self.bind(
            inner, state, body.args, [_give(v, depth) for v in passed], [(k, _give(v, depth)) for k, v in keywords]
        )
        value = self.activate(inner, state, body, env)
        for told in (*passed, *(v for _, v in keywords)):
            if isinstance(told.core, Lit) and told.core.value in ("draft", "target"):
                self.name(value, str(told.core.value))  # pool("draft", ...): what comes back is the draft's
        return value

    def _tells(self, args: list[Val], keywords: Keywords) -> bool:
        """Whether a call is given geometry, or something that carries it."""
        for value in (*args, *(v for _, v in keywords)):
            if isinstance(value.core, Ref):
                thing = self.heap.things[value.core.oid]
                last = thing.path.rpartition(".")[2]
                if thing.kind != "opaque" or last in FIELD_OF_NAME or args_name(last) or "pool" in last:
                    return True
        return False

    def _unfollowed(self, frame: Frame, name: str, args: list[Val], keywords: Keywords, node: ast.expr) -> Val:
        texts = [path_of(self.heap, a.core) for a in args] + [f"{k}={path_of(self.heap, v.core)}" for k, v in keywords]
        return self.heap.symbol(f"{name}({', '.join(texts)})", self.span(frame, node))

    def activate(
        self, inner: Frame, state: State, body: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, env: dict[str, Val]
    ) -> Val:
        """Run a body with `env` as its locals; the caller's state then holds the effects."""
        outer_env, outer_path = state.env, state.path
        work = state.fork()
        work.env = env
        self.active.append(body)
        try:
            if isinstance(body, ast.Lambda):
                result = self.evaluate(inner, work, body.body)
                inner.returns.append((work, result))
            else:
                self.block(inner, work, body.body)
                if work.live:
                    inner.returns.append((work, Val(Lit.of(None))))
        finally:
            self.active.pop()
        if not inner.returns:
            # A body without a test always raises; else some test was decided wrongly, and the call may come back.
            tests = not isinstance(body, ast.Lambda) and any(isinstance(n, (ast.If, ast.Try)) for n in ast.walk(body))
            state.live = tests
            return self.heap.fresh(f"{inner.name}()", None)
        value = self._returned(inner, len(outer_path))
        merged, *rest = [s for s, _ in inner.returns]
        final = merged.fork() if rest else merged
        for other in rest:
            self.heap.join(final, other)
        # One way out: what was tested on it holds for the caller too (a guard that raises otherwise).
        path = final.path if final.path[: len(outer_path)] == outer_path else outer_path
        state.become(final)
        state.env, state.path = outer_env, path
        return value

    def _returned(self, inner: Frame, depth: int) -> Val:
        found = []
        for exit_state, value in inner.returns:
            conds = tuple(c for c in exit_state.path[depth:] if c not in value.conds)
            settled = value._replace(given=0) if value.given == inner.depth else value
            found.append(settled._replace(conds=settled.conds + conds) if len(inner.returns) > 1 else settled)
        if len(found) == 1 or all(v.core == found[0].core for v in found):
            return found[0]
        return Val(Phi(tuple(found)))

    def bind(
        self, frame: Frame, state: State, spec: ast.arguments, args: list[Val], keywords: Keywords
    ) -> dict[str, Val]:
        """Arguments to parameters, defaults included; what is missing becomes a symbol."""
        env: dict[str, Val] = {}
        names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        for name, value in zip(names, args, strict=False):
            env[name] = value
        if spec.vararg is not None:
            env[spec.vararg.arg] = self.make_list(state, args[len(names) :])
        extra: Keywords = []
        known = {*names, *(a.arg for a in spec.kwonlyargs)}
        for name, value in keywords:
            if name in known:
                env[name] = value
            else:
                extra.append((name, value))
        if spec.kwarg is not None:
            ref = self.heap.mapping(state, None)
            for name, value in extra:
                if name.startswith("#"):
                    self.heap.put(state, ref.oid, name, value, own=False)
                else:
                    self.heap.set_item(state, ref.oid, name, value)
            env[spec.kwarg.arg] = Val(ref)
        for name, value in env.items():
            self.name(value, name)
        self._defaults(frame, state, spec, env)
        return env

    def _defaults(self, frame: Frame, state: State, spec: ast.arguments, env: dict[str, Val]) -> None:
        positional = [*spec.posonlyargs, *spec.args]
        pairs = list(zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True))
        pairs += [(a, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None]
        for parameter, default in pairs:
            if parameter.arg not in env:
                value = self.evaluate(Frame(frame.module, frame.name, frame.depth), State(), default)
                env[parameter.arg] = value.bound(self.span(frame, parameter, default), self.span(frame, default))
        for parameter in (*positional, *spec.kwonlyargs):
            if parameter.arg not in env:
                env[parameter.arg] = self.heap.fresh(parameter.arg, self.span(frame, parameter))

    # -- classes ---

    def construct(
        self, frame: Frame, state: State, klass: Klass, args: list[Val], keywords: Keywords, node: ast.expr
    ) -> Val:
        """Make an instance: run `__init__`, or fill the fields of a dataclass or named tuple."""
        if self.construct_external(frame, state, klass):
            return self.external(frame, state, klass.node.name, None, args, keywords, node)
        ref = self.heap.new(f"{klass.node.name}()", "instance", where=self.span(frame, node), cls=klass)
        instance = Val(ref)
        init = self.class_attribute(klass, "__init__", instance)
        if init is not None and isinstance(init.core, Func):
            self.inline(frame, state, init.core, args, keywords, node)
            return instance
        fields = self.fields(klass)
        given = dict(zip(fields, args, strict=False)) | dict(keywords)
        for name, value in given.items():
            if not name.startswith("#"):
                self.heap.put(state, ref.oid, name, value)
        post = self.class_attribute(klass, "__post_init__", instance)
        if post is not None and isinstance(post.core, Func):
            self.inline(frame, state, post.core, [], [], node)
        return instance

    def fields(self, klass: Klass, hops: int = 0) -> list[str]:
        """The annotated fields of a dataclass, those of its bases first."""
        names: list[str] = []
        for base in self.bases(klass) if hops < 4 else []:
            if isinstance(base, Klass):
                names += self.fields(base, hops + 1)
        for node in klass.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id not in names:
                names.append(node.target.id)
        return names


def _give(value: Val, depth: int) -> Val:
    """Mark a value as passed at this depth; the outermost place stays."""
    return value if value.given or isinstance(value.core, (Func, Klass)) else value._replace(given=depth)


def _of_super(frame: Frame, node: ast.Attribute) -> bool:
    """Whether it is an attribute of `super()` within a class."""
    inner = node.value
    called = inner.func if isinstance(inner, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == "super" and frame.owner is not None
