"""Text and JSON into the declared types: what the doors (admin, HTTP, command line) do before they start a saga."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any
from uuid import UUID

from saga_app.core.signatures import resolve

_TRUE, _FALSE = frozenset({"true", "1", "yes", "on"}), frozenset({"false", "0", "no", "off"})


def converted(declared: Any, raw: Any) -> Any:
    """The value `raw` stands for; ValueError, with a text for people, when it stands for none.

    A type that is not known here gives the value as it came: checking it is the next step's business.
    """
    origin, arguments = typing.get_origin(declared), typing.get_args(declared)
    if origin in {typing.Union, types.UnionType}:
        return _union(arguments, raw)
    if origin is typing.Annotated:
        return converted(arguments[0], raw)
    if origin is typing.Literal:
        return next((one for one in arguments if str(one) == str(raw)), raw)
    if isinstance(declared, typing.NewType):
        return converted(declared.__supertype__, raw)
    if declared is type(None) or declared is None:
        return _nothing(raw)
    kind = origin or declared
    return _plain(kind, arguments, raw) if isinstance(kind, type) else raw


def _plain(kind: type, arguments: tuple[Any, ...], raw: Any) -> Any:
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, raw)
    if kind in _SCALARS:
        return _scalar(kind, raw)
    if issubclass(kind, Enum):
        return _enum(kind, raw)
    if issubclass(kind, Mapping):
        return _mapping(arguments, _parsed(raw, Mapping, "a JSON object"))
    if issubclass(kind, Sequence | AbstractSet) and not issubclass(kind, str | bytes):
        return _many(kind, arguments, _parsed(raw, Sequence, "a JSON list"))
    return raw


def _union(arguments: tuple[Any, ...], raw: Any) -> Any:
    """The first member that can read it; None first, so that an empty field is nothing rather than text."""
    if raw is None or (raw == "" and str not in arguments):
        return None if type(None) in arguments else raw
    texts = []
    exact = [one for one in arguments if typing.get_origin(one) is None and type(raw) is one and one is not str]
    for one in (*exact, *(each for each in arguments if each is not type(None))):
        try:
            return converted(one, raw)
        except ValueError as problem:
            texts.append(str(problem))
    raise ValueError("; or ".join(dict.fromkeys(texts)))


def _nothing(raw: Any) -> None:
    if raw not in (None, ""):
        raise ValueError("must be empty")


def _scalar(kind: type, raw: Any) -> Any:
    if isinstance(raw, kind) and not isinstance(raw, bool | float | Decimal):
        return raw
    read, what = _SCALARS[kind]
    try:
        return read(raw)
    except (ValueError, TypeError, OverflowError, InvalidOperation):
        raise ValueError(f"must be {what}, is {raw!r:.100}") from None


def _text(raw: Any) -> str:
    if isinstance(raw, str):
        return raw
    raise TypeError


def _int(raw: Any) -> int:
    if isinstance(raw, float) and raw.is_integer():
        return int(raw)
    return int(_text(raw))


def _float(raw: Any) -> float:
    number = float(raw if isinstance(raw, int | float) and not isinstance(raw, bool) else _text(raw))
    if not math.isfinite(number):
        raise ValueError
    return number


def _decimal(raw: Any) -> Decimal:
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        raw = str(raw)  # by way of text: 0.1 is meant as it is written
    number = raw if isinstance(raw, Decimal) else Decimal(_text(raw).strip())
    if not number.is_finite():
        raise ValueError
    return number


def _bool(raw: Any) -> bool:
    word = str(raw).strip().lower() if isinstance(raw, int | str) else ""
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError


def _timedelta(raw: Any) -> timedelta:
    return timedelta(seconds=_float(raw))


_SCALARS: dict[type, tuple[Any, str]] = {
    str: (_text, "text"),
    int: (_int, "a whole number"),
    float: (_float, "a number"),
    bool: (_bool, "true or false"),
    Decimal: (_decimal, "a decimal number"),
    datetime: (lambda raw: datetime.fromisoformat(_text(raw)), "a date and time, as in 2024-05-01T12:00:00+00:00"),
    date: (lambda raw: date.fromisoformat(_text(raw)), "a date, as in 2024-05-01"),
    time: (lambda raw: time.fromisoformat(_text(raw)), "a time, as in 12:00:00"),
    timedelta: (_timedelta, "a number of seconds"),
    UUID: (lambda raw: UUID(_text(raw)), "a UUID"),
}


def _enum(kind: type[Enum], raw: Any) -> Any:
    for one in kind:
        if raw is one or raw == one.value or str(raw) in {str(one.value), one.name}:
            return one
    raise ValueError(f"must be one of {', '.join(str(one.value) for one in kind)}, is {raw!r:.100}")


def _parsed(raw: Any, wanted: type, what: str) -> Any:
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except ValueError:
            raise ValueError(f"must be {what}, is {raw!r:.100}") from None
    if not isinstance(raw, wanted | AbstractSet) or isinstance(raw, str | bytes):
        raise ValueError(f"must be {what}, is {raw!r:.100}")  # noqa: TRY004 - one kind of error for all doors
    return raw


def _mapping(arguments: tuple[Any, ...], raw: Mapping[Any, Any]) -> dict[Any, Any]:
    keys, values = arguments or (Any, Any)
    return {_at(f"key {key!r:.50}", keys, key): _at(f"[{key!r:.50}]", values, item) for key, item in raw.items()}


def _many(kind: type, arguments: tuple[Any, ...], raw: Any) -> Any:
    fixed = issubclass(kind, tuple) and arguments and arguments[-1] is not ...
    declared = arguments if fixed else (arguments[:1] or (Any,)) * len(raw)
    if len(declared) != len(raw):
        raise ValueError(f"must have {len(declared)} elements, has {len(raw)}")
    items = [_at(f"[{index}]", one, item) for index, (one, item) in enumerate(zip(declared, raw, strict=True))]
    return kind(items) if kind in {tuple, set, frozenset} else items


def _dataclass(kind: Any, raw: Any) -> Any:
    if isinstance(raw, kind):
        return raw
    given = _parsed(raw, Mapping, "a JSON object")
    hints = field_hints(kind)
    fields = {one.name: one for one in dataclasses.fields(kind) if one.init}
    for name in given:
        if name not in fields:
            raise ValueError(f"{kind.__name__} has no `{name}`")
    for name, one in fields.items():
        if name not in given and one.default is one.default_factory is dataclasses.MISSING:
            raise ValueError(f".{name}: is missing")
    try:
        return kind(**{name: _at(f".{name}", hints.get(name, Any), item) for name, item in given.items()})
    except TypeError as problem:  # its own __post_init__
        raise ValueError(str(problem)) from None


def field_hints(kind: type) -> dict[str, Any]:
    """Field of a dataclass → its type, as far as it can be found out."""
    hints: dict[str, Any] = {}
    for one in reversed(kind.__mro__):
        if dataclasses.is_dataclass(one):
            written = {name: each.type for name, each in one.__dataclass_fields__.items()}
            namespace = getattr(sys.modules.get(one.__module__), "__dict__", {})
            hints.update(resolve(written, {**namespace, one.__name__: one}))
    return hints


def _at(where: str, declared: Any, raw: Any) -> Any:
    try:
        return converted(declared, raw)
    except ValueError as problem:
        raise ValueError(f"{where}: {problem}") from None
