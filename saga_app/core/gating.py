"""What becomes of the record of a gate, a loop or a child when what it waited for has come, or has not."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from saga_app.core.errors import ApprovalRejected, ChildFailed, GateTimeout, LoopExhausted
from saga_app.core.failures import ErrorInfo, describe
from saga_app.core.outcomes import CUT
from saga_app.core.status import CompensationStatus, RollbackStatus, Status, StepStatus

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Kid, Snapshot


def exhaust(x: Snapshot, path: str, turns: int, now: datetime) -> Snapshot:
    """The loop's last condition would have it go on: it has failed."""
    error = LoopExhausted(f"it has had its {turns} turns, which max_iterations= allows, and would go on")
    return _failed(x, path, error, now)


def consume(saga: Saga[Any], x: Snapshot, path: str, signal_id: int, now: datetime) -> Snapshot:
    """The gate opens: the payload is its output. A rejected approval fails, unless its saga says how to go on."""
    signal = next(one for one in x.signals if one.id == signal_id)
    unread = tuple(one for one in x.signals if one.id != signal_id)
    x = x.but(signals=unread, consumed=(*x.consumed, (signal_id, path)))
    x = x.with_record(
        path, status=StepStatus.COMPLETED, choice=signal.verdict, output_text=signal.payload_text, finished_at=now
    )
    if signal.verdict == "rejected" and getattr(saga.node(path), "on_reject", "fail") == "fail":
        return _failed(x, path, ApprovalRejected(f"`{x.known(path).name}` was rejected"), now)
    return x


def time_out(saga: Saga[Any], x: Snapshot, path: str, now: datetime) -> Snapshot:
    """Its time is up: a sleep is over; a gate has failed, unless its saga says what to do then."""
    record = x.known(path)
    if record.kind == "sleep":
        return x.with_record(path, status=StepStatus.COMPLETED, finished_at=now)
    x = x.with_record(path, choice="timeout").but(presuming=True)
    if getattr(saga.node(path), "on_timeout", "fail") != "fail":
        return x.with_record(path, status=StepStatus.SKIPPED, finished_at=now)
    until = f"{record.due_at:%Y-%m-%d %H:%M:%S} UTC" if record.due_at else "then"
    awaited = "Nobody decided" if record.kind == "approval" else "No signal came for"
    return _failed(x, path, GateTimeout(f"{awaited} `{record.name}` until {until}"), now)


def child_ended(saga: Saga[Any], x: Snapshot, path: str, now: datetime, *, cut: bool = False) -> Snapshot:
    """The child has ended. What can be undone of it is owed here; one that was abandoned cannot, and stands.

    `cut`: its group has failed; where it was cancelled and nothing of it stands, it was cut short for that.
    """
    record = x.known(path)
    kid = x.kids[record.child_id]  # type: ignore[index]
    stands = kid.pivoted or (kid.status == Status.COMPLETED and kid.owes) or _abandoned(kid)
    opted_out = not getattr(saga.node(path), "compensated", True)
    ended = {"owes": stands and not opted_out, "may_have_happened": stands, "outcome_known": True}
    undo = {"compensation_status": CompensationStatus.NONE, "compensation_error_text": None}  # of an unwind that waited
    x = x.with_record(path, choice=kid.rested_at, finished_at=now, **ended, **undo)
    if kid.status == Status.COMPLETED:
        return x.with_record(path, status=StepStatus.COMPLETED, output_text=kid.output_text)
    if cut and kid.status == Status.CANCELLED and not stands and not kid.rested_at:
        x = x.with_record(path, choice=CUT)
    return _failed(x, path, ChildFailed(_reason(kid)), now)


def _reason(kid: Kid) -> str:
    """Why a child failed, in its own words, so that nobody has to chase ids; of a family, in those of the deepest."""
    info = ErrorInfo.from_json(kid.error_text) if kid.error_text else None
    said = "" if info is None else f": {info.message if info.is_a((ChildFailed,)) else info.text}"
    return f"{kid.saga} {kid.status}{' and was abandoned' if _abandoned(kid) else ''}{said}"


def _abandoned(kid: Kid) -> bool:
    """An operator ended it. Past its pivot nothing else ends it badly, and there it owes nothing to itself."""
    ended_badly = kid.status in (Status.FAILED, Status.CANCELLED)
    return kid.rollback_status == RollbackStatus.ABANDONED or (ended_badly and kid.pivoted)


def child_undone(x: Snapshot, path: str, now: datetime) -> Snapshot:
    """The child's own unwind has ended. Where it rested, so does its parent's."""
    kid = x.kids[x.known(path).child_id]  # type: ignore[index]
    done = {"compensation_status": CompensationStatus.COMPENSATED, "compensation_finished_at": now}
    return x.with_record(path, choice=kid.rested_at, compensation_error_text=None, **done)


def child_stuck(x: Snapshot, path: str) -> Snapshot:
    """The child cannot be undone before an operator acts on it. Its parent says which, and what is the matter."""
    kid = x.kids[x.known(path).child_id]  # type: ignore[index]
    what = f"is stuck ({kid.stuck_reason})" if kid.status == Status.STUCK else "was abandoned"
    what = "is past its pivot" if kid.status == Status.COMPLETED else what
    said = describe(ChildFailed(f"{kid.saga} {what}, and nothing undoes it")).to_json()
    return x.with_record(path, compensation_status=CompensationStatus.FAILED, compensation_error_text=said)


def _failed(x: Snapshot, path: str, error: Exception, now: datetime) -> Snapshot:
    said = {"error_text": describe(error).to_json(), "finished_at": now}  # its deadline stays: late answers are told it
    return x.with_record(path, status=StepStatus.FAILED, **said)
