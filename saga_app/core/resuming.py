"""What a resume gives back to the record that stopped an execution: more attempts, a new deadline, another child."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from saga_app.core.status import CompensationStatus, StepStatus

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot


def again(x: Snapshot, record: Record, saga: Saga[Any] | None, now: datetime) -> Record:
    """The record, where it is what stopped the execution, ready to be tried again."""
    step = saga.step(record.path) if saga else None
    if record.compensation_status == CompensationStatus.FAILED:
        more = step.compensation.policy.attempts if step and step.compensation else 1
        limit = max(record.compensation_limit, record.compensation_attempt + more)
        return record.but(compensation_status=CompensationStatus.NONE, compensation_limit=limit, reconciled=False)
    if record.compensation_status == CompensationStatus.RUNNING and not record.in_queue and record.kind != "child":
        # its worker died; it may try once more
        return record.but(compensation_limit=max(record.compensation_limit, record.compensation_attempt + 1))
    if not is_stopped(x, record):
        return record
    if x.unwinding:
        return record.but(reconciled=False)
    limit = max(record.attempt_limit, record.attempt + (step.policy.attempts if step else 1))
    if record.status == StepStatus.FAILED:
        return _forward(record, saga, limit, now)
    if record.status == StepStatus.RUNNING:
        return record.but(attempt_limit=limit, reconciled=False)
    return record


def is_stopped(x: Snapshot, record: Record) -> bool:
    """It is what the execution stopped at: of a group that failed, each branch that did."""
    if record.path == x.failing_path or (record.status == StepStatus.RUNNING and not record.in_queue):
        return True
    return record.status == StepStatus.FAILED and not x.unwinding and x.failing_path != "" and _beside(x, record)


def _beside(x: Snapshot, record: Record) -> bool:
    """It failed together with what the execution is stuck at: its error is one of those joined in the cause."""
    stopped = x.record(x.failing_path)
    return bool(stopped and x.error_text and x.error_text != stopped.error_text and record.path in x.error_text)


def _forward(record: Record, saga: Saga[Any] | None, limit: int, now: datetime) -> Record:
    """A failed record waits again: a gate with a new deadline, a child that failed makes room for another."""
    waiting = {"status": StepStatus.WAITING, "finished_at": None, "error_text": None}
    if record.kind in ("wait", "approval"):
        timeout = getattr(saga.node(record.path), "timeout", None) if saga else None
        due = None if timeout is None else now + timedelta(seconds=timeout)
        return record.but(**waiting, due_at=due, choice="", output_text=None)
    if record.kind == "child":
        return record.but(**waiting, child_id=None, owes=False, may_have_happened=False, choice="")
    return record.but(status=StepStatus.WAITING, due_at=now, attempt_limit=limit, finished_at=None)


def later_deadline(x: Snapshot, saga: Saga[Any] | None, now: datetime) -> datetime | None:
    """The execution's deadline; one that has passed begins anew, or the next drive would stop at it again."""
    if x.deadline_at is None or x.deadline_at > now:
        return x.deadline_at
    timeout = saga.timeout if saga else None
    return None if timeout is None else now + timedelta(seconds=timeout)
