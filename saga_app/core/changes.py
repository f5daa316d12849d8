"""What a decision changes: from one picture to the next. Written by the store in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from saga_app.core.decide import decide
from saga_app.core.decisions import (
    BeginUnwind,
    Change,
    Decision,
    FailCompensation,
    FailStep,
    Finish,
    Park,
    PassPivot,
    Release,
    Stick,
    Suspend,
)
from saga_app.core.failures import ErrorInfo, fingerprint
from saga_app.core.outcomes import Direction, begun, lost, settle_open, silence, unanswered
from saga_app.core.snapshot import Record
from saga_app.core.status import (
    CompensationStatus,
    RollbackStatus,
    Status,
    StepStatus,
    StuckReason,
    UnwindCause,
)
from saga_app.core.unwind import owed

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
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


def advance(saga: Saga[Any], snapshot: Snapshot, now: datetime) -> tuple[Snapshot, Decision]:
    """Apply changes until something else is decided: a call, or a release.

    Terminates: a pivot is passed once, an unwind begins once, and a step or a compensation fails once.
    """
    while True:
        decision = decide(saga, snapshot, now)
        if not isinstance(decision, Change):
            return snapshot, decision
        snapshot = change(saga, snapshot, decision, now)


def change(saga: Saga[Any], x: Snapshot, decision: Change, now: datetime) -> Snapshot:
    """The picture after a decision that is a change only."""
    match decision:
        case PassPivot():
            return x.but(pivoted_at=now)
        case FailStep(path):
            step = saga.step(path)
            return x.with_record(path, **unanswered(x.known(path), step, now))
        case FailCompensation(path):
            record = x.known(path)
            return x.with_record(
                path,
                compensation_status=CompensationStatus.FAILED,
                compensation_due_at=None,
                compensation_error_text=silence(record) or record.compensation_error_text,
                attempts=lost(record),
            )
        case BeginUnwind(cause):
            return begin_unwind(saga, x, cause, now)


def intend(x: Snapshot, step: Step[..., Any], call: Call | None, now: datetime) -> Snapshot:
    """The picture after the intent of a forward attempt: counted before the body is called.

    Args:
        x: the picture before.
        step: the step.
        call: what the first attempt stores; None where it is stored.
        now: the database's moment.
    """
    x = bound(x.but(status=Status.RUNNING, started_at=x.started_at or now), step, call, now)
    record = x.known(step.name)
    orphaned = record.status == StepStatus.RUNNING and record.attempt > 0
    return x.with_record(
        step.name,
        status=StepStatus.RUNNING,
        attempt=record.attempt + 1,
        reconciled=False,
        due_at=None,
        may_have_happened=record.may_have_happened or (orphaned and not step.atomic),
        attempts=begun(record, Direction.FORWARD, record.attempt + 1, now),
    )


def bound(x: Snapshot, step: Step[..., Any], call: Call | None, now: datetime) -> Snapshot:
    """The picture with the step's record, no attempt counted yet, and what the call stores, if it is made."""
    if x.record(step.name) is None:
        record = Record(
            seq=x.next_seq,
            path=step.name,
            name=step.name,
            attempt_limit=step.policy.attempts,
            owes=step.compensation is not None and step.compensated,
            started_at=now,
        )
        x = x.but(records=x.records.and_also(record), next_seq=x.next_seq + 1)
    if call is None:
        return x
    return x.with_record(step.name, arguments_text=call.arguments_text, idempotency_key=call.key)


def intend_compensation(x: Snapshot, step: Step[..., Any], now: datetime) -> Snapshot:
    """The picture after the intent of a compensation's attempt."""
    record = x.known(step.name)
    limit = record.compensation_limit or (step.compensation.policy.attempts if step.compensation else 1)
    attempt = record.compensation_attempt + 1
    return x.but(status=Status.COMPENSATING).with_record(
        step.name,
        compensation_status=CompensationStatus.RUNNING,
        compensation_attempt=attempt,
        compensation_limit=limit,
        compensation_due_at=None,
        compensation_started_at=record.compensation_started_at or now,
        attempts=begun(record, Direction.COMPENSATE, attempt, now),
    )


