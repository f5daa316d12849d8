"""The input of a saga that declares none: what its nodes want and nobody else gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from saga_app.core.errors import DefinitionError
from saga_app.core.inputs import Field, TypedInput
from saga_app.core.names import RESERVED
from saga_app.core.planning import Scope, unfilled
from saga_app.core.refs import Ref
from saga_app.core.signatures import Parameter, hints_of, parameters_of
from saga_app.core.wanted import Wanted


@dataclass(frozen=True, slots=True)
class _Demand:
    """A name that nobody but the input can fill."""

    name: str
    required: bool
    types: tuple[Any, ...]


def inferred_input(saga: str, everything: Iterable[Wanted], scopes: Mapping[str, Scope]) -> TypedInput:
    """Without `input=`: the parameters of steps, of what chooses and of bound callables that nobody else fills."""
    fields: dict[str, Field] = {}
    for each in everything:
        scope = scopes[each.name]
        for one in _demands(each.parameters, each.hints, each.bindings, scope, each.site.where):
            if one.name in RESERVED or scope.absent(one.name):
                raise DefinitionError(unfilled(one.name, scope, each.site))
            types = tuple((each.title, declared) for declared in one.types)
            old = fields.get(one.name, Field(required=False))
            fields[one.name] = Field(old.required or one.required, (*old.types, *types))
    return TypedInput(saga, None, fields)


def _demands(
    parameters: Sequence[Parameter],
    hints: Mapping[str, tuple[Any, ...]],
    bindings: Mapping[str, object],
    scope: Scope,
    where: str,
) -> Iterator[_Demand]:
    for one in parameters:
        value = bindings.get(one.name)
        if one.name not in bindings:
            if not scope.fills(one.name):
                yield _Demand(one.name, one.required, hints.get(one.name, ()))
        elif isinstance(value, Ref):
            if value.head == "input" and value.keys:
                types = hints.get(one.name, ()) if len(value.keys) == 1 else ()
                yield _Demand(value.keys[0], one.required, types)
        elif callable(value):
            declared = {name: (hint,) for name, hint in hints_of(value, where).items() if hint is not Any}
            yield from _demands(parameters_of(value, where), declared, {}, scope, where)
