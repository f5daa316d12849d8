"""The one rule for arguments.

A parameter is filled by the first that has it: (1) `ctx`; (2) a binding; (3) a loop's item; (4) what an earlier node
provides under that name; (5) the saga's input; (6) its default. What a callable of the saga may see is a Scope; which
of it fills which parameter is worked out once, as a CallPlan, and carried out for each call by `fill`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from saga_app.core.context import Context
from saga_app.core.errors import DefinitionError
from saga_app.core.names import RESERVED, nearest
from saga_app.core.refs import Ref, walk
from saga_app.core.signatures import Parameter, hints_of, parameters_of


class Values(Protocol):
    """What one execution has so far."""

    @property
    def input(self) -> Mapping[str, Any]:
        """The input, name → value."""

    def output(self, path: str) -> Any:
        """What the step at `path` returned. KeyError when it has none: skipped, failed, or never reached."""


class Absent(LookupError):
    """An origin that has nothing this time."""


@dataclass(frozen=True, slots=True)
class FromContext:
    """`ctx`, or a way into its input object."""

    keys: tuple[str, ...] = ()
    path: str = "ctx"

    def take(self, values: Values, ctx: Any) -> Any:
        """The context itself, or what is found in it."""
        return walk(ctx, self.keys, self.path)


@dataclass(frozen=True, slots=True)
class FromValue:
    """A plain value: bound, or the parameter's default."""

    value: Any

    def take(self, values: Values, ctx: Any) -> Any:
        """The value."""
        return self.value


@dataclass(frozen=True, slots=True)
class FromOutput:
    """What the step at `path` provides, or a way into it."""

    path: str
    keys: tuple[str, ...] = ()
    written: str = ""

    def take(self, values: Values, ctx: Any) -> Any:
        """The output, if there is one."""
        try:
            value = values.output(self.path)
        except KeyError:
            raise Absent(self.path) from None
        return walk(value, self.keys, self.written)


@dataclass(frozen=True, slots=True)
class FromInput:
    """A field of the input, or a way into it."""

    name: str
    keys: tuple[str, ...] = ()
    written: str = ""

    def take(self, values: Values, ctx: Any) -> Any:
        """The field, if it was given."""
        if self.name not in values.input:
            raise Absent(self.name)
        return walk(values.input[self.name], self.keys, self.written)


@dataclass(frozen=True, slots=True)
class FromCall:
    """What a callable given to bind() returns; its own parameters follow the same rule."""

    function: Callable[..., Any]
    plan: CallPlan

    def take(self, values: Values, ctx: Any) -> Any:
        """Call it."""
        return self.function(**fill(self.plan, values, ctx=ctx))


Origin: TypeAlias = FromContext | FromValue | FromOutput | FromInput | FromCall
Source: TypeAlias = tuple[Origin, ...]  #: asked in this order; the first that has it fills the parameter


@dataclass(frozen=True, slots=True)
class CallPlan:
    """Where each argument of one call comes from."""

    sources: Mapping[str, Source]
    reads: frozenset[str] = frozenset()
    calls_user_code: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """What a callable may see by name, at its place in the saga."""

    outputs: Mapping[str, str] = field(default_factory=dict)
    """Name → path of the step that provides it."""
    maybe: frozenset[str] = frozenset()
    """Those of them that may be missing when it runs."""
    later: Mapping[str, str] = field(default_factory=dict)
    """Name → name of the step that provides it too late: for messages only."""
    input: Mapping[str, bool] = field(default_factory=dict)
    """Name → it is always there."""
    given: frozenset[str] = frozenset()
    """What the caller brings along: for a handler the forward call's arguments, `result` and `error`."""

    @property
    def names(self) -> set[str]:
        """Everything that can be named here."""
        return {*self.outputs, *self.input, *self.given}


