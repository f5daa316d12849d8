"""Whether what ran under earlier code fits the definition now in use (design §11)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from saga_app.core.tree import lanes_of
from saga_app.core.walk import Walk

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot

EVER = datetime.max.replace(tzinfo=UTC)


def fits(saga: Saga[Any], snapshot: Snapshot, now: datetime | None = None) -> bool:
    """Whether what ran fits: a walk through the definition comes by every record there is, in the order they started.

    So no node stands before one that ran without having run itself.
    """
    if saga.fingerprint == snapshot.fingerprint or snapshot.unwinding:
        return True  # backwards, the plan itself says which handler is gone
    walk = Walk(saga, snapshot, now or EVER, whole=True)
    walk.all()
    return not walk.lost and len(walk.visited) == len(snapshot.records) and in_order(saga, walk.visited)


def in_order(saga: Saga[Any], records: Iterable[Record]) -> bool:
    """Whether each record started after those it follows: all but other branches.

    `latest` keeps, for each branch (its lanes), the last start in it: by the group it is in from there on, "" for none.
    """
    latest: dict[tuple[tuple[str, str], ...], dict[str, int]] = {}
    for record in records:
        place = saga.place(record.path)
        lanes = lanes_of(place, record.path) if place else ()
        for depth in range(len(lanes) + 1):
            group = lanes[depth][0] if depth < len(lanes) else ""
            known = latest.setdefault(lanes[:depth], {})
            if any(seq > record.seq for other, seq in known.items() if other != group or not group):
                return False
            known[group] = max(record.seq, known.get(group, -1))
    return True
