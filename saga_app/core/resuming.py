"""What a resume gives back to what stopped an execution: more attempts, a new deadline, another child, its siblings."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from saga_app.core.outcomes import CUT
from saga_app.core.results import Failed
from saga_app.core.status import CompensationStatus, StepStatus
from saga_app.core.tree import independent
from saga_app.core.walk import Walk

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot


def resumed(x: Snapshot, saga: Saga[Any] | None, now: datetime) -> Snapshot:
    """The picture of a stuck execution with everything that stopped it ready to be tried again."""
    stopped = stopped_at(x, saga, now)
    again = reopened(x, saga, now, stopped)
    return again.with_records(_again(x, one, saga, now) if one.path in stopped else one for one in again.records)


def stopped_at(x: Snapshot, saga: Saga[Any] | None, now: datetime) -> frozenset[str]:
    """The paths of what it stopped at: of a group each branch that failed, and whatever nobody has an answer to."""
    found = {x.failing_path}
    if x.unwinding:
        failed = (CompensationStatus.FAILED, CompensationStatus.RUNNING)
        found |= {one.path for one in x.records if one.compensation_status in failed}
    elif saga is not None:
        result = Walk(saga, x, now).all()
        found |= set(result.paths) if isinstance(result, Failed) else set()
    return frozenset(found | {one.path for one in x.records if one.status == StepStatus.RUNNING})


def reopened(x: Snapshot, saga: Saga[Any] | None, now: datetime, stopped: Iterable[str]) -> Snapshot:
    """The picture with the siblings open again that were cut short because something of their group had failed.

    Where that was recovered from, what it had cut short is over.
    """
    if saga is None or x.unwinding or not any(one.choice == CUT for one in x.records):
        return x
    walk = Walk(saga, x, now)
    walk.all()
    for record in walk.visited:
        cut = record.choice == CUT and record.path not in walk.recovered
        if cut and any(independent(saga, record.path, path) for path in stopped):
            x = x.but(records=x.records.put(_forward(record, saga, record.attempt_limit, now)))
    return x


def _again(x: Snapshot, record: Record, saga: Saga[Any] | None, now: datetime) -> Record:
    """One that stopped it, ready to be tried again in the direction it had."""
    step = saga.step(record.path) if saga else None
    if record.compensation_status == CompensationStatus.FAILED:
        more = step.compensation.policy.attempts if step and step.compensation else 1
        limit = max(record.compensation_limit, record.compensation_attempt + more)
        return record.but(compensation_status=CompensationStatus.NONE, compensation_limit=limit, reconciled=False)
    if record.compensation_status == CompensationStatus.RUNNING:
        if record.in_queue or record.kind == "child":
            return record
        # its worker died; it may try once more
        return record.but(compensation_limit=max(record.compensation_limit, record.compensation_attempt + 1))
    if x.unwinding:
        return record.but(reconciled=False)
    limit = max(record.attempt_limit, record.attempt + (step.policy.attempts if step else 1))
    if record.status == StepStatus.FAILED:
        return _forward(record, saga, limit, now)
    if record.status == StepStatus.RUNNING and not record.in_queue:
        return record.but(attempt_limit=limit, reconciled=False)
    return record


def _forward(record: Record, saga: Saga[Any] | None, limit: int, now: datetime) -> Record:
    """A record that waits again: a gate with a new deadline, a child that failed makes room for another."""
    waiting: dict[str, Any] = {"status": StepStatus.WAITING, "finished_at": None, "choice": ""}
    if record.kind in ("wait", "approval"):
        timeout = getattr(saga.node(record.path), "timeout", None) if saga else None
        due = None if timeout is None else now + timedelta(seconds=timeout)
        return record.but(**waiting, due_at=due, error_text=None, output_text=None)
    if record.kind == "child":
        fresh = {"child_id": None, "owes": False, "may_have_happened": False}
        return record.but(**waiting, **fresh, error_text=None)
    if record.kind == "sleep" and record.arguments_text is not None:
        return record.but(**waiting, due_at=record.due_at or now)
    return record.but(**waiting, due_at=now, attempt_limit=limit)


def later_deadline(x: Snapshot, saga: Saga[Any] | None, now: datetime) -> datetime | None:
    """The execution's deadline; one that has passed begins anew, or the next drive would stop at it again."""
    if x.deadline_at is None or x.deadline_at > now:
        return x.deadline_at
    timeout = saga.timeout if saga else None
    return None if timeout is None else now + timedelta(seconds=timeout)
