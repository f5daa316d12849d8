"""What a list says of each execution beyond its own row, for a whole page of them in one query.

The database picks the one record that is shown and counts the rest: of ten thousand items in a queue one row is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, F, Q, Value, When, Window
from django.db.models.functions import RowNumber

from saga_app.admin.cause import CALLED
from saga_app.core.status import CompensationStatus, Status, StepStatus
from saga_app.models import Execution, StepRecord

UNSETTLED = Q(status__in=[StepStatus.RUNNING, StepStatus.WAITING, StepStatus.QUEUED, StepStatus.FAILED])
UNDOING = [CompensationStatus.RUNNING, CompensationStatus.WAITING, CompensationStatus.FAILED]
GOES_BACK = Q(compensation_status__in=UNDOING)
BY_HAND = Q(compensation_status=CompensationStatus.RESOLVED)

# Which record is shown: the one it failed at, while it goes back the one it is at, else the one it is at. A completed
# execution is at none.
FAILED_THERE = Q(path=F("execution__failing_path")) & ~Q(execution__status=Status.COMPENSATING)
IS_AT = Q(execution__unwinding_at__isnull=False) & GOES_BACK | Q(execution__unwinding_at__isnull=True) & UNSETTLED
FIRST, SECOND, NEVER = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Facts:
    """What the step records say.

    Attributes:
        path: the step it failed at, or is at.
        kind: of that record: "step", or what is waited for.
        is_open: its call, or its wait, is not over.
        goes_back: it is its compensation that is meant.
        attempt: attempts of that step so far, in the direction the execution goes.
        limit: attempts it may have.
        by_hand: steps that an operator undid by hand.
        optional_failed: steps that failed and were allowed to.
    """

    path: str = ""
    kind: str = ""
    is_open: bool = False
    goes_back: bool = False
    attempt: int = 0
    limit: int = 0
    by_hand: int = 0
    optional_failed: int = 0


def facts_of(executions: Iterable[Execution]) -> dict[UUID, Facts]:
    """The facts of these executions."""
    by_id = {execution.pk: execution for execution in executions}
    each = F("execution_id")
    shown = Case(
        When(execution__status=Status.COMPLETED, then=Value(NEVER)),
        When(FAILED_THERE, then=Value(FIRST)),
        When(IS_AT, then=Value(SECOND)),
        default=Value(NEVER),
    )
    telling = StepRecord.objects.filter(UNSETTLED | GOES_BACK | BY_HAND, execution__in=by_id).order_by()
    ranked = telling.annotate(
        shown=shown,
        rank=Window(RowNumber(), partition_by=each, order_by=["shown", "-seq"]),
        by_hand=Window(Count("pk", filter=BY_HAND), partition_by=each),
        failed=Window(Count("pk", filter=Q(status=StepStatus.FAILED)), partition_by=each),
    )
    first = ranked.filter(rank=1).values(
        "execution_id", "path", "kind", "status", "attempt", "attempt_limit",
        "compensation_status", "compensation_attempt", "compensation_limit", "shown", "by_hand", "failed",
    )  # fmt: skip
    rows = {row["execution_id"]: row for row in first}
    return {pk: _facts(execution, rows.get(pk, {})) for pk, execution in by_id.items()}


def _facts(execution: Execution, row: Mapping[str, Any]) -> Facts:
    where = row if row.get("shown", NEVER) != NEVER else {}
    goes_back = execution.unwinding_at is not None and where.get("compensation_status") in UNDOING
    called = where.get("kind") in CALLED
    status = where.get("compensation_status" if goes_back else "status")
    return Facts(
        path=where.get("path", "") or execution.failing_path,
        kind=where.get("kind", ""),
        is_open=status in (StepStatus.RUNNING, StepStatus.WAITING, StepStatus.QUEUED),
        goes_back=goes_back,
        attempt=where.get("compensation_attempt" if goes_back else "attempt", 0) if called else 0,
        limit=where.get("compensation_limit" if goes_back else "attempt_limit", 0) if called else 0,
        by_hand=row.get("by_hand", 0),
        optional_failed=row.get("failed", 0) if execution.status == Status.COMPLETED else 0,
    )
