"""Which verb is legal, the code why not, and what it changes (design §12).

Buttons, endpoints, commands and the verbs themselves ask `eligibility`; then they act, under the row lock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from saga_app.core.ending import begin_unwind, finish
from saga_app.core.outcomes import lost, out_of_queue
from saga_app.core.resuming import later_deadline, reopened, resumed
from saga_app.core.status import (
    OUTCOMES,
    SETTLED,
    STOPPED,
    TERMINAL,
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
    from saga_app.core.snapshot import Record, Snapshot


@dataclass(frozen=True, slots=True)
class Allowed:
    """The verb may be used now."""

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Refused:
    """The verb may not be used now.

    Attributes:
        code: a stable word; `messages.sentence(code, params)` is the sentence.
        params: what the sentence is made of.
    """

    code: str
    params: Mapping[str, object] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return False


Eligibility = Allowed | Refused
BY_REQUEST = (UnwindCause.CANCEL, UnwindCause.PARENT)
REASON_REQUIRED = frozenset({"skip", "resolve", "abandon", "move"})
GUARDED = frozenset({"resume", "abandon", "unwind", "skip", "resolve", "move"})
MISFITS = (StuckReason.DEFINITION_MISSING, StuckReason.DEFINITION_CHANGED)
#: Those that may be offered by themselves; move and fork also need a revision, or a step.
VERBS = ("resume", "skip", "resolve", "unwind", "cancel", "suspend", "abandon", "rerun")


def eligibility(verb: str, x: Snapshot, *, held: bool = False) -> Eligibility:
    """Whether a verb may be used on an execution as it is.

    Args:
        verb: one of `VERBS`.
        x: the facts.
        held: whether a worker drives it at this moment.
    """
    code = _RULES[verb](x)
    if verb == "resume" and held and x.status not in STOPPED:
        code = code or "not_waiting"  # its holder is past the wait already
    return Refused(code, {"status": str(x.status)}) if code else Allowed()


def _resume(x: Snapshot) -> str:
    if x.status in TERMINAL:
        return "terminal"
    if x.status in (Status.STUCK, Status.SUSPENDED):
        return ""
    return "" if any(_backs_off(record) for record in x.records) else "not_waiting"


def _stuck(x: Snapshot) -> str:
    return "terminal" if x.status in TERMINAL else "" if x.status == Status.STUCK else "not_stuck"


def _unwind(x: Snapshot) -> str:
    return _stuck(x) or ("unwinding" if x.unwinding else "past_pivot" if x.pivoted_at else "")


def _skip(x: Snapshot) -> str:
    return _stuck(x) or ("unwinding" if x.unwinding else "" if stopped_at(x) else "step_not_stuck")


def _resolve(x: Snapshot) -> str:
    return _stuck(x) or ("" if x.unwinding and stopped_at(x) else "nothing_to_resolve")


def _cancel(x: Snapshot) -> str:
    if x.status in TERMINAL:
        return "terminal"
    if x.pivoted_at:
        return "past_pivot"
    if x.unwinding:
        return "suspended" if x.status == Status.SUSPENDED else "unwinding"
    return "cancel_requested" if x.cancel_requested_at else ""


def _suspend(x: Snapshot) -> str:
    if x.status in TERMINAL:
        return "terminal"
    if x.status in (Status.STUCK, Status.SUSPENDED):
        return str(x.status)
    return "suspend_requested" if x.suspend_requested_at else ""


def _rerun(x: Snapshot) -> str:
    return "" if x.status in TERMINAL else "not_terminal"


def _move(x: Snapshot) -> str:
    return _stuck(x) or ("" if x.stuck_reason in MISFITS else "definition_not_at_fault")


_RULES: Mapping[str, Callable[[Snapshot], str]] = {
    "resume": _resume,
    "abandon": _stuck,
    "unwind": _unwind,
    "skip": _skip,
    "resolve": _resolve,
    "cancel": _cancel,
    "suspend": _suspend,
    "rerun": _rerun,
    "fork": _rerun,
    "move": _move,
}


def stopped_at(x: Snapshot) -> Record | None:
    """The record a stuck execution stopped at: what skip and resolve speak of."""
    record = x.record(x.failing_path)
    if x.status != Status.STUCK or record is None:
        return None
    if x.unwinding:
        return record if owed(record) and record.compensation_status not in SETTLED else None
    return record if record.status in (StepStatus.FAILED, StepStatus.RUNNING) else None


def resume(x: Snapshot, saga: Saga[Any] | None, now: datetime) -> Snapshot:
    """Try again what stopped, in the direction it had, with more attempts; from suspended, only go on."""
    if x.status == Status.STUCK:
        return _onwards_in_time(resumed(x, saga, now).but(resume_count=x.resume_count + 1), saga, now)
    if x.status != Status.SUSPENDED:
        x = x.with_records(_hurried(record, now) for record in x.records)
    return _onwards(x, now)


def _onwards_in_time(x: Snapshot, saga: Saga[Any] | None, now: datetime) -> Snapshot:
    """The same from stuck: its deadline may have passed since, and whoever helps it on means it to go on."""
    return _onwards(x.but(deadline_at=later_deadline(x, saga, now)), now)


def _onwards(x: Snapshot, now: datetime) -> Snapshot:
    """Open again and due, in the direction it had. The cause of an unwind stays; that of a stop has gone."""
    forward = {} if x.unwinding else {"error_text": None, "failing_path": ""}
    return x.but(
        status=Status.COMPENSATING if x.unwinding else Status.RUNNING,
        stuck_reason=StuckReason.NONE,
        rollback_status=RollbackStatus.NONE,
        cause="",
        suspend_requested_at=None,
        definition_missing_since=None,
        due_at=now,
        deaths=0,
        **forward,
    )


def _backs_off(record: Record) -> bool:
    """It waits for its next attempt. A gate does not, nor a child: their time is not an operator's to change."""
    if record.row_holder is not None:
        return False
    if record.compensation_status == CompensationStatus.WAITING:
        return record.compensation_attempt > 0
    waits = (StepStatus.WAITING, StepStatus.QUEUED)
    return record.status in waits and record.attempt > 0 and record.kind in ("step", "compute")


