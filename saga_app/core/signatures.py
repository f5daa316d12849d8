"""What a function asks for: its parameters, read once when it is decorated, and the types they declare."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace
from typing import Any, Final, Literal, TypeAlias

from saga_app.core.errors import DefinitionError


class _Missing(Enum):
    MISSING = "no default"


#: The default of a parameter that has none: None is a default like any other.
MISSING: Final = _Missing.MISSING
Missing: TypeAlias = Literal[_Missing.MISSING]

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a step, a handler or any other callable a saga is given."""

    name: str
    default: Any = MISSING

    @property
    def required(self) -> bool:
        """Somebody has to fill it."""
        return self.default is MISSING


def parameters_of(function: Callable[..., Any], where: str) -> tuple[Parameter, ...]:
    """The parameters of a function that a saga can fill by name; DefinitionError, with the cure, for any other."""
    found = signature_of(function, where).parameters.values()
    for position, one in enumerate(found):
        if one.kind in _VARIADIC:
            stars = "*" if one.kind is inspect.Parameter.VAR_POSITIONAL else "**"
            raise DefinitionError(
                f"{where} takes {stars}{one.name}, and a saga fills parameters by their names: "
                f"write each one out, as in def {_name(function)}(order_id: int, ctx: Context)"
            )
        if one.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise DefinitionError(f"{where}: `{one.name}` is positional-only; take the `/` out of its parameters")
        if position == 0 and one.name in {"self", "cls"}:
            raise DefinitionError(
                f"{where} begins with `{one.name}`, and a saga has no object to call it on: "
                f"move it out of the class, to the top of the module"
            )
    return tuple(Parameter(one.name, MISSING if one.default is one.empty else one.default) for one in found)


def signature_of(function: Callable[..., Any], where: str) -> inspect.Signature:
    """The signature, without evaluating annotations that may not be there yet."""
    try:
        if sys.version_info >= (3, 14):
            from annotationlib import Format  # noqa: PLC0415 - not in older Pythons

            return inspect.signature(function, annotation_format=Format.FORWARDREF)
        return inspect.signature(function)
    except (ValueError, TypeError):
        raise DefinitionError(f"{where} does not tell its parameters: wrap it in a function of your own") from None


def hints_of(function: Callable[..., Any], where: str = "a callable") -> dict[str, Any]:
    """Parameter → the type it declares, as far as that can be found out; what cannot is left out.

    Annotations are often text, or names imported for type checkers only; that must not stop a saga.
    """
    written = {
        name: one.annotation
        for name, one in signature_of(function, where).parameters.items()
        if one.annotation is not one.empty
    }
    return resolve(written, getattr(inspect.unwrap(function), "__globals__", {}))


def returned_by(function: Callable[..., Any], where: str = "a callable") -> Any:
    """The type that it declares to return; Any where it declares none that can be found out."""
    written = signature_of(function, where).return_annotation
    known = {} if written is inspect.Signature.empty else {"return": written}
    return resolve(known, getattr(inspect.unwrap(function), "__globals__", {})).get("return", Any)


def resolve(written: dict[str, Any], namespace: dict[str, Any]) -> dict[str, Any]:
    """Annotations as written → the types they mean, one by one: a bad one does not spoil the others."""
    known = {}
    for name, annotation in written.items():
        one = SimpleNamespace(__annotations__={name: annotation})
        try:
            known.update(typing.get_type_hints(one, globalns=namespace))
        except Exception:  # noqa: BLE001, S112 - evaluating text can raise anything, and none of it matters here
            continue
    return known


def is_async(function: Callable[..., Any]) -> bool:
    """Calling it gives a coroutine."""
    call = getattr(function, "__call__", None)  # noqa: B004 - an object whose __call__ is async
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def check_callable(function: object, where: str) -> Callable[..., Any]:
    """A function that runs and returns a value; DefinitionError for classes, generators and what is no function."""
    if isinstance(function, type) or not callable(function):
        raise DefinitionError(f"{where} is {function!r}: it has to be a function")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise DefinitionError(f"{where} is a generator, whose body would never run: return a list instead of yielding")
    return function


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", "function"))
