"""How a call ended, and what that makes of its record (design §8.5, §8.8, §9.2).

What is recorded about an attempt is recorded whatever comes next; what comes next is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from saga_app.core.errors import GiveUp, Interrupt, Rejected, RetryLater
from saga_app.core.failures import ErrorInfo
from saga_app.core.seconds import LONGEST
from saga_app.core.status import UNSETTLED, CompensationStatus, StepStatus

if TYPE_CHECKING:
    from saga_app.core.policy import Policy
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot
    from saga_app.core.steps import Step

KEPT_ATTEMPTS = 50  # in a record's list; the count goes on
CUT = "(cut)"  # the choice of a record that ended only because its group had failed: nothing else is called so


class Direction(StrEnum):
    """Which of a step's functions was called."""

    FORWARD = "forward"
    COMPENSATE = "compensate"
    RECONCILE = "reconcile"


class How(StrEnum):
    """How a call ended."""

    RETURNED = "returned"
    RAISED = "raised"
    REJECTED = "rejected"  # known to have done nothing
    TIMED_OUT = "timed_out"  # unknown
    UNSTORABLE = "unstorable"  # returned, but its value cannot be stored: it happened, and is not called again
    NOT_CALLED = "not_called"  # its arguments could not be made
    ROLLED_BACK = "rolled_back"  # an atomic body's transaction did not commit: nothing happened
    HAPPENED = "happened"  # reconcile's three answers
    NOT_HAPPENED = "not_happened"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one call ended.

    Attributes:
        path: the step record's path.
        direction: which function was called.
        how: how it ended.
        at: when, by the database's clock.
        output_text: the encoded value, where it returned one.
        error: what it raised.
        retry: whether its policy allows another attempt.
        delay: seconds before that attempt.
        choice: of a compute that returned, what its value chooses.
    """

    path: str
    direction: Direction
    how: How
    at: datetime
    output_text: str | None = None
    error: ErrorInfo | None = None
    retry: bool = False
    delay: float = 0.0
    choice: str = ""


def classify(policy: Policy, error: BaseException) -> tuple[How, bool]:
    """How an attempt that raised has ended, and whether it may be tried again.

    The order is the rule: a timeout first, then rejected, give up, retry. SystemExit and KeyboardInterrupt are
    failed attempts like any other, and not retried unless `retry_on` names them.
    """
    if isinstance(error, Interrupt):
        return How.TIMED_OUT, True
    if isinstance(error, (Rejected, *policy.rejected_on)):
        return How.REJECTED, False
    if isinstance(error, (GiveUp, *policy.give_up_on)):
        return How.RAISED, False
    return How.RAISED, isinstance(error, (RetryLater, *policy.retry_on))


def delay_of(policy: Policy, error: BaseException, attempt: int, dice: float) -> float:
    """Seconds to wait after that attempt (the first is 1): what RetryLater says, else the policy's backoff."""
    if not isinstance(error, RetryLater):
        return policy.backoff.delay(attempt, dice)
    return max(0.0, min(error.delay, LONGEST))  # a body may say anything; NaN is no wait


def settle(snapshot: Snapshot, outcome: Outcome, *, asks: bool = False) -> Snapshot:
    """The picture with one call's outcome recorded.

    Args:
        snapshot: the picture so far; the record is there.
        outcome: how the call ended.
        asks: whether the step has a reconcile, so that an unknown outcome is asked about before anything else.
    """
    record = snapshot.known(outcome.path)
    if outcome.direction is Direction.FORWARD:
        changes = _forward(record, outcome, asks=asks)
        if record.kind == "compute":
            changes["may_have_happened"] = False
    elif outcome.direction is Direction.COMPENSATE:
        changes = _compensation(record, outcome)
    else:
        changes = _reconciled(snapshot, record, outcome)
    return snapshot.with_record(outcome.path, attempts=_ended(record, outcome), **changes)


