"""What the beginning of a call makes of its record: an intent, a place in a queue, an open gate, a child's birth."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from saga_app.core.outcomes import Direction, begun
from saga_app.core.snapshot import Record
from saga_app.core.status import CompensationStatus, Status, StepStatus
from saga_app.core.tree import name_of

if TYPE_CHECKING:
    from saga_app.core.snapshot import Snapshot
    from saga_app.core.steps import Step


@dataclass(frozen=True, slots=True)
class Call:
    """What the intent of a first attempt stores once, for every attempt, resume and compensation.

    Attributes:
        arguments_text: the bound arguments, encoded.
        key: the idempotency key of the forward call.
    """

    arguments_text: str
    key: str


def intend(x: Snapshot, step: Step[..., Any], path: str, call: Call | None, now: datetime) -> Snapshot:
    """The picture after the intent of a forward attempt: counted before the body is called.

    Args:
        x: the picture before.
        step: the step.
        path: where it is called.
        call: what the first attempt stores; None where it is stored.
        now: the database's moment.
    """
    return attempt(bound(_going(x, now), step, path, call, now), step, path, now)


def attempt(x: Snapshot, step: Step[..., Any], path: str, now: datetime) -> Snapshot:
    """The picture with one more forward attempt begun."""
    record = x.known(path)
    return x.with_record(
        path,
        status=StepStatus.RUNNING,
        attempt=record.attempt + 1,
        reconciled=False,
        due_at=None,
        may_have_happened=_may_have_happened(record, step),
        attempts=begun(record, Direction.FORWARD, record.attempt + 1, now),
    )


def _may_have_happened(record: Record, step: Step[..., Any]) -> bool:
    """Also where the last attempt is an orphan: what that did nobody knows, whatever the next one says."""
    orphaned = record.status == StepStatus.RUNNING and record.attempt > 0
    return record.may_have_happened or (orphaned and not step.atomic and not step.pure)


def bound(x: Snapshot, step: Step[..., Any], path: str, call: Call | None, now: datetime) -> Snapshot:
    """The picture with the step's record, no attempt counted yet, and what the call stores, if it is made."""
    x = _with_new(
        x,
        path,
        kind=step.kind,
        attempt_limit=step.policy.attempts,
        owes=step.compensation is not None and step.compensated,
        started_at=now,
    )
    if call is None:
        return x
    return x.with_record(path, arguments_text=call.arguments_text, idempotency_key=call.key)


def queue_up(x: Snapshot, step: Step[..., Any], path: str, call: Call | None, now: datetime) -> Snapshot:
    """The picture with the step in its queue, for any worker that serves it."""
    x = bound(_going(x, now), step, path, call, now)
    queued = {"status": StepStatus.QUEUED, "due_at": None, "queue": step.queue or x.queue, "row_due_at": now}
    return x.with_record(path, may_have_happened=_may_have_happened(x.known(path), step), **queued)


def open_gate(x: Snapshot, path: str, kind: str, call: Call | None, due: datetime | None, now: datetime) -> Snapshot:
    """The picture with an open gate, or a sleep begun. The deadline is fixed here, once."""
    x = _with_new(_going(x, now), path, kind=kind, status=StepStatus.WAITING, started_at=now)
    stored = {"arguments_text": call.arguments_text} if call else {}
    return x.with_record(path, status=StepStatus.WAITING, due_at=due, attempt=1, **stored)


def spawn(x: Snapshot, path: str, call: Call | None, child_id: UUID, now: datetime) -> Snapshot:
    """The picture with a child being born. `owes` is known when it has ended."""
    x = _with_new(_going(x, now), path, kind="child", status=StepStatus.WAITING, started_at=now)
    stored = {"arguments_text": call.arguments_text} if call else {}
    number = x.known(path).attempt + 1
    return x.with_record(
        path, status=StepStatus.WAITING, attempt=number, attempt_limit=number, child_id=child_id, due_at=None, **stored
    )


def intend_compensation(x: Snapshot, step: Step[..., Any], path: str, now: datetime) -> Snapshot:
    """The picture after the intent of a compensation's attempt."""
    record = x.known(path)
    limit = record.compensation_limit or (step.compensation.policy.attempts if step.compensation else 1)
    number = record.compensation_attempt + 1
    return x.but(status=Status.COMPENSATING).with_record(
        path,
        compensation_status=CompensationStatus.RUNNING,
        compensation_attempt=number,
        compensation_limit=limit,
        compensation_due_at=None,
        compensation_started_at=record.compensation_started_at or now,
        attempts=begun(record, Direction.COMPENSATE, number, now),
    )


def _going(x: Snapshot, now: datetime) -> Snapshot:
    return x.but(status=Status.RUNNING, started_at=x.started_at or now)


def _with_new(x: Snapshot, path: str, **facts: Any) -> Snapshot:
    """The picture with a record at that path; one that is there stays as it is."""
    if x.record(path) is not None:
        return x
    record = Record(seq=x.next_seq, path=path, name=name_of(path), **facts)
    return x.but(records=x.records.and_also(record), next_seq=x.next_seq + 1)
