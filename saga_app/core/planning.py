"""The one rule for arguments, worked out: what a callable may see is a Scope; who fills which parameter, a CallPlan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from saga_app.core.binding import (
    CallPlan,
    FromCall,
    FromContext,
    FromInput,
    FromItem,
    FromIteration,
    FromOutput,
    FromValue,
    Origin,
    Source,
)
from saga_app.core.context import Context
from saga_app.core.errors import DefinitionError
from saga_app.core.names import RESERVED, closest, nearest
from saga_app.core.refs import Ref
from saga_app.core.signatures import Parameter, hints_of, parameters_of


def _nothing(_name: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a callable may see by name, at its place in the saga."""

    outputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Name → the nodes that provide it, each on a way of its own."""
    maybe: Mapping[str, str] = field(default_factory=dict)
    """Those of them that may be missing when it runs → why."""
    absent: Callable[[str], str] = _nothing
    """Of a name that is provided where this place cannot see it: what to say; else ""."""
    items: tuple[str, ...] = ()
    """The loops whose item is seen, innermost first."""
    turns: bool = False
    """It is inside of a loop."""
    input: Mapping[str, bool] = field(default_factory=dict)
    """Name → it is always there."""
    given: frozenset[str] = frozenset()
    """What the caller brings along: for a handler the forward call's arguments, `result` and `error`."""

    @property
    def names(self) -> set[str]:
        """Everything that can be named here."""
        return {*self.items, *self.outputs, *self.input, *self.given}

    def fills(self, name: str) -> bool:
        """Whether something other than the input does."""
        return name == "ctx" or name in self.items or name in self.outputs or (name == "iteration" and self.turns)


@dataclass(frozen=True, slots=True)
class Site:
    """One call: where it stands, to say so in errors, and what to do about an argument that may be missing."""

    where: str
    what: str = "parameter"
    default: str = "give the parameter a default, as in {name}=None"


def plan_call(
    parameters: Sequence[Parameter],
    scope: Scope,
    where: str | Site,
    *,
    bindings: Mapping[str, object] = MappingProxyType({}),
) -> CallPlan:
    """The plan of one call, or DefinitionError."""
    site = Site(where) if isinstance(where, str) else where
    sources: dict[str, Source] = {}
    for one in parameters:
        if one.name in scope.given:
            sources[one.name] = _default(one)
        elif one.name in bindings:
            sources[one.name] = _bound(one, bindings[one.name], scope, site)
        else:
            sources[one.name] = _visible(one, scope, site)
    return CallPlan(MappingProxyType(sources))


def plan_value(reference: Ref, scope: Scope, where: str, *, default: object) -> CallPlan:
    """The plan that reads one reference, as the argument `value`. There is no call, so there is no context."""
    if reference.path == "input":
        raise DefinitionError(f'{where}: write a field of the input, as in ref("input.total")')
    source = _bound(Parameter("value", default), reference, scope, Site(where))
    return CallPlan(MappingProxyType({"value": source}))


def _default(parameter: Parameter) -> Source:
    return () if parameter.required else (FromValue(parameter.default),)


def _bound(parameter: Parameter, value: object, scope: Scope, site: Site) -> Source:
    if isinstance(value, Ref):
        return _referred(parameter, value, scope, Site(f"{site.where}: {value!r}", site.what, site.default))
    if callable(value):
        inner = f"{site.where}: the callable bound to `{parameter.name}`"
        return (FromCall(value, plan_call(parameters_of(value, inner), scope, inner)),)
    return (FromValue(value),)


def _referred(parameter: Parameter, reference: Ref, scope: Scope, site: Site) -> Source:
    head, keys = reference.head, reference.keys
    if head == "input":
        if not keys:
            return (FromContext(("input",), reference.path),)
        if keys[0] not in scope.input:
            raise DefinitionError(f"{site.where}: the input has no `{keys[0]}`. {nearest(keys[0], scope.input)}")
        return _with_default(parameter, _field(keys[0], keys[1:], reference.path, scope), site)
    found = _named(head, keys, reference.path, scope)
    if found is not None:
        return _with_default(parameter, found, site)
    elsewhere = scope.absent(head)
    if elsewhere:
        raise DefinitionError(f"{site.where}: {elsewhere}")
    of_input = "" if closest(head, scope.names) else f' Of the input, write ref("input.{reference.path}")'
    raise DefinitionError(f"{site.where}: nothing here is called `{head}`. {nearest(head, scope.names)}{of_input}")


def _visible(parameter: Parameter, scope: Scope, site: Site) -> Source:
    if parameter.name == "ctx":
        return (FromContext(),)
    found = _named(parameter.name, (), "", scope)
    if found is not None:
        return _with_default(parameter, found, site)
    if parameter.required:
        raise DefinitionError(unfilled(parameter.name, scope, site))
    return _default(parameter)


#: What a name means, and why it may have nothing; "" where it always has.
_Found: TypeAlias = tuple[Origin, str]


def _named(name: str, keys: tuple[str, ...], written: str, scope: Scope) -> _Found | None:
    """What a name means at this place: an item, the turn, an output, a field of the input, in this order."""
    if name in scope.items:
        return FromItem(name, keys, written), ""
    if name == "iteration" and scope.turns and not keys:
        return FromIteration(), ""
    if name in scope.outputs:
        return FromOutput(scope.outputs[name], keys, written), scope.maybe.get(name, "")
    return _field(name, keys, written, scope) if name in scope.input else None


def _field(name: str, keys: tuple[str, ...], written: str, scope: Scope) -> _Found:
    return FromInput(name, keys, written), "" if scope.input[name] else "it is optional in the input"


def _with_default(parameter: Parameter, found: _Found, site: Site) -> Source:
    origin, why = found
    if not why:
        return (origin,)
    if parameter.required:
        cure = site.default.format(name=parameter.name)
        raise DefinitionError(f"{site.where}: `{parameter.name}` may have nothing to fill it, because {why}: {cure}")
    return (origin, *_default(parameter))


def unfilled(name: str, scope: Scope, where: str | Site) -> str:
    """What to tell about a parameter that nobody fills."""
    site = Site(where) if isinstance(where, str) else where
    elsewhere = scope.absent(name)
    if elsewhere:
        return f"{site.where}: {elsewhere}"
    if name in RESERVED:
        return (
            f"{site.where}: `{name}` is a reserved word that means nothing in this place; "
            f"give the parameter another name"
        )
    bind = "" if scope.given else f"bind it with .bind({name}=…), "  # which binds what the step takes, no handler
    return (
        f"{site.where}: nobody fills {site.what} `{name}`. {nearest(name, scope.names)} "
        f"Provide it in an earlier step, declare it in input=, {bind}or give it a default"
    )


def misnamed_context(function: Callable[..., object], where: str) -> str:
    """The error of a function that takes the context under another name than `ctx`, or ""."""
    for name, hint in hints_of(function, where).items():
        if hint is Context and name != "ctx":
            return f"{where}: the context is always called `ctx`: write ctx: Context instead of {name}: Context"
    return ""
