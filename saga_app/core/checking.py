"""Does a Python value fit the type that was declared for it? Checked, never coerced; what is not understood fits."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any


def mismatch(declared: Any, value: object, at: str = "") -> str:
    """What is wrong with the value, where `at` says where in it; "" when it fits."""
    origin = typing.get_origin(declared)
    if origin is not None:
        return _generic(origin, typing.get_args(declared), value, at)
    if declared is None:
        declared = type(None)
    if isinstance(declared, typing.NewType):
        return mismatch(declared.__supertype__, value, at)
    if isinstance(declared, type) and not _fits(declared, value):
        return f"{at}{': ' if at else ''}must be {_shown(declared)}, is {type(value).__name__}"
    return ""


def _generic(origin: Any, arguments: tuple[Any, ...], value: object, at: str) -> str:
    if origin in {typing.Union, types.UnionType}:
        found = [mismatch(one, value, at) for one in arguments]
        shown = " or ".join(_shown(one) for one in arguments)
        return "" if "" in found else f"{at}{': ' if at else ''}must be {shown}, is {type(value).__name__}"
    if origin is typing.Annotated:
        return mismatch(arguments[0], value, at)
    if origin is typing.Literal:
        fits = any(type(one) is type(value) and one == value for one in arguments)
        shown = ", ".join(repr(one) for one in arguments)
        return "" if fits else f"{at}{': ' if at else ''}must be one of {shown}, is {value!r:.100}"
    return mismatch(origin, value, at) or next(filter(None, _items(origin, arguments, value, at)), "")


def _items(origin: Any, arguments: tuple[Any, ...], value: object, at: str) -> Iterable[str]:
    """What is wrong with the items of a container whose own type fits."""
    if isinstance(value, Mapping) and len(arguments) == 2:  # noqa: PLR2004 - of keys and of values
        for key, item in value.items():
            yield mismatch(arguments[0], key, f"{at}key {key!r:.50}")
            yield mismatch(arguments[1], item, f"{at}[{key!r:.50}]")
    elif origin is tuple and isinstance(value, tuple) and arguments[-1:] != (...,):
        if len(value) != len(arguments):
            yield f"{at}{': ' if at else ''}must have {len(arguments)} elements, has {len(value)}"
        for index, (one, item) in enumerate(zip(arguments, value, strict=False)):
            yield mismatch(one, item, f"{at}[{index}]")
    elif isinstance(value, Sequence | AbstractSet) and not isinstance(value, str | bytes) and arguments:
        for index, item in enumerate(value):
            yield mismatch(arguments[0], item, f"{at}[{index}]")


def _fits(declared: type, value: object) -> bool:
    if declared in {int, float} and isinstance(value, bool):
        return False
    if declared is float:
        return isinstance(value, int | float)
    if declared is complex:
        return isinstance(value, int | float | complex)
    try:
        return isinstance(value, declared)
    except TypeError:  # a Protocol that does not support isinstance()
        return True


def _shown(declared: Any) -> str:
    return "None" if declared is type(None) else str(getattr(declared, "__name__", declared))