def _hurried(record: Record, now: datetime) -> Record:
    """The record, where it waits for its next attempt, due now."""
    if not _backs_off(record):
        return record
    at_once = {"row_due_at": now} if record.in_queue else {}
    if record.compensation_status == CompensationStatus.WAITING:
        return record.but(compensation_due_at=now, **at_once)
    return record.but(**(at_once or {"due_at": now}))


def abandon(x: Snapshot, saga: Saga[Any] | None, now: datetime) -> Snapshot:
    """The end by an operator's word: what is owed and has no outcome becomes `abandoned`. Final."""
    cancelled = x.unwind_cause in BY_REQUEST or (not x.unwinding and x.cancel_requested_at is not None)
    cause = UnwindCause.CANCEL if cancelled else UnwindCause.FAILURE
    status = Status.CANCELLED if cancelled else Status.FAILED
    past_pivot = x.pivoted_at is not None
    if not x.unwinding:
        closed = begin_unwind(saga, x, cause, now)
        x = closed.but(unwinding_at=None, unwind_cause=UnwindCause.NONE) if past_pivot else closed
    if not past_pivot:
        x = x.with_records(_given_up(record) for record in x.records)
    rollback = RollbackStatus.NOT_APPLICABLE if past_pivot else RollbackStatus.ABANDONED
    return finish(x, status, now).but(rollback_status=rollback, stuck_reason=StuckReason.NONE)


def _given_up(record: Record) -> Record:
    if not owed(record) or record.compensation_status in OUTCOMES:
        return record
    given_up = {"compensation_status": CompensationStatus.ABANDONED, "compensation_due_at": None}
    return record.but(attempts=lost(record), **given_up, **out_of_queue(record))


def skip(
    x: Snapshot,
    saga: Saga[Any] | None,
    record: Record,
    now: datetime,
    *,
    happened: bool,
    output_text: str | None,
    choice: str = "",
) -> Snapshot:
    """The operator says what happened: the step is completed with that output, and owed; or it did nothing.

    `choice` is what the output of a compute chooses. What its group had cut short for its failure goes on.
    """
    known = {"outcome_known": True, "may_have_happened": happened, "due_at": None, "finished_at": now}
    status = StepStatus.COMPLETED if happened else StepStatus.SKIPPED
    said = {"status": status, "output_text": output_text, "error_text": None, "choice": choice}
    x = reopened(x, saga, now, [record.path])
    return _onwards_in_time(x.with_record(record.path, attempts=lost(record), **said, **known), saga, now)


def resolve(x: Snapshot, record: Record, now: datetime) -> Snapshot:
    """The compensation was done by hand; the unwind goes on."""
    done = {"compensation_status": CompensationStatus.RESOLVED, "compensation_due_at": None}
    return _onwards(x.with_record(record.path, compensation_finished_at=now, **done), now)


def unwind(x: Snapshot, saga: Saga[Any] | None, now: datetime) -> Snapshot:
    """Begin the unwind of an execution that is stuck before its pivot."""
    cause = UnwindCause.CANCEL if x.cancel_requested_at else UnwindCause.FAILURE  # an accepted cancel wins
    return begin_unwind(saga, x, cause, now).but(suspend_requested_at=None, deaths=0)


def cancel(x: Snapshot, now: datetime, reason: str) -> Snapshot:
    """Ask for the unwind. On a stopped execution the verb itself lifts the stop, and the drive begins the unwind."""
    stopped = x.status in (Status.STUCK, Status.SUSPENDED)
    x = _onwards(x, now) if stopped else x
    return x.but(cancel_requested_at=now, cancel_reason=reason)


def suspend(x: Snapshot, now: datetime, reason: str) -> Snapshot:
    """Ask for a pause at the next boundary."""
    return x.but(suspend_requested_at=now, suspend_reason=reason)


def move(x: Snapshot, saga: Saga[Any], now: datetime) -> Snapshot:
    """Go on in another revision, in the direction it had."""
    return _onwards_in_time(x.but(revision=saga.revision, fingerprint=saga.fingerprint), saga, now)