def begin_unwind(saga: Saga[Any] | None, x: Snapshot, cause: UnwindCause, now: datetime) -> Snapshot:
    """The picture after the write that begins an unwind. `unwinding_at` is set here, once."""
    x = settle_open(saga, x, now)
    return _because(x, culprit(saga, x)).but(
        status=Status.COMPENSATING,
        stuck_reason=StuckReason.NONE,
        rollback_status=RollbackStatus.NONE,
        unwinding_at=now,
        unwind_cause=cause,
        due_at=now,
    )


def culprit(saga: Saga[Any] | None, x: Snapshot) -> str:
    """The path of the required step that failed, or nothing."""
    for record in reversed(x.records):
        step = saga.step(record.path) if saga else None
        if record.status == StepStatus.FAILED and (step is None or step.required):
            return record.path
    return ""


def _because(x: Snapshot, path: str) -> Snapshot:
    """Keep why it failed; an error that is there already stays (what became of the rollback is another fact)."""
    record = x.record(path)
    if record is None or record.error_text is None:
        return x.but(failing_path=path or x.failing_path)
    info = ErrorInfo.from_json(record.error_text)
    cause = fingerprint(x.saga, path, Direction.FORWARD, info)
    return x.but(error_text=x.error_text or record.error_text, cause=x.cause or cause, failing_path=path)


def release(x: Snapshot, decision: Release, now: datetime) -> Snapshot:
    """The picture after a release. What is due then is `due_at`: None where only somebody else can go on."""
    match decision:
        case Park(until):
            return x.but(status=Status.COMPENSATING if x.unwinding else Status.WAITING, due_at=until)
        case Suspend():
            return x.but(status=Status.SUSPENDED, suspend_requested_at=None, due_at=None)
        case Stick(reason, path):
            return stick(x, reason, path)
        case Finish(status):
            return finish(_failed_there(x), status, now)


def stick(x: Snapshot, reason: StuckReason, path: str) -> Snapshot:
    """Parked until an operator acts. The cause that groups it is that of what stopped it."""
    x = _halted_because(x, path) if x.unwinding else _because(x, path)
    return x.but(
        status=Status.STUCK,
        stuck_reason=reason,
        rollback_status=RollbackStatus.STUCK if x.unwinding else RollbackStatus.NONE,
        due_at=None,
    )


def _halted_because(x: Snapshot, path: str) -> Snapshot:
    record = x.record(path)
    if record is None or record.compensation_error_text is None:
        return x.but(failing_path=path)
    info = ErrorInfo.from_json(record.compensation_error_text)
    return x.but(failing_path=path, cause=fingerprint(x.saga, path, Direction.COMPENSATE, info))


def _failed_there(x: Snapshot) -> Snapshot:
    """Name again the step whose failure began the unwind, where a compensation has stopped it meanwhile."""
    failed = (r for r in reversed(x.records) if r.status == StepStatus.FAILED and r.error_text == x.error_text)
    record = next(failed, None) if x.unwinding and x.error_text is not None else None
    if record is None:
        return x.but(failing_path="", cause="") if x.unwinding else x
    info = ErrorInfo.from_json(x.error_text or "")
    return x.but(failing_path=record.path, cause=fingerprint(x.saga, record.path, Direction.FORWARD, info))


def finish(x: Snapshot, status: Status, now: datetime) -> Snapshot:
    """The end. Terminal means that the rollback is decided too."""
    rollback = RollbackStatus.NONE
    if x.unwinding:
        undone = any(owed(record) for record in x.records)
        rollback = RollbackStatus.COMPLETED if undone else RollbackStatus.NOT_APPLICABLE
    return x.but(status=status, rollback_status=rollback, suspend_requested_at=None, due_at=None, finished_at=now)
