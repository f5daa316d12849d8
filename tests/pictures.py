"""What Hypothesis makes up about executions: pictures that the tables would take, and how calls end.

Not every picture can come about; what must hold for all of them, holds for those that do (tests/core/search.py walks
through these).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from saga_app import Pivot, step
from saga_app.core import registry
from saga_app.core.failures import ErrorInfo
from saga_app.core.outcomes import Direction, How, Outcome
from saga_app.core.records import Records
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import (
    OUTCOMES,
    STOPPED,
    TERMINAL,
    CompensationStatus,
    RollbackStatus,
    Status,
    StepStatus,
    StuckReason,
    UnwindCause,
)
from saga_app.core.steps import Step

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

NAMES = ["alpha", "beta", "gamma", "delta"]
UNDO = [None, "plain", "plain", "wants the result", "wants the result"]

thorough = settings(max_examples=max(200, settings().max_examples))  # they cost little, and there are many
moments = st.sampled_from([NOW - HOUR, NOW, NOW + HOUR])
one_in_three = st.sampled_from([False, False, True])
errors = st.sampled_from(["OSError", "ValueError", "saga_app.core.errors.Undecodable"]).map(
    lambda name: ErrorInfo(name, "went wrong")
)
GOING_ON = [Status.RUNNING, Status.WAITING, Status.PENDING]
GOING_BACK = [Status.COMPENSATING]
MAY_WAIT = {Status.WAITING, Status.COMPENSATING}  # for something that has no due time
ENDED_BACK = [Status.FAILED, Status.CANCELLED]
OVER = [StepStatus.COMPLETED] * 4 + [StepStatus.FAILED] * 2 + [StepStatus.SKIPPED]
PERHAPS_OPEN = [StepStatus.RUNNING] * 3 + [StepStatus.WAITING] * 2 + [StepStatus.COMPLETED, StepStatus.FAILED]
NO_OUTCOME = [CompensationStatus.NONE] * 3 + [CompensationStatus.RUNNING, CompensationStatus.WAITING]


@st.composite
def shapes(draw: st.DrawFn) -> Saga[Any]:
    """A saga of any shape: what its steps do and take does not matter here, what they are does."""
    row: list[Any] = [draw(kinds(name)) for name in NAMES[: draw(st.sampled_from([1, 2, 2, 3, 3, 4]))]]
    if draw(st.booleans()):
        row.insert(draw(st.integers(0, len(row))), Pivot())
    with registry.isolate():
        return Saga("made-up", *row, on_failure=draw(st.sampled_from(["unwind", "unwind", "hold"])))


@st.composite
def kinds(draw: st.DrawFn, name: str) -> Step[..., Any]:
    """A step of any kind."""
    one_in_four = st.sampled_from([False, False, False, True])
    return _step(
        name,
        draw(one_in_four),
        not draw(one_in_four),
        draw(st.sampled_from(UNDO)),
        draw(st.booleans()),
        draw(st.integers(1, 3)),
    )


@cache
def _step(name: str, atomic: bool, required: bool, undo: str | None, asks: bool, attempts: int) -> Step[..., Any]:
    made = step(name=name, atomic=atomic, required=required, attempts=attempts)(lambda: 1)
    if undo:
        made.compensate(attempts=attempts)((lambda result: result) if undo == "wants the result" else (lambda: 1))
    if asks:
        made.reconcile(lambda: None)
    return made


@st.composite
def records(draw: st.DrawFn, one: Step[..., Any], seq: int, *, unwinding: bool, open_: bool = True) -> Record:
    """A step record. While unwinding every forward call has ended; else there is nothing about a compensation."""
    status = draw(st.sampled_from(OVER if unwinding or not open_ else PERHAPS_OPEN))
    completed, failed = status == StepStatus.COMPLETED, status == StepStatus.FAILED
    record = Record(
        seq=seq,
        path=one.name,
        name=one.name,
        status=status,
        attempt=draw(st.integers(1, 4)),
        attempt_limit=draw(st.integers(1, 4)),
        arguments_text="{}",
        output_text="1" if completed or (failed and draw(one_in_three)) else None,
        error_text=draw(errors).to_json() if failed else None,
        idempotency_key=f"saga:x:{one.name}:forward",
        owes=(one.compensation is not None) is not draw(one_in_three),
        may_have_happened=completed or draw(st.booleans()),
        outcome_known=draw(st.booleans()),
        reconciled=draw(st.booleans()),
        due_at=draw(moments) if status == StepStatus.WAITING else None,
        started_at=NOW - HOUR,
        finished_at=NOW if status in OVER else None,
    )
    owed = record.owes and (completed or (failed and record.may_have_happened))
    return draw(compensated(record)) if unwinding and owed else record


@st.composite
def compensated(draw: st.DrawFn, record: Record) -> Record:
    """The record with something about its compensation."""
    status = draw(st.sampled_from(NO_OUTCOME + sorted(OUTCOMES)))
    attempt = 0 if status == CompensationStatus.NONE else draw(st.integers(1, 3))
    wrong = status in (CompensationStatus.FAILED, CompensationStatus.WAITING)
    return record.but(
        compensation_status=status,
        compensation_attempt=attempt,
        compensation_limit=draw(st.integers(1, 3)) if attempt else 0,
        compensation_due_at=draw(moments) if status == CompensationStatus.WAITING else None,
        compensation_error_text=draw(errors).to_json() if wrong else None,
    )


@st.composite
def pictures(draw: st.DrawFn, saga: Saga[Any], statuses: list[Status] | None = None) -> Snapshot:
    """A picture of one of its executions, in one of those statuses, that every CHECK of the table would let pass."""
    status = draw(st.sampled_from(statuses or list(Status)))
    stuck, stopped = status == Status.STUCK, status in STOPPED
    unwinding = status in {*GOING_BACK, *ENDED_BACK} or ((stuck or status == Status.SUSPENDED) and draw(st.booleans()))
    steps = len(saga.steps)
    begun = max(draw(st.sampled_from(range(steps + 1))), draw(st.sampled_from(range(steps + 1))))
    wild = draw(one_in_three)  # more than one open step, which no execution has
    found = tuple(
        draw(records(one, seq, unwinding=unwinding, open_=wild or seq == begun - 1))
        for seq, one in enumerate(saga.steps[:begun])
    )
    pivoted = not unwinding and saga.has_pivot and draw(st.booleans())
    calm = draw(st.booleans())  # nobody asked for anything, no worker died
    return Snapshot(
        saga=saga.name,
        revision=saga.revision,
        fingerprint=saga.fingerprint if calm or draw(st.booleans()) else "another",
        status=status,
        rollback_status=_rollback(status, unwinding=unwinding),
        stuck_reason=draw(st.sampled_from([one for one in StuckReason if one])) if stuck else StuckReason.NONE,
        error_text=draw(st.none() | errors.map(ErrorInfo.to_json)),
        failing_path=draw(st.sampled_from(["", *[record.path for record in found]])),
        pivoted_at=NOW - HOUR if pivoted else None,
        unwinding_at=NOW - HOUR if unwinding else None,
        unwind_cause=draw(st.sampled_from([one for one in UnwindCause if one])) if unwinding else UnwindCause.NONE,
        cancel_requested_at=None if pivoted or calm else draw(st.none() | st.just(NOW)),
        suspend_requested_at=None if stopped or calm else draw(st.none() | st.just(NOW)),
        due_at=None if stopped else draw(moments),
        deaths=draw(st.integers(0, 1 if calm else 5)),
        next_seq=begun,
        finished_at=NOW if status in TERMINAL else None,
        records=Records(found),
        quiet_at=draw(moments) if draw(one_in_three) else None,
    )


def _rollback(status: Status, *, unwinding: bool) -> RollbackStatus:
    if status in ENDED_BACK:
        return RollbackStatus.COMPLETED
    return RollbackStatus.STUCK if status == Status.STUCK and unwinding else RollbackStatus.NONE


@st.composite
def outcomes(draw: st.DrawFn, path: str, direction: Direction | None = None) -> Outcome:
    """How a call of that step ends, in any way that a call of that direction can."""
    direction = direction or draw(st.sampled_from(Direction))
    how = draw(st.sampled_from(ENDINGS[direction]))
    good = how in (How.RETURNED, How.HAPPENED)
    return Outcome(
        path=path,
        direction=direction,
        how=how,
        at=NOW,
        output_text="1" if good else None,
        error=None if good else draw(errors),
        retry=not good and draw(st.booleans()),
        delay=draw(st.floats(0, 3600)),
    )


ANSWERS = [How.HAPPENED, How.NOT_HAPPENED, How.UNKNOWN]
FORWARD = [how for how in How if how not in ANSWERS]
ENDINGS: dict[Direction, list[How]] = {
    Direction.FORWARD: FORWARD,
    Direction.COMPENSATE: [how for how in FORWARD if how not in (How.UNSTORABLE, How.REJECTED)],
    Direction.RECONCILE: ANSWERS,
}


def refused_by_the_table(x: Snapshot, *, released: bool = True) -> str:
    """The CHECK that would refuse the row, or nothing. While it is held, the due time is the lease, and not ours."""
    stopped = x.status in STOPPED
    wrong = {
        "stopped_not_due": released and stopped and x.due_at is not None,
        "working_is_due": released and x.due_at is None and x.status not in {*STOPPED, *MAY_WAIT},
        "stuck_has_reason": (x.status == Status.STUCK) != bool(x.stuck_reason),
        "end_is_decided": x.status in ENDED_BACK and x.rollback_status in (RollbackStatus.NONE, RollbackStatus.STUCK),
    }
    return ", ".join(name for name, refuses in wrong.items() if refuses)
