"""The step records of a picture: a tuple that finds a record by its path at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, repeat
from operator import is_not
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from saga_app.core.snapshot import Record


class Records(Sequence["Record"]):
    """Immutable. A changed copy shares the index of paths, which only grows: a loop of 10,000 items stays fast."""

    __slots__ = ("_items", "_places")

    def __init__(self, items: Iterable[Record] = (), places: dict[str, int] | None = None) -> None:
        self._items = tuple(items)
        self._places = {one.path: at for at, one in enumerate(self._items)} if places is None else places

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Record]: ...
    def __getitem__(self, at: int | slice) -> Record | Sequence[Record]:
        return self._items[at]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        return f"Records({self._items!r})"

    def at(self, path: str) -> Record | None:
        """The record of that path, or None."""
        place = self._place(path)
        return None if place is None else self._items[place]

    def _place(self, path: str) -> int | None:
        """Where it is. A copy that was given up may have left its paths in the shared index: look before believing."""
        place = self._places.get(path)
        if place is not None and place < len(self._items) and self._items[place].path == path:
            return place
        return None

    def not_in(self, before: Records) -> list[Record]:
        """Those that are new or were changed since: a copy keeps the place of each. One look at each, and no more."""
        return list(compress(self._items, map(is_not, self._items, chain(before._items, repeat(None)))))

    def with_changes(self, path: str, **changes: Any) -> Records:
        """The same with some fields of one record changed."""
        record = self.at(path)
        if record is None:
            raise LookupError(path)
        return self.put(record.but(**changes))

    def put(self, record: Record) -> Records:
        """The same with this record in the place of that of its path."""
        place = self._places[record.path]
        return Records((*self._items[:place], record, *self._items[place + 1 :]), self._places)

    def and_also(self, record: Record) -> Records:
        """The same with one more at the end."""
        known = self._places.get(record.path)
        places = self._places
        if known is not None and known != len(self._items):
            places = {one.path: at for at, one in enumerate(self._items)}
        places[record.path] = len(self._items)
        return Records((*self._items, record), places)
