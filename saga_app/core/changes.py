"""What a decision changes: from one picture to the next. Written by the store in one transaction."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from saga_app.core.decide import decide
from saga_app.core.decisions import (
    BeginUnwind,
    Change,
    ChildFreed,
    ChildStuck,
    ChildUndone,
    Consume,
    Cut,
    Decision,
    EndChild,
    EnqueueCompensation,
    Exhaust,
    Expire,
    FailCompensation,
    FailStep,
    Finish,
    Park,
    PassMilestone,
    PassPivot,
    Release,
    Stick,
    Suspend,
    TimeOut,
    TurnOver,
)
from saga_app.core.ending import begin_unwind, expire, finish, stick
from saga_app.core.gating import child_ended, child_stuck, child_undone, consume, exhaust, time_out
from saga_app.core.outcomes import cut_short, lost, silence, unanswered
from saga_app.core.snapshot import Record
from saga_app.core.status import CompensationStatus, Status, StepStatus
from saga_app.core.tree import name_of

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Snapshot


def advance(saga: Saga[Any], snapshot: Snapshot, now: datetime) -> tuple[Snapshot, Decision]:
    """Apply changes until something else is decided: an arrangement, a message, a call, or a release.

    Terminates: a pivot is passed once, an unwind begins once, a step or a compensation fails once, a gate opens once.
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
        case Cut(paths):
            return _cut(saga, x, paths, now)
        case Expire():
            return expire(x)
        case BeginUnwind(cause, paths):
            return begin_unwind(saga, x, cause, now, paths)
        case FailCompensation() | EnqueueCompensation() | ChildUndone() | ChildStuck() | ChildFreed():
            return _backwards(x, decision, now)
    return _forwards(saga, x, decision, now)


def _forwards(saga: Saga[Any], x: Snapshot, decision: Change, now: datetime) -> Snapshot:
    """The picture after a change of one record on the way forward."""
    match decision:
        case PassMilestone(path):
            return _milestone(x, path, now)
        case FailStep(path):
            return x.with_record(path, **unanswered(x.known(path), saga.step(path), now))
        case Exhaust(path, turns):
            return exhaust(x, path, turns, now)
        case TurnOver(path, turn):
            return x.with_record(path, turn=turn)
        case Consume(path, signal):
            return consume(saga, x, path, signal, now)
        case TimeOut(path):
            return time_out(saga, x, path, now)
        case EndChild(path, cut):
            return child_ended(saga, x, path, now, cut=cut)
    raise TypeError(decision)


def _backwards(x: Snapshot, decision: Change, now: datetime) -> Snapshot:
    """The picture after a change that an unwind decides."""
    match decision:
        case FailCompensation(path):
            return fail_compensation(x, path)
        case EnqueueCompensation(path, queue):
            waits = {"compensation_status": CompensationStatus.WAITING, "compensation_due_at": None}
            return x.with_record(path, queue=queue, row_due_at=now, **waits)
        case ChildUndone(path):
            return child_undone(x, path, now)
        case ChildStuck(path):
            return child_stuck(x, path)
        case ChildFreed(path):
            return x.with_record(path, compensation_status=CompensationStatus.RUNNING, compensation_error_text=None)
    raise TypeError(decision)


def fail_compensation(x: Snapshot, path: str) -> Snapshot:
    """The compensation's attempts are used up."""
    record = x.known(path)
    return x.with_record(
        path,
        compensation_status=CompensationStatus.FAILED,
        compensation_due_at=None,
        compensation_error_text=silence(record) or record.compensation_error_text,
        attempts=lost(record),
    )


def _milestone(x: Snapshot, path: str, now: datetime) -> Snapshot:
    record = Record(seq=x.next_seq, path=path, name=name_of(path), kind="milestone")
    record = record.but(status=StepStatus.COMPLETED, started_at=now, finished_at=now)
    return x.but(records=x.records.and_also(record), next_seq=x.next_seq + 1)


def _cut(saga: Saga[Any], x: Snapshot, paths: tuple[str, ...], now: datetime) -> Snapshot:
    """A sibling that had not begun for good did nothing more: it is skipped, or failed where it had been tried."""
    return cut_short(saga, x, [x.known(path) for path in paths], now)


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
            return finish(x, status, now)
