"""What is stuck, grouped by its cause: one mended cause frees many executions, so that is what an operator acts on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import CharField, Count, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast, JSONObject

from saga_app import clock, messages
from saga_app.admin.values import Failure, failure
from saga_app.core.ending import NOTHING_RAISED
from saga_app.core.failures import readable
from saga_app.models import Execution, StepRecord
from saga_app.querysets import ExecutionQuerySet
from saga_app.store.pulse import LATELY
from saga_app.store.transactions import alias

SAMPLE = ("saga", "revision", "key", "status", "stuck_reason", "failing_path")


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
        sample: the latest of them, as far as a link to it needs it.
        back: they were going back.
        failure: what was raised, where something was.
    """

    cause: str
    count: int
    first: datetime
    last: datetime
    lately: int
    again: int
    sample: Execution
    back: bool
    failure: Failure | None

    @property
    def line(self) -> str:
        """The cause in one line: what was raised, or the reason where nothing was."""
        return self.failure.line if self.failure else messages.reason_word(self.sample.stuck_reason)

    @property
    def direction(self) -> str:
        """Where it was going."""
        return messages.word(messages.DIRECTION, "compensate" if self.back else "forward")

    @property
    def title(self) -> str:
        """The group in a few words, as a batch of it is called."""
        return f"{readable(self.sample.saga)} {readable(self.sample.failing_path)}: {self.line}"


def stuck_of(cause: Any) -> ExecutionQuerySet:
    """The executions of a group, as they are now."""
    stuck: ExecutionQuerySet = Execution.objects.using(alias()).stuck()
    return stuck.filter(cause=cause)


def groups(most: int) -> tuple[list[Group], bool]:
    """The largest groups, and whether there are more."""
    rows = list(_read(Execution.objects.using(alias()).stuck())[: most + 1])
    return [_group(row) for row in rows[:most]], len(rows) > most


def group(cause: str) -> Group | None:
    """The group of that cause; None where nothing is stuck of it (any more)."""
    row = _read(stuck_of(cause)).first()
    return _group(row) if row else None


def _read(executions: QuerySet[Execution]) -> QuerySet[Any, Any]:
    """One query, of what is stuck alone. The samples come after the counts: with them, each row would look for one."""
    counted = (
        executions.order_by()
        .values("cause")
        .annotate(
            count=Count("pk"),
            first=Min("status_at"),
            last=Max("status_at"),
            lately=Count("pk", filter=Q(status_at__gt=clock.now() - LATELY)),
            again=Count("pk", filter=Q(resume_count__gt=0)),
        )
    )
    return counted.annotate(sample=Subquery(_samples())).order_by("-count", "cause")


def _samples() -> QuerySet[Any, Any]:
    """The latest of a group, with what was raised: one value, since a page may ask little."""
    step = StepRecord.objects.filter(execution=OuterRef("pk"), path=OuterRef("failing_path"))
    told = JSONObject(
        **{name: name for name in SAMPLE},
        id=Cast("pk", CharField()),
        unwinding_at=Cast("unwinding_at", CharField()),
        error="error_text",
        raised=Subquery(step.values("error_text")[:1]),
        raised_back=Subquery(step.values("compensation_error_text")[:1]),
    )
    return stuck_of(OuterRef("cause")).order_by("-status_at", "-pk").values_list(told)[:1]


def _group(row: dict[str, Any]) -> Group:
    told = row["sample"]
    sample = Execution(id=UUID(told["id"]), **{name: told[name] for name in SAMPLE})
    back = told["unwinding_at"] is not None
    return Group(**{**row, "sample": sample}, back=back, failure=_failure(told, back=back))


def _failure(told: dict[str, Any], *, back: bool) -> Failure | None:
    """What stopped it (see core.ending: a cause is made of the same)."""
    if told["stuck_reason"] in NOTHING_RAISED:
        return None
    if back:
        return failure(told["raised_back"] or told["raised"])
    return failure(told["raised"] or told["error"])
