"""Values to JSON, or a refusal that says where and why."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Callable
from enum import Enum, Flag
from typing import Any, ClassVar

from django.db.models import Model
from django.utils.functional import LazyObject

from saga_app.codec import references, shapes, wire
from saga_app.codec.leaves import BY_TYPE, MAX_PLAIN_BITS, SPLIT_PAIR
from saga_app.codec.names import name_of
from saga_app.codec.refusals import reason
from saga_app.codec.where import Where
from saga_app.codec.wire import Json
from saga_app.core.errors import UnsupportedValue

MAX_DEPTH = 100


class Encoder:
    """Encodes one value. `limit` is in bytes of JSON; the work stops as soon as it is certain to be passed."""

    def __init__(self, root: Where, limit: int) -> None:
        self._root, self._limit = root, limit
        self._size = 0  # never more than what the JSON will take
        self._open: set[int] = set()  # the containers around the value at hand

    def encode(self, value: object, where: Where) -> Json:
        try:
            return self._encode(value, where)
        except ValueError as error:
            raise UnsupportedValue(str(where), str(error)) from error.__cause__

    def _encode(self, value: Any, where: Where) -> Json:
        kind = type(value)
        if kind in self._SIMPLE:
            return self._SIMPLE[kind](self, value, where)
        if kind in BY_TYPE:
            return self._leaf(value, where)
        if where.depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        if id(value) in self._open:
            raise ValueError("refers back to something it is part of")
        self._open.add(id(value))
        try:
            return self._compound(value, kind, where)
        finally:
            self._open.discard(id(value))

    def _compound(self, value: Any, kind: type, where: Where) -> Json:
        if kind in self._CONTAINERS:
            self._spend(2, where)
            return self._CONTAINERS[kind](self, value, where)
        for family, encode in self._FAMILIES:
            if family(kind):
                self._spend(2, where)
                return encode(self, value, where)
        if issubclass(kind, LazyObject) and isinstance(value, Model):  # request.user
            return self._model(value, where)
        raise ValueError(reason(kind))

    def _spend(self, size: int, where: Where) -> None:
        self._size += size
        if self._size > self._limit:
            # One value that is too large by itself, or many that are too large together.
            place = where if size > self._limit else self._root
            raise UnsupportedValue(str(place), too_large(f"at least {self._size:,}", self._limit))

    def _constant(self, value: object, where: Where) -> Json:
        self._spend(4, where)
        return value

    def _int(self, value: int, where: Where) -> Json:
        self._spend(1, where)
        return value if value.bit_length() <= MAX_PLAIN_BITS else self._leaf(value, where)

    def _float(self, value: float, where: Where) -> Json:
        self._spend(3, where)
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a number that can be stored: use None, or a text")
        return value

    def _str(self, value: str, where: Where) -> Json:
        self._spend(len(value) + 2, where)
        # Asked first, since a search looks at each of a million characters.
        return self._leaf(value, where) if not value.isascii() and SPLIT_PAIR.search(value) else value

    def _leaf(self, value: Any, where: Where) -> Json:
        leaf = BY_TYPE[type(value)]
        self._spend(len(leaf.tag) + 5 + leaf.size(value), where)
        return {leaf.tag: leaf.pack(value)}

    def _items(self, value: Any, where: Where) -> list[Json]:
        return [self.encode(item, where.at(index)) for index, item in enumerate(value)]

    def _set(self, value: Any, where: Where) -> Json:
        # Sorted, because a set of texts stands in another order in another process.
        return {f"${type(value).__name__}": sorted(self._items(value, where), key=wire.canonical)}

    def _dict(self, value: dict[Any, Any], where: Where) -> Json:
        if all(type(key) is str and not SPLIT_PAIR.search(key) for key in value) and not wire.looks_tagged(value):
            return self._parts(value, where)
        return {wire.DICT: [self._pair(key, item, where.at(key)) for key, item in value.items()]}

    def _pair(self, key: object, item: object, where: Where) -> Json:
        return [self.encode(key, where), self.encode(item, where)]

    def _parts(self, parts: dict[str, Any], where: Where) -> Json:
        encoded = {}
        for name, item in parts.items():
            self._spend(len(name) + 3, where)
            encoded[name] = self.encode(item, where.at(name))
        return encoded

    def _enum(self, value: Any, where: Where) -> Json:
        cls = type(value)
        name = name_of(cls)
        if cls.__members__.get(value._name_) is value:
            return {wire.ENUM: [name, value._name_]}
        if isinstance(value, Flag):
            bits = [bit._name_ for bit in cls if bit in value]
            if functools.reduce(operator.or_, (cls[bit] for bit in bits), cls(0)) is value:
                return {wire.FLAG: [name, bits]}
        raise ValueError(f"this value of {cls.__qualname__} has no name in it")

    def _dataclass(self, value: object, where: Where) -> Json:
        return {wire.DATACLASS: [name_of(type(value)), self._parts(shapes.dataclass_parts(value), where)]}

    def _namedtuple(self, value: object, where: Where) -> Json:
        return {wire.NAMEDTUPLE: [name_of(type(value)), self._parts(shapes.namedtuple_parts(value), where)]}

    def _model(self, value: Model, where: Where) -> Json:
        label, alias = references.label_and_alias(value)
        return {wire.MODEL: [label, alias, self.encode(value.pk, where.at("pk"))]}

    _SIMPLE: ClassVar[dict[type, Callable[..., Json]]] = {
        type(None): _constant,
        bool: _constant,
        int: _int,
        float: _float,
        str: _str,
    }
    _CONTAINERS: ClassVar[dict[type, Callable[..., Json]]] = {
        list: _items,
        dict: _dict,
        tuple: lambda self, value, where: {wire.TUPLE: self._items(value, where)},
        set: _set,
        frozenset: _set,
    }
    _FAMILIES: ClassVar[list[tuple[Callable[[type], bool], Callable[..., Json]]]] = [
        (lambda cls: issubclass(cls, Enum), _enum),
        (lambda cls: issubclass(cls, Model), _model),
        (shapes.is_namedtuple, _namedtuple),
        (dataclasses.is_dataclass, _dataclass),
    ]


def too_large(size: str, limit: int) -> str:
    return (
        f"takes {size} bytes, and the limit is {limit:,} (SAGA['MAX_VALUE_BYTES']): "
        f"store it elsewhere and give its name or key"
    )
