"""What a batch may do next: its statuses and their moves, and how many of its items are done at one go."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class BatchStatus(StrEnum):
    """What a batch is doing."""

    DRAFT = "draft"
    """The selection is frozen; nobody has confirmed it."""
    RUNNING = "running"
    HOLDING = "holding"
    """Its first few are through; somebody has to say whether the rest follows."""
    PAUSED = "paused"
    CANCELLED = "cancelled"
    COMPLETED = "completed"


class ItemStatus(StrEnum):
    """What became of one execution of a batch."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    FAILED = "failed"
    """The verb raised what is no refusal."""


class Act(StrEnum):
    """What changes the status of a batch."""

    BEGIN = "begin"
    PAUSE = "pause"
    GO_ON = "go_on"
    CANCEL = "cancel"
    HALT = "halt"
    """It pauses by itself: whoever let it run may not, or its workers die."""
    HOLD = "hold"
    COMPLETE = "complete"


#: The verbs that one may use on many executions at once.
BATCH_VERBS = ("resume", "cancel", "suspend", "unwind", "abandon")
ENDED = frozenset({BatchStatus.CANCELLED, BatchStatus.COMPLETED})
#: What a canary and a rate count: from a refusal nobody learns what becomes of the rest, and it costs nobody anything.
TELLING = frozenset({ItemStatus.ACCEPTED, ItemStatus.FAILED})
MOST = 100_000  # executions of one batch
MOST_DEATHS = 3  # of workers in a row, without an item done between them
MOST_AT_ONCE = 100  # items, of all kinds, between two looks at who let it run, and at what else is due
PACE = 0.5  # seconds for which a paced batch does its items at one go

MOVES: Mapping[Act, Mapping[BatchStatus, BatchStatus]] = {
    Act.BEGIN: {BatchStatus.DRAFT: BatchStatus.RUNNING},
    Act.PAUSE: {BatchStatus.RUNNING: BatchStatus.PAUSED},
    Act.GO_ON: {BatchStatus.PAUSED: BatchStatus.RUNNING, BatchStatus.HOLDING: BatchStatus.RUNNING},
    Act.CANCEL: dict.fromkeys((BatchStatus.RUNNING, BatchStatus.HOLDING, BatchStatus.PAUSED), BatchStatus.CANCELLED),
    Act.HALT: {BatchStatus.RUNNING: BatchStatus.PAUSED},
    Act.HOLD: {BatchStatus.RUNNING: BatchStatus.HOLDING},
    Act.COMPLETE: {BatchStatus.RUNNING: BatchStatus.COMPLETED},
}


def moved(act: Act, status: str) -> BatchStatus | None:
    """The status after an act; None where it is not legal now."""
    return MOVES[act].get(BatchStatus(status))


def offered(status: str) -> tuple[Act, ...]:
    """What somebody may do with a batch in that status."""
    people = (Act.BEGIN, Act.PAUSE, Act.GO_ON, Act.CANCEL)
    return tuple(act for act in people if moved(act, status) is not None)


def at_once(*, done: int, canary: int, rate: float | None) -> int:
    """How many items that tell something are done at the next go, while it is running.

    Args:
        done: items that are done and tell something, as far as the canary counts.
        canary: after so many of those somebody has to say whether the rest follows; 0: it just goes on.
        rate: items per second; None: as fast as it can.
    """
    count = MOST_AT_ONCE if rate is None else min(MOST_AT_ONCE, max(1, int(rate * PACE)))
    return min(count, canary - done) if canary else count


def pause_after(count: int, rate: float | None) -> float:
    """Seconds from the beginning of a go of that many items to that of the next: never faster than its rate."""
    return 0.0 if rate is None else count / rate


def after_item(*, done: int, canary: int, more: bool) -> Act | None:
    """What becomes of a batch when an item is done; None: it goes on.

    Args:
        done: items that are done and tell something, this one among them if it does.
        canary: as above.
        more: others are left.
    """
    if not more:
        return Act.COMPLETE
    return Act.HOLD if canary and done >= canary else None
