"""Stored values for people to look at: nothing is imported, no database is read, nothing is raised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from saga_app.codec import envelope, wire
from saga_app.codec.leaves import BY_TAG
from saga_app.codec.wire import Json
from saga_app.core.errors import Undecodable
from saga_app.core.readable import readable

UNREADABLE = "(cannot be read)"
NO_LIMIT = 2**63


def plain(text: str | None, limit: int | None = None) -> Json:
    """The value as plain JSON in which a Decimal is `19.90` and a model reference `shop.Order 5`.

    None, for a column that is NULL, is None. `limit`: about how many characters to show; what is left out is counted.
    """
    if text is None:
        return None
    try:
        return Display(NO_LIMIT if limit is None else limit).show(envelope.unseal(text))
    except Undecodable as error:
        return f"({error.reason})"
    except Exception:  # noqa: BLE001 - a page about a run must open whatever is stored in it
        return UNREADABLE


class Display:
    def __init__(self, limit: int) -> None:
        self._left = limit

    def show(self, data: Json) -> Json:
        if isinstance(data, str):
            return self._text(data)
        if isinstance(data, list):
            return self._items(data)
        if not isinstance(data, dict):
            self._left -= 5
            return data
        tag = wire.tag_of(data)
        if tag is None:
            return self._parts(data)
        try:
            return self._tagged(tag, data[tag])
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            return self._parts(data)

    def _tagged(self, tag: str, data: Json) -> Json:
        if tag in BY_TAG:
            leaf = BY_TAG[tag]
            return self._text(leaf.show(leaf.unpack(data)))
        return self._SHOWN[tag](self, data)

    def _text(self, text: str) -> str:
        kept = text[: max(0, self._left)]
        self._left -= len(kept)
        return readable(kept) if len(kept) == len(text) else f"{readable(kept)}… ({len(text):,} characters)"

    def _items(self, data: list[Json]) -> list[Json]:
        shown: list[Json] = []
        for index, item in enumerate(data):
            if self._left <= 0:
                return [*shown, f"… {len(data) - index:,} more"]
            self._left -= 2
            shown.append(self.show(item))
        return shown

    def _parts(self, data: dict[str, Json]) -> dict[str, Json]:
        shown: dict[str, Json] = {}
        for index, (name, item) in enumerate(data.items()):
            if self._left <= 0:
                return {**shown, "…": f"{len(data) - index:,} more"}
            key = self._text(name)
            shown[key] = self.show(item)
        return shown

    def _dict(self, data: list[Json]) -> Json:
        names = [packed if isinstance(packed, str) else str(self.show(packed)) for packed, _ in data]
        if len(set(names)) < len(names):  # 1 and "1": two keys that look the same
            return self._items(data)
        return self._parts(dict(zip(names, (item for _, item in data), strict=True)))

    def _reference(self, data: Json) -> str:
        label, _, pk = data
        shown = self.show(pk)
        return f"{label} {'-'.join(map(str, shown)) if isinstance(shown, list) else shown}"

    def _member(self, data: Json) -> str:
        name, members = data
        cls = str(name).rpartition(":")[2]
        return self._text(f"{cls}.{'|'.join([members] if isinstance(members, str) else members)}")

    _SHOWN: ClassVar[dict[str, Callable[..., Any]]] = {
        wire.TUPLE: _items,
        wire.SET: _items,
        wire.FROZENSET: _items,
        wire.DICT: _dict,
        wire.ENUM: _member,
        wire.FLAG: _member,
        wire.DATACLASS: lambda self, data: self._parts(data[1]),
        wire.NAMEDTUPLE: lambda self, data: self._parts(data[1]),
        wire.MODEL: _reference,
    }
