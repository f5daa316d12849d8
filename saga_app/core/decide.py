"""What next? Given what is true, and nothing else (design §4, §8).

Level-triggered: it does not matter what woke the execution, so recovery is one more call of the same function.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from saga_app.core.decisions import (
    BeginUnwind,
    CallAtomic,
    Decision,
    FailStep,
    Finish,
    Intend,
    Park,
    PassPivot,
    Reconcile,
    Stick,
    Suspend,
)
from saga_app.core.status import CompensationStatus, Status, StepStatus, StuckReason, UnwindCause
from saga_app.core.unwind import Action, backwards, plan_unwind

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot
    from saga_app.core.steps import Step

MOST_DEATHS = 3  # claims in a row after which an execution is not handed to another worker to die on
SHORTEST_WAIT, LONGEST_WAIT = 30.0, 300.0  # seconds for a worker that knows the saga

DONE = (StepStatus.COMPLETED, StepStatus.SKIPPED)

# What may be done while a worker that lost the execution may still be inside a step's body: the same call with the same
# key, and what follows when that has returned. Nothing is asked, undone, given up or shown to an operator, and nothing
# gives the claim back (the next one would not know), before what it does has landed or never will (design §8.8).
HARMLESS = Intend | CallAtomic | PassPivot | Finish


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
    quiet_at = snapshot.quiet_at
    if quiet_at is None or quiet_at <= now or isinstance(decision, HARMLESS):
        return decision
    return Park(max(quiet_at, decision.until) if isinstance(decision, Park) else quiet_at)


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
        if record.status in running or record.compensation_status in running:
            return record.path
    lines = plan_unwind(saga, x) if x.unwinding else ()
    return next((line.path for line in lines if line.action in (Action.COMPENSATE, Action.RECONCILE)), "")


def fits(saga: Saga[Any], snapshot: Snapshot) -> bool:
    """Whether what ran fits the definition: every record is a step of it, and no step comes before one that ran."""
    if saga.fingerprint == snapshot.fingerprint or snapshot.unwinding:
        return True  # backwards, the plan itself says which handler is gone
    ran = [record.path for record in sorted(snapshot.records, key=lambda r: r.seq)]
    return ran == [step.name for step in saga.steps][: len(ran)]


def _forwards(saga: Saga[Any], x: Snapshot, now: datetime) -> Decision:
    """Requests first, then whether it may go on at all, then the first node that is not done."""
    if x.cancel_requested_at and x.pivoted_at is None:
        return _close(saga, x, UnwindCause.CANCEL)
    if x.suspend_requested_at:
        return Suspend()
    if x.not_before and x.not_before > now and not x.records:
        return Park(x.not_before)
    if not fits(saga, x):
        return Stick(StuckReason.DEFINITION_CHANGED)
    return _first_open(saga, x, now)


def _first_open(saga: Saga[Any], x: Snapshot, now: datetime) -> Decision:
    for node in saga.nodes:
        if node.kind == "pivot":
            if x.pivoted_at is None:
                return PassPivot()
            continue
        step, record = node, x.record(node.name)
        if record is None:
            return _begin(step, x)
        if record.status in DONE or (record.status == StepStatus.FAILED and not step.required):
            continue
        if record.status == StepStatus.FAILED:
            return _failed(saga, x, record)
        return _open(saga, x, step, record, now)
    return Finish(Status.COMPLETED)


def _begin(step: Step[..., Any], x: Snapshot) -> Decision:
    """An atomic step needs no intent, unless workers have died here: then its attempt is counted first."""
    return CallAtomic(step.name) if step.atomic and x.deaths <= 1 else Intend(step.name)


def _open(saga: Saga[Any], x: Snapshot, step: Step[..., Any], record: Record, now: datetime) -> Decision:
    """A step that has begun and not ended. `running` means here: orphaned or timed out, so its outcome is unknown."""
    if record.status == StepStatus.WAITING:
        return Park(record.due_at) if record.due_at and record.due_at > now else _begin(step, x)
    if step.reconciler and not record.reconciled:
        return Reconcile(step.name)
    if record.attempt < record.attempt_limit:
        return Intend(step.name)
    last_word = x.pivoted_at is not None or saga.before_pivot(step.name)
    if last_word and not step.atomic and step.required:
        return Stick(StuckReason.OUTCOME_UNKNOWN, step.name)  # nothing is guessed where nothing can be undone
    return FailStep(step.name)


def _failed(saga: Saga[Any], x: Snapshot, record: Record) -> Decision:
    """A required step has failed for good."""
    if x.pivoted_at is not None:
        return Stick(StuckReason.FAILED_PAST_PIVOT, record.path)
    if saga.on_failure == "hold":
        return Stick(StuckReason.STEP_FAILED, record.path)
    return _close(saga, x, UnwindCause.FAILURE)


def _close(saga: Saga[Any], x: Snapshot, cause: UnwindCause) -> Decision:
    """What must be over before the write that begins an unwind: an orphan is asked about."""
    for record in x.records:
        step = saga.step(record.path)
        if record.status == StepStatus.RUNNING and step and step.reconciler and not record.reconciled:
            return Reconcile(record.path)
    return BeginUnwind(cause)