def fill(
    plan: CallPlan, values: Values, *, ctx: Any, given: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """The arguments of one call. `given` wins over all but `ctx`: a handler gets the forward call's own arguments."""
    return {
        name: given[name] if name in given and name != "ctx" else _first(name, source, values, ctx)
        for name, source in plan.sources.items()
    }


def _first(name: str, source: Source, values: Values, ctx: Any) -> Any:
    for origin in source:
        try:
            return origin.take(values, ctx)
        except Absent:
            continue
    asked = ", ".join(f"`{one.path}`" for one in source if isinstance(one, FromOutput)) or "the stored arguments"
    raise DefinitionError(f"nothing fills parameter `{name}`: {asked} had nothing for it")


def plan_call(
    parameters: Sequence[Parameter],
    scope: Scope,
    where: str,
    *,
    bindings: Mapping[str, object] = MappingProxyType({}),
) -> CallPlan:
    """The plan of one call, or DefinitionError."""
    sources = {}
    for one in parameters:
        if one.name in scope.given:
            sources[one.name] = _default(one)
        elif one.name in bindings:
            sources[one.name] = _bound(one, bindings[one.name], scope, where)
        else:
            sources[one.name] = _visible(one, scope, where)
    return CallPlan(MappingProxyType(sources), _reads(sources.values()), _calls_user_code(sources.values()))


def plan_value(reference: Ref, scope: Scope, where: str, *, default: Any) -> CallPlan:
    """The plan that reads one reference, as the argument `value`. There is no call, so there is no context."""
    if reference.path == "input":
        raise DefinitionError(f'{where}: write a field of the input, as in ref("input.total")')
    source = _bound(Parameter("value", default), reference, scope, where)
    return CallPlan(MappingProxyType({"value": source}), _reads([source]), _calls_user_code([source]))


def _default(parameter: Parameter) -> Source:
    return () if parameter.required else (FromValue(parameter.default),)


def _bound(parameter: Parameter, value: object, scope: Scope, where: str) -> Source:
    if isinstance(value, Ref):
        return _referred(parameter, value, scope, f"{where}: {value!r}")
    if callable(value):
        inner = f"{where}: the callable bound to `{parameter.name}`"
        return (FromCall(value, plan_call(parameters_of(value, inner), scope, inner)),)
    return (FromValue(value),)


def _referred(parameter: Parameter, reference: Ref, scope: Scope, where: str) -> Source:
    head, keys = reference.head, reference.keys
    if head == "input":
        if not keys:
            return (FromContext(("input",), reference.path),)
        if keys[0] not in scope.input:
            raise DefinitionError(f"{where}: the input has no `{keys[0]}`. {nearest(keys[0], scope.input)}")
        origin: Origin = FromInput(keys[0], keys[1:], reference.path)
        sure = scope.input[keys[0]]
    elif head in scope.outputs:
        origin = FromOutput(scope.outputs[head], keys, reference.path)
        sure = head not in scope.maybe
    elif head in scope.input:
        origin, sure = FromInput(head, keys, reference.path), scope.input[head]
    elif head in scope.later:
        raise DefinitionError(f"{where}: `{scope.later[head]}` provides `{head}` only later; move it before this step")
    else:
        raise DefinitionError(f"{where}: nothing here is called `{head}`. {nearest(head, scope.names)}")
    return _with_default(parameter, origin, where, sure=sure)


def _visible(parameter: Parameter, scope: Scope, where: str) -> Source:
    name = parameter.name
    if name == "ctx":
        return (FromContext(),)
    if name in scope.outputs:
        return _with_default(parameter, FromOutput(scope.outputs[name]), where, sure=name not in scope.maybe)
    if name in scope.input:
        return _with_default(parameter, FromInput(name), where, sure=scope.input[name])
    if parameter.required:
        raise DefinitionError(unfilled(name, scope, where))
    return _default(parameter)


def _with_default(parameter: Parameter, origin: Origin, where: str, *, sure: bool) -> Source:
    if sure:
        return (origin,)
    if parameter.required:
        why = "its step is required=False" if isinstance(origin, FromOutput) else "it is optional in the input"
        raise DefinitionError(
            f"{where}: `{parameter.name}` may have nothing to fill it, because {why}: "
            f"give the parameter a default, as in {parameter.name}=None"
        )
    return (origin, *_default(parameter))


def unfilled(name: str, scope: Scope, where: str) -> str:
    """What to tell about a parameter that nobody fills."""
    if name in scope.later:
        return f"{where}: `{scope.later[name]}` provides `{name}` only later; move it before this step"
    if name in RESERVED:
        return f"{where}: `{name}` is a reserved word that means nothing in this place; give the parameter another name"
    bind = "" if scope.given else f"bind it with .bind({name}=…), "  # which binds what the step takes, no handler
    return (
        f"{where}: nobody fills parameter `{name}`. {nearest(name, scope.names)} "
        f"Provide it in an earlier step, declare it in input=, {bind}or give it a default"
    )


def misnamed_context(function: Callable[..., Any], where: str) -> str:
    """The error of a function that takes the context under another name than `ctx`, or ""."""
    for name, hint in hints_of(function, where).items():
        if hint is Context and name != "ctx":
            return f"{where}: the context is always called `ctx`: write ctx: Context instead of {name}: Context"
    return ""


def _reads(sources: Any) -> frozenset[str]:
    found: set[str] = set()
    for origin in (one for source in sources for one in source):
        if isinstance(origin, FromOutput):
            found.add(origin.path)
        elif isinstance(origin, FromCall):
            found |= origin.plan.reads
    return frozenset(found)


def _calls_user_code(sources: Any) -> bool:
    """A callable is called, or a way into a value is walked, whose attributes may be properties."""
    return any(
        isinstance(origin, FromCall) or (isinstance(origin, FromOutput | FromInput) and bool(origin.keys))
        for source in sources
        for origin in source
    )
