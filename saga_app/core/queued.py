"""What to do with one queued step that a worker has claimed, and what its end means for its group (design §8.10).

Looks at that record and the execution's own columns only, as long as nothing has failed: a group may be large.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from saga_app.core.backwards import compensate
from saga_app.core.decisions import (
    CallAtomic,
    Compensate,
    Cut,
    FailCompensation,
    FailStep,
    Intend,
    Park,
    Reconcile,
    Stick,
)
from saga_app.core.opening import opened
from saga_app.core.outcomes import cut_short, out_of_queue
from saga_app.core.results import Go
from saga_app.core.status import UNSETTLED, CompensationStatus, StepStatus, StuckReason
from saga_app.core.unwind import handler_of
from saga_app.core.walk import Walk

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot

MOST_DEATHS = 3

Row = Intend | CallAtomic | Reconcile | Compensate | FailStep | FailCompensation | Park | Stick | Cut
"""Stick: it leaves the queue as it is, and the execution decides. Cut: it is refused, and settled."""


def decide_row(saga: Saga[Any], x: Snapshot, path: str, now: datetime) -> Row:
    """What to do with a queued step.

    Args:
        saga: the definition.
        x: the execution's columns, and this record; all of them where one has failed.
        path: the record's path; it is in the queue, and the execution is neither stopped nor asked to pause.
        now: the database's moment.
    """
    record = x.known(path)
    decision = _undo(saga, record, now) if x.unwinding else _forwards(saga, x, record, now)
    quiet_at = record.row_quiet_at
    if quiet_at is None or quiet_at <= now or isinstance(decision, Intend | CallAtomic | Park):
        return decision
    return Park(quiet_at)  # whoever lost it may still be inside: until then only the same call again


def _undo(saga: Saga[Any], record: Record, now: datetime) -> Row:
    if record.compensation_status not in (CompensationStatus.WAITING, CompensationStatus.RUNNING):
        return Cut((record.path,))
    if handler_of(saga, record) is None:
        return Stick(StuckReason.DEFINITION_CHANGED, record.path)
    return compensate(record, now)


def _forwards(saga: Saga[Any], x: Snapshot, record: Record, now: datetime) -> Row:
    step = saga.step(record.path)
    if record.status not in UNSETTLED:
        return Cut((record.path,))  # it is over: whatever left it in the queue, it is never called again
    if step is None:
        return Stick(StuckReason.DEFINITION_CHANGED, record.path)
    orphan = record.status == StepStatus.RUNNING
    if orphan and record.row_deaths > MOST_DEATHS:  # asking kills whoever asks: that is no answer
        record = record.but(reconciled=True)
    if (x.cancel_requested_at is not None and x.pivoted_at is None) or _is_doomed(saga, x, record, now):
        asks = orphan and step.reconciler is not None and not record.reconciled
        return Reconcile(record.path) if asks else Cut((record.path,))
    if record.row_due_at is not None and record.status == StepStatus.QUEUED and record.row_due_at > now:
        return Park(record.row_due_at)
    decision = opened(saga, x, step, record, queued=False)
    if isinstance(decision, CallAtomic) and record.row_deaths > 1:
        return Intend(record.path)  # workers have died here: its attempt is counted first
    return decision  # type: ignore[return-value]  # of a step that has a record: a call, its failure, or a stop


def _is_doomed(saga: Saga[Any], x: Snapshot, record: Record, now: datetime) -> bool:
    """Another branch of its group has failed: whoever runs is let finish, and nobody begins."""
    if len(x.records) == 1:
        return False
    walk = Walk(saga, x, now)
    walk.all()
    return record.path in walk.doomed


def leave(x: Snapshot, path: str, now: datetime) -> Snapshot:
    """The picture with the step out of its queue, where its execution decides what becomes of it."""
    record = x.known(path)
    if record.status == StepStatus.QUEUED:
        return x.with_record(path, status=StepStatus.WAITING, due_at=now, **out_of_queue(record))
    return x.with_record(path, **out_of_queue(record))


def come_to_rest(x: Snapshot, path: str) -> Snapshot:
    """The picture after a call's outcome: what is to be tried again waits in the queue, what is over has left it."""
    record = x.known(path)
    if x.unwinding:
        if record.compensation_status == CompensationStatus.WAITING:
            return x.with_record(path, row_due_at=record.compensation_due_at, row_holder=None)
        if record.compensation_status == CompensationStatus.RUNNING:
            return x
    elif record.status == StepStatus.WAITING:
        return x.with_record(path, status=StepStatus.QUEUED, row_due_at=record.due_at, due_at=None, row_holder=None)
    elif record.status in (StepStatus.RUNNING, StepStatus.QUEUED):
        return x
    return x.with_record(path, row_due_at=None, row_holder=None)


def refuse(saga: Saga[Any], x: Snapshot, path: str, now: datetime) -> Snapshot:
    """The picture with a claimed step settled and not called (design §8.10): the execution goes another way."""
    return cut_short(saga, x, [x.known(path)], now)


def cut_group(saga: Saga[Any], x: Snapshot, now: datetime) -> Snapshot:
    """The picture after a queued step failed for good: its group's siblings in the queue begin no more.

    What is not in the queue is left to whoever drives the execution, which may be at it this moment.

    Args:
        saga: the definition.
        x: all facts, the failure among them.
        now: the database's moment.
    """
    while not x.unwinding:
        result = Walk(saga, x, now).all()
        if not isinstance(result, Go) or not isinstance(result.decision, Cut):
            break
        queued = [record for path in result.decision.paths if (record := x.known(path)).in_queue]
        if not queued:
            break
        x = cut_short(saga, x, queued, now)
    return x
