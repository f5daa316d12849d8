"""Named reads of the tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import connections, models
from django.db.models import Count, F, Q
from django.db.models.expressions import OrderBy

from saga_app import clock
from saga_app.core.status import DRIVEN, OPEN, TERMINAL, Status

LAST = "\U0010ffff"  # sorts behind every other character


class ByPattern(OrderBy):
    """Character by character, whatever the database's language says: the order of PostgreSQL's pattern indexes."""

    template = "%(expression)s USING ~<~ /* ASC */"  # Django looks for one of its own two words


if TYPE_CHECKING:
    from saga_app.models import Event, Execution, StepRecord, Worker  # noqa: F401 - named in annotations


class ExecutionQuerySet(models.QuerySet["Execution"]):
    """Executions, by what is true of them."""

    def open(self) -> ExecutionQuerySet:
        """Those that are not terminal."""
        return self.filter(status__in=OPEN)

    def terminal(self) -> ExecutionQuerySet:
        """Those that have ended, the rollback decided."""
        return self.filter(status__in=TERMINAL)

    def stuck(self) -> ExecutionQuerySet:
        """Those that wait for an operator."""
        return self.filter(status=Status.STUCK)

    def due(self) -> ExecutionQuerySet:
        """Those a worker should claim now, the lapsed ones included; the most urgent first."""
        return self.filter(due_at__lte=clock.database_now(self.db)).order_by("priority", "due_at")

    def in_queues(self, queues: Sequence[str] | None) -> ExecutionQuerySet:
        """Those that wait in one of these queues; None: in any."""
        return self if queues is None else self.filter(queue__in=queues)

    def key_begins(self, text: str) -> ExecutionQuerySet:
        """Those whose key begins with that, by key: so the index of the keys answers, however many there are.

        Newest first, PostgreSQL may walk through all that is newer than the first of them.
        """
        if connections[self.db].vendor == "postgresql":
            return self.filter(key__startswith=text).order_by(ByPattern(F("key")), ByPattern(F("saga")))
        within = self.filter(key__gte=text, key__lt=text + LAST)  # SQLite's LIKE knows no case, and no index
        return within.order_by("key", "saga")

    def light(self) -> ExecutionQuerySet:
        """Without the columns that may be large."""
        return self.defer("input_text", "output_text")

    def count_by_status(self) -> dict[str, int]:
        """How many executions are in each open status (the index on open statuses answers)."""
        rows = self.open().order_by().values_list("status").annotate(Count("pk"))
        return dict(rows)


class StepRecordQuerySet(models.QuerySet["StepRecord"]):
    """Step records, by what is true of them."""

    def due(self) -> StepRecordQuerySet:
        """Queued steps a worker should claim now, those of lapsed leases included."""
        rows = self.filter(row_due_at__lte=clock.database_now(self.db), execution__status__in=DRIVEN)
        return rows.filter(execution__suspend_requested_at__isnull=True)

    def in_queues(self, queues: Sequence[str] | None) -> StepRecordQuerySet:
        """Those of one of these queues; None: of any."""
        return self if queues is None else self.filter(queue__in=queues)

    def light(self) -> StepRecordQuerySet:
        """Without the columns that may be large."""
        return self.defer("arguments_text", "output_text")

    def undone(self) -> StepRecordQuerySet:
        """Those that owe a compensation and have no settled outcome: what stands, or may stand, in the world.

        What a fork has taken over is owed there.
        """
        unknown = Q(status="failed", may_have_happened=True) | Q(status="running", outcome_known=False)
        owed = Q(owes=True, taken_by=None) & (Q(status="completed") | unknown)
        return self.filter(owed & ~Q(compensation_status__in=["compensated", "resolved"]))


class EventQuerySet(models.QuerySet["Event"]):
    """Lines of history."""

    def of(self, *types: str) -> EventQuerySet:
        """Those of these types."""
        return self.filter(type__in=types)


class WorkerQuerySet(models.QuerySet["Worker"]):
    """Worker processes."""

    def alive(self, within: float = 30.0) -> WorkerQuerySet:
        """Those seen within the last so many seconds."""
        return self.filter(seen_at__gt=clock.now() - timedelta(seconds=within))
