"""Sealing: once every module is imported, children and the input are resolved, and every call gets its plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from saga_app.core.binding import CallPlan
from saga_app.core.errors import DefinitionError
from saga_app.core.forms import SelfCheckedInput, self_checked_input
from saga_app.core.handlers import Handler
from saga_app.core.inferring import inferred_input
from saga_app.core.inputs import TypedInput, callable_input, dataclass_input
from saga_app.core.nesting import seal_children
from saga_app.core.nodes import Approval, Child, Node, called, walk
from saga_app.core.planning import Scope, misnamed_context, plan_call, plan_value
from saga_app.core.providers import Readable, check_input_names, readable
from saga_app.core.refs import Ref
from saga_app.core.scopes import scope_at_end, scopes_of
from saga_app.core.signatures import parameters_of
from saga_app.core.steps import Step
from saga_app.core.validation import fingerprint_of
from saga_app.core.wanted import Wanted, wanted

Input: TypeAlias = TypedInput | SelfCheckedInput
AnyStep: TypeAlias = Step[..., Any]
Plans: TypeAlias = Mapping[str, CallPlan]


@dataclass(frozen=True, slots=True)
class Sealed:
    """What sealing found out. Plans are kept by the name of their node."""

    input: Input
    calls: Plans
    """Of steps, of what nodes choose with, of the input of a child, and of the length of a sleep."""
    compensations: Plans
    reconciles: Plans
    allows: Plans
    """Of what says who may decide at an approval; `actor` is given."""
    output: CallPlan | None
    readable: Readable
    fingerprint: str


def seal(name: str, nodes: Sequence[Node], written: object, output: Ref | None) -> Sealed:
    """Everything a saga needs to run, or DefinitionError."""
    where = f"saga {name!r}"
    seal_children(nodes)
    everything = tuple(wanted(where, nodes))
    steps = [step for step in map(called, walk(nodes)) if step is not None]
    _check_contexts(everything, steps, where)
    bare = scopes_of(nodes)
    found = declared_input(name, written) if written is not None else inferred_input(name, everything, bare)
    check_input_names(where, found.names, nodes)
    seen = {field: field in found.always for field in found.names}
    scopes = {path: replace(scope, input=seen) for path, scope in bare.items()}
    sealed = Sealed(
        input=found,
        calls=MappingProxyType({one.name: _call(one, scopes[one.name]) for one in everything}),
        compensations=_handlers(steps, scopes, f"{where}, the compensation of", lambda step: step.compensation),
        reconciles=_handlers(steps, scopes, f"{where}, the reconcile of", lambda step: step.reconciler),
        allows=_allows(nodes, scopes, where),
        output=None
        if output is None
        else plan_value(output, replace(scope_at_end(nodes), input=seen), f"{where}, output", default=None),
        readable=readable(nodes),
        fingerprint=fingerprint_of(nodes),
    )
    _check_children(nodes, sealed, where)
    for one in steps:
        one.bodies.sealed_by = one.bodies.sealed_by or name
    return sealed


def _check_children(nodes: Sequence[Node], sealed: Sealed, where: str) -> None:
    """What a child provides is what its saga returns, if that returns anything."""
    silent = {one.name: one.target.name for one in walk(nodes) if isinstance(one, Child) and one.target.output is None}
    plans = [*sealed.calls.values(), *sealed.compensations.values(), *sealed.reconciles.values()]
    plans += [*sealed.allows.values(), *([sealed.output] if sealed.output else [])]
    for name in {name for plan in plans for name in plan.reads} & silent.keys():
        raise DefinitionError(
            f"{where}: what Child `{name}` provides is read, and saga {silent[name]!r} returns nothing: "
            f'write output=ref("…") in it'
        )


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


def _call(one: Wanted, scope: Scope) -> CallPlan:
    return plan_call(one.parameters, scope, one.site, bindings=one.bindings)


def _handlers(
    steps: Sequence[AnyStep], scopes: Mapping[str, Scope], where: str, of: Callable[[AnyStep], Handler | None]
) -> Plans:
    found = ((step, of(step)) for step in steps)
    return MappingProxyType(
        {
            step.name: _handler(handler, step, scopes[step.name], f"{where} {step.shown}")
            for step, handler in found
            if handler is not None
        }
    )


def _handler(handler: Handler, step: AnyStep, scope: Scope, where: str) -> CallPlan:
    """A handler gets what the forward call got, then `result` and `error`, then what the forward call could see."""
    brought = frozenset(one.name for one in step.parameters if one.name != "ctx") | {"result", "error"}
    # Where nothing went wrong `error` is None; a `result` without a default is never called for without one.
    parameters = [replace(one, default=None) if one.name == "error" and one.required else one
                  for one in handler.parameters]  # fmt: skip
    return plan_call(parameters, replace(scope, given=brought), where)


def _allows(nodes: Sequence[Node], scopes: Mapping[str, Scope], where: str) -> Plans:
    """Who may decide is asked when somebody does: no call of a step, so there is no `ctx`."""
    plans = {}
    for node in walk(nodes):
        if isinstance(node, Approval) and node.allow is not None:
            here = f"{where}, {node.shown}, allow"
            parameters = parameters_of(node.allow, here)
            if any(one.name == "ctx" for one in parameters):
                raise DefinitionError(f"{here}: there is no `ctx`, since no step is called: take it out")
            plans[node.name] = plan_call(parameters, replace(scopes[node.name], given=frozenset({"actor"})), here)
    return MappingProxyType(plans)


def _check_contexts(everything: Sequence[Wanted], steps: Sequence[AnyStep], where: str) -> None:
    """The context is called `ctx` everywhere."""
    functions = [(one.function, one.site.where) for one in everything]
    for step in steps:
        for handler, what in ((step.compensation, "compensation"), (step.reconciler, "reconcile")):
            functions.append((handler.function if handler else None, f"{where}, the {what} of step `{step.name}`"))
    for function, here in functions:
        problem = misnamed_context(function, here) if function is not None else ""
        if problem:
            raise DefinitionError(problem)
