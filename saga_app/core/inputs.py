"""The input of a saga: what start() accepts, and what the doors turn text and JSON into.

Written as a dataclass, a callable, or not at all (then the parameters nobody else fills are the input): this module.
Written as something that checks itself, a Django form or a DRF serializer: `forms.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from saga_app.core.checking import mismatch
from saga_app.core.converting import converted, field_hints
from saga_app.core.errors import DefinitionError, InputError, Undecodable
from saga_app.core.names import nearest
from saga_app.core.signatures import hints_of, is_async, parameters_of

#: Where an error is filed that belongs to no field; `input` is reserved, so no field can be called so.
WHOLE = "input"


class Converted(dict[str, Any]):
    """Values that a door has converted and `by` has checked, so that they are not checked twice."""

    def __init__(self, values: Mapping[str, Any], by: object) -> None:
        super().__init__(values)
        self.by = by


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an input: must it be given, by whom is which type asked, and what stands in for it."""

    required: bool
    types: tuple[tuple[str, Any], ...] = ()
    default: Callable[[], Any] | None = None

    def wrong(self, value: object) -> str:
        """What is wrong with the value, or ""."""
        for asker, declared in self.types:
            problem = mismatch(declared, value)
            if problem:
                return f"{problem} (asked by {asker})" if asker else problem
        return ""

    @property
    def missing(self) -> str:
        """What to say when it is not given."""
        askers = dict.fromkeys(asker for asker, _ in self.types if asker)
        return f"is missing (asked by {', '.join(askers)})" if askers else "is missing"

    def convert(self, raw: object) -> Any:
        """The value that text or JSON stands for; ValueError when it stands for none."""
        return converted(self.types[0][1], raw) if self.types else raw


@dataclass(frozen=True, slots=True)
class TypedInput:
    """An input whose fields have declared types. `finish` may refuse or replace values; `build` makes ctx.input."""

    saga: str
    written: object
    fields: Mapping[str, Field]
    finish: Callable[[dict[str, Any]], Mapping[str, Any]] = dict
    build: Callable[[Mapping[str, Any]], object] = dict

    @property
    def names(self) -> dict[str, bool]:
        """Name → it must be given."""
        return {name: one.required for name, one in self.fields.items()}

    @property
    def hints(self) -> dict[str, tuple[Any, ...]]:
        """Name → the types that are declared for it."""
        return {name: tuple(declared for _, declared in one.types) for name, one in self.fields.items()}

    @property
    def always(self) -> frozenset[str]:
        """Names that are there in every execution, given or not."""
        return frozenset(name for name, one in self.fields.items() if one.required or one.default)

    def accept(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values from Python, checked and not coerced, with the defaults put in; InputError names what does not fit."""
        if isinstance(values, Converted) and values.by is self:
            return dict(values)
        errors = {**strangers(values, self.fields), **_missing(values, self.fields)}
        wrong = {name: self.fields[name].wrong(value) for name, value in values.items() if name in self.fields}
        self._refuse(errors | {name: text for name, text in wrong.items() if text})
        full = {**{name: one.default() for name, one in self.fields.items() if one.default}, **values}
        return dict(self._finished({name: full[name] for name in self.fields if name in full}))

    def convert(self, raw: Mapping[str, Any]) -> Converted:
        """Text or JSON from outside, converted and checked; InputError per field."""
        errors = {**strangers(raw, self.fields), **_missing(raw, self.fields)}
        values: dict[str, Any] = {}
        for name in (one for one in raw if one in self.fields):
            try:
                values[name] = self.fields[name].convert(raw[name])
            except ValueError as problem:
                errors[name] = str(problem)
        self._refuse(errors)
        return Converted(self.accept(values), by=self)

    def _finished(self, values: dict[str, Any]) -> Mapping[str, Any]:
        try:
            return self.finish(values)
        except (ValueError, TypeError) as problem:
            if isinstance(problem, DefinitionError | InputError):
                raise
            raise InputError(self.saga, {WHOLE: str(problem) or type(problem).__name__}) from problem

    def _refuse(self, errors: Mapping[str, str]) -> None:
        if errors:
            raise InputError(self.saga, errors)


def strangers(given: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """An error for each name that the input does not have."""
    names = list(known)
    return {str(one): f"is not part of the input. {nearest(str(one), names)}" for one in given if one not in names}


def _missing(given: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, str]:
    return {name: one.missing for name, one in fields.items() if one.required and name not in given}


def dataclass_input(saga: str, written: Any) -> TypedInput:
    """The input declared as a dataclass; ctx.input is an instance of it."""
    hints = field_hints(written)
    fields = {
        one.name: Field(_factory(one) is None, (("", hints[one.name]),) if one.name in hints else (), _factory(one))
        for one in dataclasses.fields(written)
        if one.init
    }

    def finish(values: dict[str, Any]) -> dict[str, Any]:
        return read_dataclass(written(**values))

    def build(values: Mapping[str, Any]) -> object:
        try:
            return written(**{name: value for name, value in values.items() if name in fields})
        except TypeError as problem:  # a field was added since the execution was started
            raise Undecodable(WHOLE, f"does not fit {written.__name__} any more: {problem}") from problem

    return TypedInput(saga, written, fields, finish, build)


def read_dataclass(instance: Any) -> dict[str, Any]:
    """Its fields, one level deep: what lies below keeps its type."""
    return {one.name: getattr(instance, one.name) for one in dataclasses.fields(instance) if one.init}


def callable_input(saga: str, written: Callable[..., Any]) -> TypedInput:
    """The input declared by a function's parameters. It is called once, and may refuse (ValueError) or replace."""
    where = f"saga {saga!r}: the callable in input="
    if is_async(written):
        raise DefinitionError(f"{where} is async: write a plain function")
    hints = hints_of(written, where)
    fields = {
        one.name: Field(
            one.required,
            (("", hints[one.name]),) if one.name in hints else (),
            None if one.required else partial(_itself, one.default),
        )
        for one in parameters_of(written, where)
    }

    def finish(values: dict[str, Any]) -> dict[str, Any]:
        answer = written(**values)
        replaced = answer if isinstance(answer, Mapping) else {}
        for name in replaced:
            if name not in fields:
                raise DefinitionError(f"{where} returned `{name}`, which is none of its parameters")
        return {**values, **replaced}

    return TypedInput(saga, written, fields, finish)


def _factory(one: dataclasses.Field[Any]) -> Callable[[], Any] | None:
    if one.default_factory is not dataclasses.MISSING:
        return one.default_factory
    if one.default is not dataclasses.MISSING:
        return partial(_itself, one.default)
    return None


def _itself(value: Any) -> Any:
    return value