def _forward(record: Record, outcome: Outcome, *, asks: bool) -> dict[str, Any]:
    error = {"error_text": outcome.error.to_json()} if outcome.error else {}
    again = _again_or_failed(record, outcome)
    match outcome.how:
        case How.RETURNED:
            return _completed(outcome)
        case How.RAISED:
            return {"may_have_happened": True, "outcome_known": True, **error, **again}
        case How.UNSTORABLE:
            return {"may_have_happened": True, "outcome_known": True, **error, **_failed(outcome)}
        case How.TIMED_OUT if asks or record.attempt >= record.attempt_limit:
            return {"may_have_happened": True, "outcome_known": False, **error}  # stays running: unknown
        case How.TIMED_OUT:
            return {"may_have_happened": True, "outcome_known": False, **error, **again}
        case How.ROLLED_BACK:
            return {"outcome_known": True, **error, **again}
    return {"outcome_known": True, **error, **_failed(outcome)}  # rejected, not called: nothing happened


def _completed(outcome: Outcome) -> dict[str, Any]:
    return {
        "status": StepStatus.COMPLETED,
        "output_text": outcome.output_text,
        "choice": outcome.choice,
        "error_text": None,
        "may_have_happened": True,
        "outcome_known": True,
        "due_at": None,
        "finished_at": outcome.at,
    }


def _failed(outcome: Outcome) -> dict[str, Any]:
    return {"status": StepStatus.FAILED, "due_at": None, "finished_at": outcome.at}


def _again_or_failed(record: Record, outcome: Outcome) -> dict[str, Any]:
    if not outcome.retry or record.attempt >= record.attempt_limit:
        return _failed(outcome)
    return {"status": StepStatus.WAITING, "due_at": outcome.at + timedelta(seconds=outcome.delay)}


def _compensation(record: Record, outcome: Outcome) -> dict[str, Any]:
    if outcome.how is How.RETURNED:
        return {
            "compensation_status": CompensationStatus.COMPENSATED,
            "compensation_error_text": None,
            "compensation_due_at": None,
            "compensation_finished_at": outcome.at,
        }
    error = {"compensation_error_text": outcome.error.to_json() if outcome.error else None}
    if outcome.retry and record.compensation_attempt < record.compensation_limit:
        due = outcome.at + timedelta(seconds=outcome.delay)
        return {"compensation_status": CompensationStatus.WAITING, "compensation_due_at": due, **error}
    return {"compensation_status": CompensationStatus.FAILED, "compensation_due_at": None, **error}


def _reconciled(snapshot: Snapshot, record: Record, outcome: Outcome) -> dict[str, Any]:
    """Backwards, an answer completes or clears a failed record; it starts nothing."""
    if outcome.how is How.HAPPENED:
        if snapshot.unwinding:
            return {"output_text": outcome.output_text, "may_have_happened": True, "outcome_known": True}
        return _completed(outcome)
    if outcome.how is How.NOT_HAPPENED:
        known = {"may_have_happened": False, "outcome_known": True}
        if snapshot.unwinding:  # an attempt to undo it, under an older definition, had nothing to undo
            return known | {"compensation_status": CompensationStatus.NONE, "compensation_due_at": None}
        why = {"error_text": silence(record, "reconcile says that it did nothing") or record.error_text}
        return known | why | _again_or_failed(record, outcome)
    return {"reconciled": True}  # what may have happened is said by whoever ends or repeats the attempt


def begun(record: Record, direction: Direction, attempt: int, at: datetime) -> tuple[dict[str, Any], ...]:
    """The record's attempts with one more that begins now; an open one before it was lost with its worker."""
    entry = {"direction": direction.value, "attempt": attempt, "started_at": at.isoformat()}
    return (*lost(record), entry)[-KEPT_ATTEMPTS:]


def lost(record: Record) -> tuple[dict[str, Any], ...]:
    """The record's attempts, the open one closed as lost: its worker died or lost its lease."""
    return tuple({**entry, "outcome": "lost"} if "outcome" not in entry else dict(entry) for entry in record.attempts)


