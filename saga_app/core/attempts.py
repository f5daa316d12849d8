"""The attempts of a step record as moments: what its list says, for whoever looks back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from saga_app.core.outcomes import Direction

if TYPE_CHECKING:
    from saga_app.core.snapshot import Record

LOST = "lost"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call.

    Attributes:
        direction: which of the step's functions.
        number: which attempt it was; None of a reconcile.
        started: when it began. Of an atomic call, whose record came with its end: when it ended.
        ended: when it ended; None while it has not, and where nobody was there to see it.
        outcome: how it ended, "lost" where nobody saw it; empty while it has not.
        due: when the next one was to begin, where one was to.
    """

    direction: Direction
    number: int | None
    started: datetime
    ended: datetime | None
    outcome: str
    due: datetime | None


def attempts_of(record: Record) -> list[Attempt]:
    """The attempts that are kept of a record, the oldest first, of all directions."""
    found = []
    for entry in record.attempts:
        ended = datetime.fromisoformat(entry["ended_at"]) if "ended_at" in entry else None
        due = ended + timedelta(seconds=entry["delay"]) if ended is not None and "delay" in entry else None
        started = datetime.fromisoformat(entry["started_at"])
        number = entry.get("attempt")
        found.append(Attempt(Direction(entry["direction"]), number, started, ended, entry.get("outcome", ""), due))
    return found
