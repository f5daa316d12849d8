"""What a list says of each execution beyond its own row, for a whole page of them in one query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from saga_app.admin.cause import CALLED
from saga_app.core.status import CompensationStatus, Status, StepStatus
from saga_app.models import Execution, StepRecord

UNSETTLED = [StepStatus.RUNNING, StepStatus.WAITING, StepStatus.QUEUED, StepStatus.FAILED]
UNSETTLED_COMPENSATION = [CompensationStatus.RUNNING, CompensationStatus.WAITING, CompensationStatus.FAILED]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the step records say.

    Attributes:
        path: the step it failed at, or is at.
        attempt: attempts of that step so far, in the direction the execution goes.
        limit: attempts it may have.
        by_hand: steps that an operator undid by hand.
        optional_failed: steps that failed and were allowed to.
    """

    path: str = ""
    attempt: int = 0
    limit: int = 0
    by_hand: int = 0
    optional_failed: int = 0


def facts_of(executions: Iterable[Execution]) -> dict[UUID, Facts]:
    """The facts of these executions; only the few records that tell something are read."""
    telling = Q(status__in=UNSETTLED) | Q(
        compensation_status__in=[*UNSETTLED_COMPENSATION, CompensationStatus.RESOLVED]
    )
    by_id = {execution.pk: execution for execution in executions}
    records: dict[UUID, list[Mapping[str, Any]]] = {}
    rows = StepRecord.objects.filter(telling, execution__in=by_id).order_by("seq")
    for row in rows.values(
        "execution_id", "path", "kind", "status", "attempt", "attempt_limit",
        "compensation_status", "compensation_attempt", "compensation_limit",
    ):  # fmt: skip
        records.setdefault(row["execution_id"], []).append(row)
    return {pk: _facts(execution, records.get(pk, [])) for pk, execution in by_id.items()}


def _facts(execution: Execution, records: list[Mapping[str, Any]]) -> Facts:
    backwards = execution.unwinding_at is not None
    where = _where(execution, records, backwards=backwards)
    prefix = "compensation_" if backwards and where.get("compensation_attempt") else ""
    called = where.get("kind") in CALLED
    failed = sum(record["status"] == StepStatus.FAILED for record in records)
    return Facts(
        path=where.get("path", "") or execution.failing_path,
        attempt=where.get(f"{prefix}attempt", 0) if called else 0,
        limit=where.get("compensation_limit" if prefix else "attempt_limit", 0) if called else 0,
        by_hand=sum(record["compensation_status"] == CompensationStatus.RESOLVED for record in records),
        optional_failed=failed if execution.status == Status.COMPLETED else 0,
    )


def _where(execution: Execution, records: list[Mapping[str, Any]], *, backwards: bool) -> Mapping[str, Any]:
    """The record it failed at; where nothing failed, the one it is at."""
    if execution.status == Status.COMPLETED:
        return {}
    if execution.status != Status.COMPENSATING:  # while it goes back, where it is says more than what began it
        for record in records:
            if record["path"] == execution.failing_path:
                return record
    column, unsettled = ("compensation_status", UNSETTLED_COMPENSATION) if backwards else ("status", UNSETTLED)
    return next((record for record in reversed(records) if record[column] in unsettled), {})
