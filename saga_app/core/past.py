"""What an execution was at a past moment: its picture of now, folded back along attempts, moments and history.

Nothing was kept for this: attempts say when each call began and ended, the history says when it turned, stopped and
went on. What neither tells (a child that is being undone) is as it was before. What has not changed since is as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from saga_app.core.attempts import Attempt, attempts_of
from saga_app.core.outcomes import Direction
from saga_app.core.status import (
    STOPPED,
    TERMINAL,
    UNSETTLED,
    CompensationStatus,
    RollbackStatus,
    Status,
    StepStatus,
    StuckReason,
)

if TYPE_CHECKING:
    from saga_app.core.snapshot import Record, Snapshot

_ON = frozenset({"resume", "skip", "resolve", "unwind", "move", "lifted"})  # after these it goes on
# These may change records, and not leave their moment there.
_CHANGES = _ON | {"abandon", "unwinding", "fork", "cancel"}
_GATES = frozenset({"wait", "approval", "sleep", "child"})
_HAPPENED = frozenset({"returned", "happened", "unstorable"})
_BEGINNING = ("direction", "attempt", "started_at")
W = TypeVar("W", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Told:
    """One line of the history.

    Attributes:
        at: when.
        type: what.
        data: what else it says: the path of the step it is about, the reason.
    """

    at: datetime
    type: str
    data: Mapping[str, Any] = field(default_factory=dict)


def moments(x: Snapshot, created_at: datetime, told: Sequence[Told]) -> list[datetime]:
    """Every moment at which something became otherwise, in order."""
    own = (created_at, x.started_at, x.pivoted_at, x.unwinding_at, x.finished_at)
    found = {one for one in own if one is not None} | {one.at for one in told}
    for record in x.records:
        found.update(one for one in _moments(record) if one >= created_at)
    return sorted(found)


def past(x: Snapshot, created_at: datetime, told: Sequence[Told], moment: datetime) -> Snapshot:
    """The picture as it was at that moment.

    Args:
        x: the picture of now.
        created_at: when it was started.
        told: its history, the oldest first.
        moment: when; what happened at that very moment has happened.
    """
    known = moments(x, created_at, told)
    if not known or known[-1] <= moment:
        return x
    so_far = [one for one in told if one.at <= moment]
    later = [one for one in told if one.at > moment]
    records = [then for one in x.records if (then := _record(one, so_far, later, created_at, moment)) is not None]
    unwinding_at = _by(x.unwinding_at, moment)
    status, last = _status(so_far)
    if status not in STOPPED and (last is None or any(one > last.at for record in records for one in _moments(record))):
        status = _moving(records, begun=_by(x.started_at, moment) is not None)
    if status not in STOPPED and unwinding_at is not None:
        status = Status.COMPENSATING
    stuck = status == Status.STUCK
    ended = status in TERMINAL
    return x.but(
        status=status,
        rollback_status=_rollback(last, status, unwinding=unwinding_at is not None),
        stuck_reason=_word(StuckReason, last.data.get("reason")) if stuck and last else StuckReason.NONE,
        failing_path=str(last.data.get("path", "")) if stuck and last else "",
        started_at=_by(x.started_at, moment),
        pivoted_at=_by(x.pivoted_at, moment),
        unwinding_at=unwinding_at,
        cancel_requested_at=_by(x.cancel_requested_at, moment),
        finished_at=last.at if ended and last else None,
        error_text=x.error_text if unwinding_at or stuck or ended else None,
        output_text=x.output_text if status == Status.COMPLETED else None,
        records=records,
    )


def _by(when: datetime | None, moment: datetime) -> datetime | None:
    return when if when is not None and when <= moment else None


def _status(so_far: Sequence[Told]) -> tuple[Status, Told | None]:
    """What the history says of it last, and the line that says so; pending and running stand for whatever moves."""
    status, last = Status.PENDING, None
    for one in so_far:
        if one.type in (Status.STUCK, Status.SUSPENDED, *TERMINAL):
            status, last = Status(one.type), one
        elif one.type in _ON or one.type == "unwinding" or (one.type == "cancel" and status in STOPPED):
            status, last = Status.RUNNING, one
    return status, last


def _moving(records: Sequence[Record], *, begun: bool) -> Status:
    if not begun:
        return Status.PENDING
    unsettled = [one for one in records if one.status in UNSETTLED]
    driven = any(one.status == StepStatus.RUNNING and not _is_queued(one) for one in unsettled)
    return Status.WAITING if unsettled and not driven else Status.RUNNING


def _rollback(last: Told | None, status: Status, *, unwinding: bool) -> RollbackStatus:
    if status in TERMINAL and last is not None:
        return _word(RollbackStatus, last.data.get("rollback"))
    return RollbackStatus.STUCK if status == Status.STUCK and unwinding else RollbackStatus.NONE


def _word(words: type[W], said: Any) -> W:
    """A word of the history; one that is not known any more is none."""
    return words(said) if said in list(words) else words("")


def _moments(record: Record) -> Iterator[datetime]:
    found = (record.started_at, record.finished_at, record.compensation_started_at, record.compensation_finished_at)
    yield from (one for one in found if one is not None)
    for call in attempts_of(record):
        yield call.started
        if call.ended is not None:
            yield call.ended


def _record(
    record: Record, so_far: Sequence[Told], later: Sequence[Told], created_at: datetime, moment: datetime
) -> Record | None:
    """One record as it was; None where it had not begun. What a fork took over was there from its beginning."""
    taken_over = record.origin is not None
    began = created_at if taken_over else record.started_at
    if began is not None and began > moment:
        return None
    if all(one <= moment for one in _moments(record)) and not any(one.type in _CHANGES for one in later):
        return record
    calls = [one for one in attempts_of(record) if one.started <= moment]
    forward = [one for one in calls if one.direction is not Direction.COMPENSATE]
    back = [one for one in calls if one.direction is Direction.COMPENSATE]
    status = _forwards(record, forward, so_far, moment)
    return record.but(
        status=status,
        attempt=_count(forward, record.attempt if record.kind in _GATES else 0),
        attempts=_seen(record, moment),
        finished_at=_by(record.finished_at, moment),
        output_text=record.output_text if status == StepStatus.COMPLETED else None,
        error_text=record.error_text if status == StepStatus.FAILED else None,
        choice=record.choice if status not in (StepStatus.RUNNING, StepStatus.WAITING, StepStatus.QUEUED) else "",
        compensation_status=_backwards(record, back, so_far, moment),
        compensation_attempt=_count(back, 0),
        compensation_error_text=record.compensation_error_text if back else None,
        compensation_started_at=_by(record.compensation_started_at, moment),
        compensation_finished_at=_by(record.compensation_finished_at, moment),
    )


def _forwards(record: Record, calls: Sequence[Attempt], so_far: Sequence[Told], moment: datetime) -> StepStatus:
    """What had become of its call."""
    if _by(record.finished_at, moment) is not None:
        return record.status
    if record.kind in _GATES:
        return StepStatus.FAILED if _stopped(record, so_far, record.started_at) else StepStatus.WAITING
    last = calls[-1] if calls else None
    queued = _is_queued(record)
    if last is None:
        return StepStatus.QUEUED if queued else StepStatus.RUNNING
    if last.ended is None or last.ended > moment:
        return StepStatus.RUNNING
    if last.outcome in _HAPPENED:
        return StepStatus.COMPLETED
    if _stopped(record, so_far, last.ended):
        return StepStatus.FAILED
    if last.due is not None or _went_on(so_far, last.ended):
        return StepStatus.QUEUED if queued else StepStatus.WAITING
    return StepStatus.RUNNING if last.outcome in ("timed_out", "unknown") else StepStatus.FAILED


def _backwards(
    record: Record, calls: Sequence[Attempt], so_far: Sequence[Told], moment: datetime
) -> CompensationStatus:
    """What had become of its compensation."""
    if _by(record.compensation_finished_at, moment) is not None:
        return record.compensation_status
    if not calls:
        begun = _by(record.compensation_started_at, moment)
        return CompensationStatus.NONE if begun is None else CompensationStatus.RUNNING
    last = calls[-1]
    if last.ended is None or last.ended > moment:
        return CompensationStatus.RUNNING
    if last.outcome in _HAPPENED:
        return CompensationStatus.COMPENSATED
    if _went_on(so_far, last.ended):
        return CompensationStatus.NONE
    if last.due is not None and not _stopped(record, so_far, last.ended):
        return CompensationStatus.WAITING
    return CompensationStatus.FAILED


def _is_queued(record: Record) -> bool:
    """Whether it is called by way of a queue, for which its execution waits. The default queue has no name."""
    return record.queue != "" or record.row_epoch > 0 or record.in_queue


def _stopped(record: Record, so_far: Sequence[Told], since: datetime | None) -> bool:
    """Whether the execution had stopped at that record since then, and not gone on."""
    stopped = False
    for one in so_far:
        if since is None or one.at >= since:
            stopped = (stopped or (one.type == "stuck" and one.data.get("path") == record.path)) and one.type not in _ON
    return stopped


def _went_on(so_far: Sequence[Told], since: datetime) -> bool:
    """Whether an operator had it go on since then, after it had stopped."""
    return any(one.type in ("resume", "move", "lifted") and one.at >= since for one in so_far)


def _count(calls: Sequence[Attempt], otherwise: int) -> int:
    return next((one.number for one in reversed(calls) if one.number is not None), otherwise)


def _seen(record: Record, moment: datetime) -> tuple[Mapping[str, Any], ...]:
    """Its attempts so far, one that had not ended without its end."""
    calls = attempts_of(record)
    seen = [entry for entry, call in zip(record.attempts, calls, strict=True) if call.started <= moment]
    last = calls[len(seen) - 1] if seen else None
    if last is not None and (last.ended is None or last.ended > moment):
        seen[-1] = {name: seen[-1][name] for name in _BEGINNING if name in seen[-1]}
    return tuple(seen)
