"""What a batch's page says of all its executions, in one query each, however many there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, F, OuterRef, Q

from saga_app.core import registry
from saga_app.core.previewing import Group
from saga_app.core.status import CompensationStatus, StepStatus
from saga_app.models import OperatorBatch, OperatorBatchItem, StepRecord

PLAIN = ("execution__status", "execution__stuck_reason")
MOMENTS = {
    "pivoted": "pivoted_at",
    "unwinding": "unwinding_at",
    "cancel_requested": "cancel_requested_at",
    "suspend_requested": "suspend_requested_at",
    "held": "lease_holder",
}
DEFINITION = ("execution__saga", "execution__revision")


def groups(batch: OperatorBatch, using: str) -> Iterator[Group]:
    """The executions of a draft, by what decides whether its verb may be used on them."""
    facts: dict[str, Any] = {name: _is(Q(**{f"execution__{at}__isnull": False})) for name, at in MOMENTS.items()}
    facts["changed"] = _is(~Q(execution__version=F("seen_version")))
    if batch.verb == "resume":
        facts["backs_off"] = Exists(_backing_off())
    by_definition = batch.verb == "unwind"
    names = [*PLAIN, *facts, *(DEFINITION if by_definition else ())]
    rows = OperatorBatchItem.objects.using(using).filter(batch=batch).order_by()
    for row in rows.annotate(**facts).values(*names).annotate(count=Count("pk")):
        known = not by_definition or registry.get(row["execution__saga"], row["execution__revision"]) is not None
        told = {name: bool(row[name]) for name in facts}
        status, stuck_reason = (row[name] for name in PLAIN)
        yield Group(count=row["count"], status=status, stuck_reason=stuck_reason, known=known, **told)


def _is(condition: Q) -> ExpressionWrapper[Any]:
    return ExpressionWrapper(condition, output_field=BooleanField())


def _backing_off() -> Any:
    """Step records that wait for their next attempt, and that nobody has: what resume hurries (core.verbs)."""
    back = Q(compensation_status=CompensationStatus.WAITING, compensation_attempt__gt=0)
    waits = Q(status__in=[StepStatus.WAITING, StepStatus.QUEUED], attempt__gt=0, kind__in=["step", "compute"])
    forth = waits & ~Q(compensation_status=CompensationStatus.WAITING)
    rows = StepRecord.objects.filter(back | forth, row_holder__isnull=True)
    return rows.filter(execution=OuterRef("execution"))


def counts(batch: OperatorBatch, using: str) -> dict[tuple[str, str], int]:
    """How many items have come to which outcome, and with which code."""
    rows = OperatorBatchItem.objects.using(using).filter(batch=batch).order_by()
    return {(row[0], row[1]): row[2] for row in rows.values_list("status", "code").annotate(Count("pk"))}
