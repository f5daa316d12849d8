"""An input that checks itself: a Django form or a DRF serializer, known by its methods; neither is imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from saga_app.core.errors import DefinitionError, InputError
from saga_app.core.inputs import WHOLE, Converted, strangers
from saga_app.core.names import nearest

#: What forms and serializers call errors that belong to no field.
_NO_FIELD = frozenset({"__all__", "non_field_errors"})


@dataclass(frozen=True, slots=True)
class SelfCheckedInput:
    """`check` turns values into (cleaned values, errors by name)."""

    saga: str
    written: object
    names: Mapping[str, bool]
    always: frozenset[str]
    check: Callable[[Mapping[str, Any]], tuple[Mapping[str, Any], Mapping[str, Any]]]

    @property
    def hints(self) -> dict[str, tuple[Any, ...]]:
        """It checks the types of its fields itself."""
        return {}

    def accept(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values from Python: they have to pass, and none may have to be converted for it."""
        if isinstance(values, Converted) and values.by is self:
            return dict(values)
        cleaned = self._clean(values)
        coerced = {
            name: f"must be {type(cleaned[name]).__name__}, is {type(value).__name__}"
            for name, value in values.items()
            if name in cleaned and type(cleaned[name]) is not type(value) and cleaned[name] != value
        }
        if coerced:
            raise InputError(self.saga, coerced)
        return cleaned

    def convert(self, raw: Mapping[str, Any]) -> Converted:
        """Text or JSON from outside, cleaned."""
        return Converted(self._clean(raw), by=self)

    def build(self, values: Mapping[str, Any]) -> object:
        """ctx.input is a mapping."""
        return dict(values)

    def _clean(self, values: Mapping[str, Any]) -> dict[str, Any]:
        unknown = strangers(values, self.names)
        if unknown:
            raise InputError(self.saga, unknown)
        cleaned, errors = self.check(values)
        if errors:
            texts = {WHOLE if name in _NO_FIELD else str(name): " ".join(_texts(one)) for name, one in errors.items()}
            raise InputError(self.saga, texts)
        return {name: value for name, value in cleaned.items() if name in self.names}


def self_checked_input(saga: str, written: Any) -> SelfCheckedInput | None:
    """The input declared by a form or a serializer class; None when it is neither."""
    if isinstance(written, type) and hasattr(written, "is_valid"):
        if hasattr(written, "base_fields"):
            return _form(saga, written)
        if hasattr(written, "validated_data"):
            return _serializer(saga, written)
    return None


def _form(saga: str, written: Any) -> SelfCheckedInput:
    def check(values: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        form = written(data=values)
        return (form.cleaned_data, {}) if form.is_valid() else ({}, form.errors)

    names = {name: bool(one.required) for name, one in written.base_fields.items()}
    return SelfCheckedInput(saga, written, names, frozenset(names), check)


def _serializer(saga: str, written: Any) -> SelfCheckedInput:
    def check(values: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        serializer = written(data=values)
        return (serializer.validated_data, {}) if serializer.is_valid() else ({}, serializer.errors)

    fields = {name: one for name, one in written().fields.items() if not one.read_only}
    for name, one in fields.items():
        if one.source != name:
            raise DefinitionError(
                f"saga {saga!r}: field `{name}` of {written.__name__} has source={one.source!r}, so its value would "
                f"come under another name: call the field what the steps call it. {nearest(name, fields)}"
            )
    names = {name: bool(one.required) for name, one in fields.items()}
    always = frozenset(name for name, one in fields.items() if one.required or _has_default(one))
    return SelfCheckedInput(saga, written, names, always, check)


def _has_default(one: Any) -> bool:
    """DRF's mark for "no default" is a class called `empty`; its own module is not imported here."""
    return getattr(one.default, "__name__", "") != "empty"


def _texts(errors: Any) -> Iterable[str]:
    """The messages in whatever forms and serializers nest them in."""
    if isinstance(errors, Mapping):
        for name, one in errors.items():
            yield from (f"{name}: {text}" for text in _texts(one))
    elif isinstance(errors, str):
        yield str(errors)
    else:
        for one in errors:
            yield from _texts(one)
