"""What the unwind does next: the first line of its plan that can be done now (design §9.3)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from saga_app.core.decisions import (
    AskChild,
    ChildFreed,
    ChildStuck,
    ChildUndone,
    Compensate,
    Decision,
    EndChild,
    EnqueueCompensation,
    FailCompensation,
    Finish,
    Park,
    Reconcile,
    Stick,
    Suspend,
    UndoChild,
)
from saga_app.core.status import (
    TERMINAL,
    CompensationStatus,
    Status,
    StuckReason,
    UnwindCause,
)
from saga_app.core.tree import Ahead
from saga_app.core.unwind import QUIET, Action, Planned, lines

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot


def backwards(saga: Saga[Any], snapshot: Snapshot, now: datetime) -> Decision:
    """What the unwind does next.

    A record that is not through yet holds back what started before it, but what stands in another branch of one
    group. It is stuck only when nothing can be done and nothing is under way.
    """
    if snapshot.suspend_requested_at:
        return Suspend()
    first: Planned | None = None
    waits: list[datetime | None] = []
    ahead = Ahead(saga)
    for line in lines(saga, snapshot):
        if line.action in QUIET or line.action is Action.BLOCKED:
            continue
        if ahead.holds_back(line.path):
            continue
        if line.action is Action.HALT:
            first = first or line
        else:
            decision = _now(saga, snapshot, line, now)
            if not isinstance(decision, Park):
                return decision
            waits.append(decision.until)
        ahead.add(line.path)
    if waits:
        return Park(min((one for one in waits if one is not None), default=None))
    if first is not None:
        return Stick(StuckReason(first.reason), first.path)
    return Finish(Status.FAILED if snapshot.unwind_cause == UnwindCause.FAILURE else Status.CANCELLED)


def _now(saga: Saga[Any], x: Snapshot, line: Planned, now: datetime) -> Decision:
    """What can be done about that line at this moment; Park: nothing, it waits or is under way."""
    if line.action is Action.RECONCILE:
        return Reconcile(line.path)
    if line.action is Action.UNDO_CHILD:
        return _undo_child(x, line.record)
    if line.record.in_queue:
        return Park(None)
    decision = compensate(line.record, now)
    step = saga.step(line.path)
    if isinstance(decision, Compensate) and step is not None and step.queue is not None:
        return EnqueueCompensation(line.path, step.queue)
    return decision


def compensate(record: Record, now: datetime) -> Compensate | FailCompensation | Park:
    """A compensation that is due, waits for its next attempt, or has none left."""
    due = record.compensation_due_at
    if record.compensation_status == CompensationStatus.WAITING and due is not None and due > now:
        return Park(due)
    if record.compensation_attempt and record.compensation_attempt >= record.compensation_limit:
        return FailCompensation(record.path)
    return Compensate(record.path)


def _undo_child(x: Snapshot, record: Record) -> Decision:
    """A child is undone by its own unwind; one that cannot be, halts until an operator has acted on it."""
    kid = x.kids[record.child_id]  # type: ignore[index]  # a child that is owed was born
    if kid.status in TERMINAL and not record.outcome_known:
        return EndChild(record.path)  # an operator began the unwind before it had ended: now it has
    if kid.halts:
        return ChildStuck(record.path)
    if record.compensation_status == CompensationStatus.FAILED:
        return ChildFreed(record.path)
    if kid.status == Status.COMPLETED:
        return UndoChild(record.path)
    if kid.status in TERMINAL:
        return ChildUndone(record.path)
    return Park(None) if kid.is_asked else AskChild(record.path)
