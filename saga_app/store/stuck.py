"""Reads of what is stuck, grouped by its cause: one query, whoever asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import CharField, Count, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast, JSONObject

from saga_app import clock
from saga_app.core.ending import NOTHING_RAISED
from saga_app.models import Execution, StepRecord
from saga_app.querysets import ExecutionQuerySet
from saga_app.store.pulse import LATELY
from saga_app.store.transactions import alias

SAMPLE = ("saga", "revision", "key", "status", "stuck_reason", "failing_path")


def stuck_of(cause: Any) -> ExecutionQuerySet:
    """The executions of a group, as they are now."""
    stuck: ExecutionQuerySet = Execution.objects.using(alias()).stuck()
    return stuck.filter(cause=cause)


def counted(executions: QuerySet[Execution]) -> QuerySet[Any, Any]:
    """Each cause, the largest group first: `count`, since when (`first`, `last`), `lately`, `again` and a `sample`.

    One query, of what is stuck alone. The samples come after the counts: with them, each row would look for one.
    """
    rows = (
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
    return rows.annotate(sample=Subquery(_samples())).order_by("-count", "cause")


def is_back(sample: Mapping[str, Any]) -> bool:
    """It was going back."""
    return sample["unwinding_at"] is not None


def raised(sample: Mapping[str, Any]) -> str | None:
    """What stopped it, as it is stored (see core.ending: a cause is made of the same); None where nothing was."""
    if sample["stuck_reason"] in NOTHING_RAISED:
        return None
    told = sample["raised_back"] or sample["raised"] if is_back(sample) else sample["raised"] or sample["error"]
    return str(told) if told else None


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
