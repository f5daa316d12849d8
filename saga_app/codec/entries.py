"""A stored mapping, or list, whose values are decoded when they are asked for: what nobody asks for cannot fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from saga_app.codec import wire
from saga_app.codec.decoder import Decoder
from saga_app.codec.where import Where
from saga_app.codec.wire import Json


class Entries(Mapping[str, Any]):
    """Name → value. Raises Undecodable for the name whose value cannot be read back, and for no other."""

    def __init__(self, data: Mapping[str, Json], path: str) -> None:
        self._data, self._path = data, path

    def __getitem__(self, name: str) -> Any:
        return Decoder().decode(self._data[name], Where(self._path).at(name))

    def __contains__(self, name: object) -> bool:
        return name in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)


class Elements:
    """The elements of a list. Of 10,000, whoever wants one decodes one."""

    def __init__(self, data: Sequence[Json], path: str, *, sealed: bool) -> None:
        self._data, self._path, self._sealed = data, path, sealed

    def __getitem__(self, index: int) -> Any:
        return Decoder().decode(self._data[index], Where(self._path).at(index))

    def __len__(self) -> int:
        return len(self._data)

    def inert(self, index: int) -> bool:
        """Whether decoding that one runs no code of the project and reads no row; encrypted, none of them does."""
        return not self._sealed and not wire.is_live(wire.dumps(self._data[index]))
