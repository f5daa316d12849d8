"""Sealing: once every module is imported, the input is resolved and every call of a saga gets its plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from saga_app.core.binding import CallPlan, Scope, misnamed_context, plan_call, plan_value, unfilled
from saga_app.core.errors import DefinitionError
from saga_app.core.forms import SelfCheckedInput, self_checked_input
from saga_app.core.handlers import Handler
from saga_app.core.inputs import Field, TypedInput, callable_input, dataclass_input
from saga_app.core.names import RESERVED
from saga_app.core.nodes import Node
from saga_app.core.refs import Ref
from saga_app.core.scopes import check_input_names, scope_at_end, scopes_of
from saga_app.core.signatures import Parameter, hints_of, parameters_of
from saga_app.core.steps import Step
from saga_app.core.validation import fingerprint_of, steps_of

Input: TypeAlias = TypedInput | SelfCheckedInput
AnyStep: TypeAlias = Step[..., Any]


@dataclass(frozen=True, slots=True)
class Sealed:
    """What sealing found out. Plans are kept by path."""

    input: Input
    calls: Mapping[str, CallPlan]
    compensations: Mapping[str, CallPlan]
    reconciles: Mapping[str, CallPlan]
    output: CallPlan | None
    fingerprint: str


def seal(name: str, nodes: Sequence[Node], written: object, output: Ref | None) -> Sealed:
    """Everything a saga needs to run, or DefinitionError."""
    where, steps = f"saga {name!r}", steps_of(nodes)
    for one in steps:
        _check_context(one, where)
    bare = scopes_of(steps)
    found = declared_input(name, written) if written is not None else _inferred_input(name, steps, bare)
    check_input_names(where, found.names, steps)
    seen = {field: field in found.always for field in found.names}
    scopes = {path: replace(scope, input=seen) for path, scope in bare.items()}
    sealed = Sealed(
        input=found,
        calls=_plans(steps, scopes, where, _call),
        compensations=_plans(steps, scopes, where, _compensation),
        reconciles=_plans(steps, scopes, where, _reconcile),
        output=None
        if output is None
        else plan_value(output, replace(scope_at_end(steps), input=seen), f"{where}, output", default=None),
        fingerprint=fingerprint_of(nodes),
    )
    for one in steps:
        one.bodies.sealed_by = one.bodies.sealed_by or name
    return sealed


def declared_input(name: str, written: object) -> Input:
    """The input as it was declared: a dataclass, a form, a serializer or a callable."""
    if isinstance(written, type) and dataclasses.is_dataclass(written):
        return dataclass_input(name, written)
    checked = self_checked_input(name, written)
    if checked is not None:
        return checked
    if callable(written):
        return callable_input(name, written)
    raise DefinitionError(
        f"saga {name!r}: input is {written!r}: write a dataclass, a form, a serializer class or a callable"
    )


_Planner: TypeAlias = Callable[[AnyStep, Scope, str], CallPlan | None]


def _plans(steps: Sequence[AnyStep], scopes: Mapping[str, Scope], where: str, plan: _Planner) -> Mapping[str, CallPlan]:
    made = {one.name: plan(one, scopes[one.name], where) for one in steps}
    return MappingProxyType({path: one for path, one in made.items() if one is not None})


def _call(step: AnyStep, scope: Scope, where: str) -> CallPlan:
    return plan_call(step.parameters, scope, f"{where}, step `{step.name}`", bindings=step.bindings)


def _compensation(step: AnyStep, scope: Scope, where: str) -> CallPlan | None:
    return _handler(step.compensation, step, scope, f"{where}, the compensation of step `{step.name}`")


def _reconcile(step: AnyStep, scope: Scope, where: str) -> CallPlan | None:
    return _handler(step.reconciler, step, scope, f"{where}, the reconcile of step `{step.name}`")


def _handler(handler: Handler | None, step: AnyStep, scope: Scope, where: str) -> CallPlan | None:
    """A handler gets what the forward call got, then `result` and `error`, then what the forward call could see."""
    if handler is None:
        return None
    brought = frozenset(one.name for one in step.parameters if one.name != "ctx") | {"result", "error"}
    # Where nothing went wrong `error` is None; a `result` without a default is never called for without one.
    parameters = [replace(one, default=None) if one.name == "error" and one.required else one
                  for one in handler.parameters]  # fmt: skip
    return plan_call(parameters, replace(scope, given=brought), where)


def _check_context(step: AnyStep, where: str) -> None:
    for function, what in (
        (step.function, f"step `{step.name}`"),
        (getattr(step.compensation, "function", None), f"the compensation of step `{step.name}`"),
        (getattr(step.reconciler, "function", None), f"the reconcile of step `{step.name}`"),
    ):
        problem = misnamed_context(function, f"{where}, {what}") if function else ""
        if problem:
            raise DefinitionError(problem)


@dataclass(frozen=True, slots=True)
class _Demand:
    """A name that nobody but the input can fill."""

    name: str
    required: bool
    types: tuple[Any, ...]


def _inferred_input(name: str, steps: Sequence[AnyStep], scopes: Mapping[str, Scope]) -> TypedInput:
    """Without `input=`: the parameters of steps and of bound callables that nobody else fills."""
    fields: dict[str, Field] = {}
    for step in steps:
        where, scope = f"saga {name!r}, step `{step.name}`", scopes[step.name]
        for one in _demands(step.function, step.parameters, step.bindings, scope, where):
            if one.name in RESERVED or one.name in scope.later:
                raise DefinitionError(unfilled(one.name, scope, where))
            types = tuple((f"step `{step.name}`", each) for each in one.types)
            old = fields.get(one.name, Field(required=False))
            fields[one.name] = Field(old.required or one.required, (*old.types, *types))
    return TypedInput(name, None, fields)


def _demands(
    function: Callable[..., Any],
    parameters: Sequence[Parameter],
    bindings: Mapping[str, object],
    scope: Scope,
    where: str,
) -> Iterator[_Demand]:
    hints = hints_of(function, where)
    for one in parameters:
        types = (hints[one.name],) if one.name in hints else ()
        value = bindings.get(one.name)
        if one.name not in bindings:
            if one.name != "ctx" and one.name not in scope.outputs:
                yield _Demand(one.name, one.required, types)
        elif isinstance(value, Ref):
            if value.head == "input" and value.keys:
                yield _Demand(value.keys[0], one.required, types if len(value.keys) == 1 else ())
        elif callable(value):
            yield from _demands(value, parameters_of(value, where), {}, scope, where)
