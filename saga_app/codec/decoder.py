"""JSON to values: equal to what was encoded, and of the same types."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from enum import Enum, Flag
from typing import Any, ClassVar

from saga_app.codec import references, shapes, wire
from saga_app.codec.leaves import BY_TAG
from saga_app.codec.names import find_class
from saga_app.codec.where import Where
from saga_app.codec.wire import Json
from saga_app.core.errors import Undecodable


class Decoder:
    """Decodes one value. What can go wrong is the world's change since it was stored; an error says where and what."""

    def decode(self, data: Json, where: Where) -> Any:
        if isinstance(data, list):
            return self._items(data, where)
        if not isinstance(data, dict):
            return data
        tag = wire.tag_of(data)
        if tag is None:
            return self._parts(data, where)
        try:
            if tag in BY_TAG:
                return BY_TAG[tag].unpack(data[tag])
            if tag not in self._COMPOUND:
                raise LookupError(f"{tag} is unknown here: a later version may have written it")
            return self._COMPOUND[tag](self, data[tag], where)
        except references.Gone as error:
            raise Undecodable(str(where), str(error), gone=True) from error
        # Only what a changed class or a damaged text raises; an error of the database is not the value's fault.
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise Undecodable(str(where), f"cannot be read back: {error}") from error

    def _items(self, data: list[Json], where: Where) -> list[Any]:
        return [self.decode(item, where.at(index)) for index, item in enumerate(data)]

    def _parts(self, data: dict[str, Json], where: Where) -> dict[str, Any]:
        return {name: self.decode(item, where.at(name)) for name, item in data.items()}

    def _dict(self, data: list[Json], where: Where) -> dict[Any, Any]:
        decoded = {}
        for packed, item in data:
            key = self.decode(packed, where)
            decoded[key] = self.decode(item, where.at(key))
        return decoded

    def _enum(self, data: Json, where: Where) -> Enum:
        name, member = data
        return find_class(name, Enum)[member]  # type: ignore[no-any-return]

    def _flag(self, data: Json, where: Where) -> Flag:
        name, members = data
        cls = find_class(name, Flag)
        return functools.reduce(operator.or_, (cls[member] for member in members), cls(0))  # type: ignore[no-any-return]

    def _dataclass(self, data: Json, where: Where) -> Any:
        name, parts = data
        return shapes.build_dataclass(find_class(name), self._parts(parts, where))

    def _namedtuple(self, data: Json, where: Where) -> Any:
        name, parts = data
        return shapes.build_namedtuple(find_class(name, tuple), self._parts(parts, where))

    def _model(self, data: Json, where: Where) -> Any:
        label, alias, pk = data
        return references.read(label, alias, self.decode(pk, where.at("pk")))

    _COMPOUND: ClassVar[dict[str, Callable[..., Any]]] = {
        wire.TUPLE: lambda self, data, where: tuple(self._items(data, where)),
        wire.SET: lambda self, data, where: set(self._items(data, where)),
        wire.FROZENSET: lambda self, data, where: frozenset(self._items(data, where)),
        wire.DICT: _dict,
        wire.ENUM: _enum,
        wire.FLAG: _flag,
        wire.DATACLASS: _dataclass,
        wire.NAMEDTUPLE: _namedtuple,
        wire.MODEL: _model,
    }
