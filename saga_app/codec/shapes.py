"""Dataclasses and named tuples, taken apart and put together again without a line of the user's code."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from django.utils import functional

CACHED = (functools.cached_property, functional.cached_property)


def is_namedtuple(cls: type) -> bool:
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def dataclass_parts(value: Any) -> dict[str, object]:
    """Its fields. ValueError with the reason when they are not all there is to it."""
    cls: Any = type(value)
    if not _is_plain(cls):
        raise ValueError(f"{cls.__qualname__} is a dataclass built on a type of another kind: use plain fields")
    names = [field.name for field in dataclasses.fields(value)]
    lost = sorted(_attributes(value) - set(names) - _recomputed(cls))
    if lost:
        raise ValueError(f"{cls.__qualname__} has the attribute {lost[0]}, which is no field and would be lost")
    return {name: _read(value, name) for name in names}


def build_dataclass(cls: Any, parts: dict[str, Any]) -> Any:
    """The fields as they were. __init__ and __post_init__ are not called again: they have judged these values once.

    LookupError when the class no longer has the shape it had: a new field needs a default, an old one cannot be missed.
    """
    known = {field.name: field for field in dataclasses.fields(cls)}
    unknown = sorted(parts.keys() - known.keys())
    if unknown:
        raise LookupError(f"{cls.__qualname__} has no field {unknown[0]} any more")
    built = object.__new__(cls)
    for name, field in known.items():
        object.__setattr__(built, name, parts[name] if name in parts else _default(cls, field))
    return built


def namedtuple_parts(value: Any) -> dict[str, object]:
    if getattr(value, "__dict__", None):
        raise ValueError(f"{type(value).__qualname__} has attributes beside its items, which would be lost")
    return dict(zip(type(value)._fields, value, strict=True))


def build_namedtuple(cls: Any, parts: dict[str, Any]) -> Any:
    if tuple(parts) != cls._fields:
        raise LookupError(f"{cls.__qualname__} has the fields {', '.join(cls._fields)} now")
    return tuple.__new__(cls, parts.values())


@functools.cache
def _is_plain(cls: type) -> bool:
    """Whether an empty instance can be made; one that is also an exception, say, keeps more than fields."""
    try:
        object.__new__(cls)
    except TypeError:
        return False
    return True


def _attributes(value: object) -> set[str]:
    """Names of everything the instance itself holds, slots included."""
    state = object.__getstate__(value)
    dicts = state if isinstance(state, tuple) else (state,)
    return {name for part in dicts if part for name in part}


def _recomputed(cls: type) -> set[str]:
    return {name for base in cls.__mro__ for name, item in vars(base).items() if isinstance(item, CACHED)}


def _read(value: object, name: str) -> object:
    try:
        return getattr(value, name)
    except Exception as error:
        raise ValueError(f"its field {name} cannot be read: {type(error).__name__}") from error


def _default(cls: type, field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    raise LookupError(f"{cls.__qualname__} has a new field {field.name} without a default")
