"""Which record a name means: seen from a path, the last that ran of the nodes that provide it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saga_app.core.records import Records
    from saga_app.core.snapshot import Record


class Lookup:
    """An index of the records by name. It grows with them: a look takes as long in the last turn as in the first.

    What stands in a ForEach is seen in the same turn of it alone, so it is filed under that turn. Of a While and a
    Repeat the last turn counts that has something; whoever has a record sees nothing that began after it.
    """

    def __init__(self, homes: Mapping[str, str], counts: Callable[[Record], bool]) -> None:
        """`homes`: node → the innermost ForEach around it. `counts`: whether what has an output counts."""
        self._homes, self._counts = homes, counts
        self._filed: dict[tuple[str, str], list[tuple[int, str]]] = {}
        self._known: list[str] = []

    def latest(self, records: Records, names: Iterable[str], path: str) -> Record | None:
        """The last record of these nodes that has an output, as it is seen from `path`; None where none has."""
        self._file(records)
        own = records.at(path)
        found = (self._of(records, name, path, own) for name in names)
        return max((one for one in found if one is not None), key=lambda one: one.seq, default=None)

    def _of(self, records: Records, name: str, path: str, own: Record | None) -> Record | None:
        turn = turn_at(path, self._homes.get(name, ""))
        filed = [] if turn is None else self._filed.get((name, turn), [])
        place = len(filed) if own is None else bisect_left(filed, (own.seq, ""))
        while place:
            place -= 1
            record = records.at(filed[place][1])
            if record is not None and self._has_come_to_something(record, path):
                return record
        return None

    def _has_come_to_something(self, record: Record, path: str) -> bool:
        """It has an output, and is over: a loop is not as long as somebody in it asks."""
        return record.output_text is not None and not path.startswith(f"{record.path}[") and self._counts(record)

    def _file(self, records: Records) -> None:
        known = len(self._known)
        if len(records) < known or (known and records[known - 1].path != self._known[-1]):
            self._filed, self._known = {}, []  # a picture was given up, and another one made
        for record in records[len(self._known) :]:
            turn = turn_at(record.path, self._homes.get(record.name, "")) or ""
            self._filed.setdefault((record.name, turn), []).append((record.seq, record.path))
            self._known.append(record.path)


def turn_at(path: str, loop: str) -> str | None:
    """The prefix of everything in that turn of the loop, as in `line[3]/`; None where the path is not in it."""
    if not loop:
        return ""
    start = 0 if path.startswith(f"{loop}[") else path.find(f"/{loop}[") + 1
    if not path.startswith(f"{loop}[", start):
        return None
    end = path.find("/", start)
    return None if end < 0 else path[: end + 1]
