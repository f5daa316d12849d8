"""The words of a batch: what it is doing, and what became of each of its items."""

from __future__ import annotations

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


#: The verbs that one may use on many executions at once.
BATCH_VERBS = ("resume", "cancel", "suspend", "unwind", "abandon")
ENDED = frozenset({BatchStatus.CANCELLED, BatchStatus.COMPLETED})
