"""What is stuck, grouped by its cause: one mended cause frees many executions, so that is what an operator acts on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import CharField, Count, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast

from saga_app import clock, messages
from saga_app.admin.values import Failure, failure
from saga_app.core.ending import NOTHING_RAISED
from saga_app.core.failures import readable
from saga_app.models import Execution, StepRecord
from saga_app.querysets import ExecutionQuerySet
from saga_app.store.pulse import LATELY
from saga_app.store.transactions import alias


@dataclass(frozen=True, slots=True)
class Group:
    """Executions that are stuck of one cause.

    Attributes:
        cause: the hash that is the group's identity.
        count: how many there are.
        first: since when the first of them is stuck.
        last: since when the last.
        lately: how many came within the last hour.
        again: how many an operator has resumed before, and here they are again.
        sample: the newest of them.
        failure: what was raised, where something was.
    """

    cause: str
    count: int
    first: datetime
    last: datetime
    lately: int
    again: int
    sample: Execution
    failure: Failure | None

    @property
    def line(self) -> str:
        """The cause in one line: what was raised, or the reason where nothing was."""
        return self.failure.line if self.failure else messages.reason_word(self.sample.stuck_reason)

    @property
    def direction(self) -> str:
        """Where it was going."""
        return messages.word(messages.DIRECTION, "compensate" if self.sample.unwinding_at else "forward")

    @property
    def title(self) -> str:
        """The group in a few words, as a batch of it is called."""
        return f"{readable(self.sample.saga)} {readable(self.sample.failing_path)}: {self.line}"


def stuck_of(cause: str) -> ExecutionQuerySet:
    """The executions of a group, as they are now."""
    stuck: ExecutionQuerySet = Execution.objects.using(alias()).stuck()
    return stuck.filter(cause=cause)


def groups(most: int) -> tuple[list[Group], bool]:
    """The largest groups, and whether there are more. Two queries, of what is stuck alone."""
    rows = list(_aggregated(Execution.objects.using(alias()).stuck())[: most + 1])
    return _with_samples(rows[:most]), len(rows) > most


def group(cause: str) -> Group | None:
    """The group of that cause; None where nothing is stuck of it (any more)."""
    return next(iter(_with_samples(list(_aggregated(stuck_of(cause))))), None)


def _aggregated(executions: QuerySet[Execution]) -> QuerySet[Any, Any]:
    return (
        executions.order_by()
        .values("cause")
        .annotate(
            count=Count("pk"),
            first=Min("status_at"),
            last=Max("status_at"),
            lately=Count("pk", filter=Q(status_at__gt=clock.now() - LATELY)),
            again=Count("pk", filter=Q(resume_count__gt=0)),
            sample=Max(Cast("pk", CharField())),  # PostgreSQL has no greatest UUID before 18
        )
        .order_by("-count", "cause")
    )


def _with_samples(rows: list[dict[str, Any]]) -> list[Group]:
    step = StepRecord.objects.filter(execution=OuterRef("pk"), path=OuterRef("failing_path"))
    samples = (
        Execution.objects.using(alias())
        .light()
        .annotate(
            raised=Subquery(step.values("error_text")[:1]),
            raised_back=Subquery(step.values("compensation_error_text")[:1]),
        )
        .in_bulk([UUID(row["sample"]) for row in rows])
        if rows
        else {}
    )
    found = ((row, samples.get(UUID(row["sample"]))) for row in rows)
    return [Group(**{**row, "sample": one}, failure=_failure(one)) for row, one in found if one is not None]


def _failure(sample: Any) -> Failure | None:
    """What stopped it (see core.ending: a cause is made of the same)."""
    if sample.stuck_reason in NOTHING_RAISED:
        return None
    if sample.unwinding_at is not None:
        return failure(sample.raised_back or sample.raised)
    return failure(sample.raised or sample.error_text)
