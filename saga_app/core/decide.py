"""What next? Given what is true, and nothing else (design §4, §8).

Level-triggered: it does not matter what woke the execution, so recovery is one more call of the same function.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from saga_app.core.backwards import backwards
from saga_app.core.closing import closing
from saga_app.core.decisions import (
    BeginUnwind,
    CallAtomic,
    Consume,
    Cut,
    Decision,
    EndChild,
    Enqueue,
    Expire,
    Finish,
    Intend,
    Open,
    Park,
    PassMilestone,
    PassPivot,
    Spawn,
    Stick,
    Suspend,
    TurnOver,
)
from saga_app.core.fitting import fits
from saga_app.core.results import Done, Failed, Go, Halted, earliest, latest
from saga_app.core.status import CompensationStatus, Status, StepStatus, StuckReason, UnwindCause
from saga_app.core.unwind import Action, plan_unwind
from saga_app.core.walk import Walk

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Snapshot

MOST_DEATHS = 3  # claims in a row after which an execution is not handed to another worker to die on
SHORTEST_WAIT, LONGEST_WAIT = 30.0, 300.0  # seconds for a worker that knows the saga

# What may be done while a worker that lost the execution may still be inside a step's body: the same call with the same
# key, and what follows when that has returned. Nothing is asked, undone, given up or shown to an operator, and nothing
# gives the claim back (the next one would not know), before what it does has landed or never will (design §8.8).
HARMLESS = (
    Intend | CallAtomic | PassPivot | PassMilestone | Finish | Enqueue | Open | Spawn | Consume | TurnOver | EndChild
)


def decide(saga: Saga[Any], snapshot: Snapshot, now: datetime) -> Decision:
    """What to do next about an execution.

    Args:
        saga: its definition.
        snapshot: the facts, as read after `wakes`.
        now: the database's moment.

    Returns:
        One decision. Total: every execution that is not terminal, stuck or suspended has one.
    """
    decision = _at_once(saga, snapshot, now)
    if isinstance(decision, HARMLESS):
        return decision
    if isinstance(decision, Stick) and _is_under_way(snapshot):
        decision = _until_it_comes(snapshot)  # no operator, who might unwind it, while a worker is in a queued step
    if isinstance(decision, Park):
        quiet_at, wanted = snapshot.quiet_at, decision.until
    else:  # which nobody who has lost a queued step may be surprised by either
        quiet_at, wanted = latest((snapshot.quiet_at, *(one.row_quiet_at for one in snapshot.records))), None
    if quiet_at is None or quiet_at <= now:
        return decision
    return Park(max(quiet_at, wanted) if wanted else quiet_at)


def _until_it_comes(x: Snapshot) -> Decision:
    """What is waited for comes from others. While a pause is asked for nobody claims a queued step: then it pauses."""
    return Suspend() if x.suspend_requested_at else Park(None)


def _is_under_way(x: Snapshot) -> bool:
    return any(one.in_queue and one.status == StepStatus.RUNNING for one in x.records)


def _at_once(saga: Saga[Any], snapshot: Snapshot, now: datetime) -> Decision:
    """What to do next, if no worker that lost this execution can be inside a body any more."""
    if snapshot.deaths > MOST_DEATHS:
        return Stick(StuckReason.WORKER_LOST, _open_path(saga, snapshot))
    return backwards(saga, snapshot, now) if snapshot.unwinding else _forwards(saga, snapshot, now)


def decide_unknown(snapshot: Snapshot, now: datetime, grace: float) -> Decision:
    """What to do about an execution whose saga this worker does not know (an old worker in a rolling deploy).

    Args:
        snapshot: the facts; `definition_missing_since` says when this was first seen.
        now: the database's moment.
        grace: seconds for which another worker may know it.

    Returns:
        Park, for 30 seconds first, each time twice as long, 5 minutes at most and not beyond the grace; then Stick.
    """
    if snapshot.suspend_requested_at:
        return Suspend()
    waited = (now - (snapshot.definition_missing_since or now)).total_seconds()
    if waited >= grace:
        return Stick(StuckReason.DEFINITION_MISSING)
    doubled = waited + SHORTEST_WAIT  # each wait is as long as all before it and the first: 30, 60, 120, …
    return Park(now + timedelta(seconds=min(doubled, LONGEST_WAIT, grace - waited)))


def _open_path(saga: Saga[Any], x: Snapshot) -> str:
    """Where it was when its workers died."""
    running = (StepStatus.RUNNING, CompensationStatus.RUNNING)
    for record in x.records:
        if not record.in_queue and (record.status in running or record.compensation_status in running):
            return record.path
    lines = plan_unwind(saga, x) if x.unwinding else ()
    calls = (line for line in lines if line.action in (Action.COMPENSATE, Action.RECONCILE))
    return next((line.path for line in calls if not line.record.in_queue), "")


def _forwards(saga: Saga[Any], x: Snapshot, now: datetime) -> Decision:
    """Requests first, then whether it may go on at all, then the first node that is not done."""
    if x.cancel_requested_at and x.pivoted_at is None:
        return _close(saga, x, UnwindCause.CANCEL)
    if x.suspend_requested_at:
        return Suspend()
    if x.not_before and x.not_before > now and not x.records:
        return Park(x.not_before)
    if not fits(saga, x, now):
        return Stick(StuckReason.DEFINITION_CHANGED)
    if x.deadline_at is not None and x.deadline_at <= now:
        return _failed(saga, x, ()) if x.error_text is not None else Expire()
    return _first_open(saga, x, now)


def _first_open(saga: Saga[Any], x: Snapshot, now: datetime) -> Decision:
    result = Walk(saga, x, now).all()
    match result:
        case Done():
            return Finish(Status.COMPLETED)
        case Failed(paths):
            return _failed(saga, x, paths)
        case Go(decision) | Halted(decision):
            return decision
    return Park(earliest((result.until, x.deadline_at)))


def _failed(saga: Saga[Any], x: Snapshot, paths: tuple[str, ...]) -> Decision:
    """It has failed for good: at those records, or because its own deadline has passed."""
    path = paths[0] if paths else ""
    if x.pivoted_at is not None:
        return Stick(StuckReason.FAILED_PAST_PIVOT, path)
    if saga.on_failure == "hold":
        return Stick(StuckReason.STEP_FAILED, path)
    return _close(saga, x, UnwindCause.FAILURE, paths)


def _close(saga: Saga[Any], x: Snapshot, cause: UnwindCause, paths: tuple[str, ...] = ()) -> Decision:
    """What must be over before the write that begins an unwind. What waits in a queue does not begin meanwhile."""
    waits, decision = closing(saga, x, x.records)
    if decision is not None:
        return decision
    if not waits:
        return BeginUnwind(cause, paths)
    queued = tuple(one.path for one in x.records if one.status == StepStatus.QUEUED)
    if queued:
        return Cut(queued)
    return _until_it_comes(x)