def _ended(record: Record, outcome: Outcome) -> tuple[dict[str, Any], ...]:
    """The record's attempts with the open one closed (an atomic call opens none: it is begun and closed at once)."""
    if outcome.direction is Direction.RECONCILE:
        entry = {"direction": "reconcile", "started_at": outcome.at.isoformat()}
        entries: tuple[dict[str, Any], ...] = (*lost(record), entry)
    else:
        entries = tuple(dict(entry) for entry in record.attempts)
        if not entries or "outcome" in entries[-1]:
            number = record.attempt if outcome.direction is Direction.FORWARD else record.compensation_attempt
            entries = begun(record, outcome.direction, number, outcome.at)
    last = {**entries[-1], "ended_at": outcome.at.isoformat(), "outcome": outcome.how.value}
    if outcome.error:
        last["error"] = outcome.error.text[:500]
    if outcome.retry:
        last["delay"] = outcome.delay
    return (*entries[:-1], last)[-KEPT_ATTEMPTS:]


def silence(record: Record, came: str = "nobody knows how far it came") -> str | None:
    """What is known of an attempt that was lost, as an error's text; None where the last attempt was not."""
    last = next((one for one in reversed(record.attempts) if one["direction"] != Direction.RECONCILE), None)
    if last is None or last.get("outcome", "lost") != "lost":
        return None
    said = f"attempt {last['attempt']}: its worker died, or was too late to keep its lease: {came}"
    return ErrorInfo("WorkerLost", said).to_json()


def unanswered(record: Record, step: Step[..., Any] | None, now: datetime | None) -> dict[str, Any]:
    """An open call that ends without an answer: it failed, and unless nothing of it can stand it may have happened."""
    nothing_stands = record.kind == "compute" or (step is not None and step.atomic)
    return {
        "status": StepStatus.FAILED,
        "may_have_happened": record.may_have_happened or not nothing_stands,
        "outcome_known": nothing_stands,
        "due_at": None,
        "finished_at": now,
        "error_text": silence(record) or record.error_text,
        "attempts": lost(record),
        **out_of_queue(record),
    }


def out_of_queue(record: Record) -> dict[str, Any]:
    """No worker may claim it any more, and one that has it has lost it."""
    if not record.in_queue:
        return {}
    return {"row_due_at": None, "row_holder": None, "row_epoch": record.row_epoch + 1}


def settled(saga: Saga[Any] | None, record: Record, now: datetime | None) -> Record:
    """An open record as the beginning of an unwind leaves it (design §9.1): never begun, skipped; begun, failed."""
    gate = record.kind in ("wait", "approval", "sleep")
    if record.status == StepStatus.RUNNING:
        return record.but(**unanswered(record, saga.step(record.path) if saga else None, now))
    if record.kind == "child" and record.status == StepStatus.WAITING and record.child_id is not None:
        unknown = {"may_have_happened": True, "outcome_known": False, "owes": True}  # what it owes is known at its end
        return record.but(status=StepStatus.FAILED, finished_at=now, **unknown)
    if record.status not in UNSETTLED:
        return record
    status = StepStatus.FAILED if record.attempt > 0 and not gate else StepStatus.SKIPPED
    due = record.due_at if record.kind == "sleep" else None  # a sleep that goes on later ends when it would have
    return record.but(status=status, due_at=due, finished_at=now, **out_of_queue(record))


def settle_open(saga: Saga[Any] | None, x: Snapshot, now: datetime | None = None) -> Snapshot:
    """The picture with every open record settled as the beginning of an unwind does it (design §9.1)."""
    return settle_these(saga, x, x.records, now)


def settle_these(saga: Saga[Any] | None, x: Snapshot, records: Iterable[Record], now: datetime | None) -> Snapshot:
    """The picture with those of its records settled. A queued one may be claimed this moment: then it is no more so."""
    for record in records:
        after = settled(saga, record, now)
        if after is not record:
            x = x.but(records=x.records.put(after), presuming=x.presuming or record.in_queue)
    return x


def cut_short(saga: Saga[Any] | None, x: Snapshot, records: Iterable[Record], now: datetime | None) -> Snapshot:
    """The picture with those records ended because their group has failed, and marked so: they are no cause of it.

    An operator who lets the group try again, or says what became of the failure, opens them again.
    """
    x = settle_these(saga, x, records, now)
    for record in records:
        if record.status in UNSETTLED:
            x = x.with_record(record.path, choice=CUT)
    return x
