"""A stored mapping of names to values, each decoded when it is asked for: what nobody asks for cannot fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
