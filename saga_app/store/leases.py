"""The right to drive something until a time: what claims of executions and of queued steps have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet

from saga_app import clock
from saga_app.conf import settings
from saga_app.models import Execution, StepRecord


@dataclass(slots=True, kw_only=True)
class Lease(ABC):
    """The right to drive one execution, or one queued step of it.

    Attributes:
        execution_id: which execution.
        using: the database alias.
        epoch, holder: the fence, or the better part of it: what every write must find unchanged.
        now: the database's moment at the last answer from it, `at` our monotonic seconds then.
        lease_ends: our monotonic seconds after which the right may be somebody else's.
        fresh: the claim's own transaction is still open.
        stored_input: what the execution was started with, encoded, where it has been read.
    """

    execution_id: UUID
    using: str
    epoch: int
    holder: str
    now: datetime
    at: float
    lease_ends: float
    fresh: bool = True
    stored_input: str | None = None

    @property
    def input_text(self) -> str:
        """What the execution was started with, encoded."""
        if self.stored_input is None:
            found = Execution.objects.using(self.using).filter(pk=self.execution_id)
            self.stored_input = found.values_list("input_text", flat=True).get()
        return self.stored_input

    @abstractmethod
    def step(self, path: str) -> QuerySet[StepRecord]:
        """The step record at that path, as long as the claim is ours."""

    def moment(self) -> datetime:
        """The database's moment: its last answer plus what our own clock has counted since."""
        return self.now + timedelta(seconds=clock.monotonic() - self.at)

    def answered(self, moment: datetime) -> None:
        """The database has said what time it is."""
        self.now, self.at = moment, clock.monotonic()

    def renewed(self, asked_at: float) -> None:
        """The lease was renewed by a statement sent at that moment of our own clock."""
        self.lease_ends = asked_at + settings.LEASE

    @property
    def lapsed(self) -> bool:
        """By our own count the lease has run out: nothing may be begun under it."""
        return clock.monotonic() >= self.lease_ends

    @property
    def worn(self) -> bool:
        """Less than half of the lease is left."""
        return bool(self.lease_ends - clock.monotonic() < settings.LEASE / 2)


def grace() -> timedelta:
    """How long after its lease a worker may still be inside a body, until the hard stop (design §8.8)."""
    return timedelta(seconds=settings.HARD_STOP_GRACE)
