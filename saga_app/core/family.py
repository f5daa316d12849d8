"""What a parent and its child do to each other: what it looks at, when it is told, and what a message changes."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from saga_app.core.status import (
    SETTLED,
    TERMINAL,
    UNSETTLED,
    CompensationStatus,
    RollbackStatus,
    Status,
    StuckReason,
    UnwindCause,
)
from saga_app.core.unwind import owed

if TYPE_CHECKING:
    from saga_app.core.snapshot import Record, Snapshot

TOLD = TERMINAL | {Status.STUCK}  # a parent acts upon each of these


def watched(x: Snapshot) -> list[UUID]:
    """The children whose state matters: those that have not ended for their parent, and those an unwind would undo."""
    return [one.child_id for one in x.records if one.child_id and (_open(one) or _unsettled(one))]


def _open(record: Record) -> bool:
    return record.kind == "child" and record.status in UNSETTLED


def _unsettled(record: Record) -> bool:
    return record.kind == "child" and owed(record) and record.compensation_status not in SETTLED


def tells(before: Snapshot, after: Snapshot) -> bool:
    """Whether its parent has to know: it has ended, or become stuck, or it is stuck no more."""
    return before.status != after.status and (after.status in TOLD or before.status == Status.STUCK)


def undo_child(x: Snapshot, now: datetime) -> Snapshot:
    """A child that had ended well, beginning its own unwind since its parent's has come to it. What it returned stays.

    One that has not, or cannot be undone any more, stays as it is.
    """
    if x.status != Status.COMPLETED or x.pivoted_at is not None:
        return x
    return x.but(
        status=Status.COMPENSATING,
        unwind_cause=UnwindCause.PARENT,
        unwinding_at=now,
        finished_at=None,
        due_at=now,
        deaths=0,
    )


def lift(x: Snapshot, now: datetime) -> Snapshot:
    """A parent that was stuck at a child which is stuck no more: it goes on as it was going, and looks again."""
    record = x.record(x.failing_path)
    if record is not None and record.compensation_status == CompensationStatus.FAILED:
        x = x.with_record(record.path, compensation_status=CompensationStatus.RUNNING)
    forward = {} if x.unwinding else {"error_text": None, "failing_path": ""}
    return x.but(
        status=Status.COMPENSATING if x.unwinding else Status.RUNNING,
        stuck_reason=StuckReason.NONE,
        rollback_status=RollbackStatus.NONE,
        cause="",
        due_at=now,
        deaths=0,
        **forward,
    )
