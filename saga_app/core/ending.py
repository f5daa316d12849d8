"""How an execution turns back, stops, and ends; and the one cause that is kept of each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from saga_app.core.errors import DeadlineExceeded, GroupFailed
from saga_app.core.failures import ErrorInfo, describe, fingerprint
from saga_app.core.outcomes import Direction, settle_open
from saga_app.core.results import Failed
from saga_app.core.status import RollbackStatus, Status, StepStatus, StuckReason, UnwindCause
from saga_app.core.unwind import owed, rests_at
from saga_app.core.walk import Walk

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot

#: Reasons that no exception tells: whatever a step raised before is another matter.
NOTHING_RAISED = frozenset({StuckReason.WORKER_LOST, StuckReason.DEFINITION_MISSING, StuckReason.DEFINITION_CHANGED})


def expire(x: Snapshot) -> Snapshot:
    """The picture after its deadline has passed: that is why it fails, whatever it was doing."""
    late = DeadlineExceeded(f"not over by {x.deadline_at:%Y-%m-%d %H:%M:%S} UTC, the deadline that timeout= sets")
    info = describe(late)
    cause = fingerprint(x.saga, "", Direction.FORWARD, info)
    return x.but(error_text=info.to_json(), cause=cause, failing_path="")


def begin_unwind(
    saga: Saga[Any] | None, x: Snapshot, cause: UnwindCause, now: datetime, paths: Sequence[str] = ()
) -> Snapshot:
    """The picture after the write that begins an unwind. `unwinding_at` is set here, once.

    Args:
        saga: its definition, where it is known.
        x: the picture before.
        cause: why.
        now: the database's moment.
        paths: the records that failed; where none are given, those that it would have failed at.
    """
    x = settle_open(saga, x, now)
    expired = x.error_text is not None and not paths
    return because(x, paths if paths or expired else culprit(saga, x, cause, now)).but(
        status=Status.COMPENSATING,
        stuck_reason=StuckReason.NONE,
        rollback_status=RollbackStatus.NONE,
        unwinding_at=now,
        unwind_cause=cause,
        due_at=now,
    )


def culprit(saga: Saga[Any] | None, x: Snapshot, cause: UnwindCause, now: datetime) -> tuple[str, ...]:
    """The paths of what failed and was not recovered from. A failure that code cannot tell is what failed last."""
    result = Walk(saga, x, now).all() if saga is not None else None
    if isinstance(result, Failed):
        return result.paths
    failed = [one.path for one in x.records if one.status == StepStatus.FAILED and _is_required(saga, one)]
    return tuple(failed[-1:]) if cause == UnwindCause.FAILURE else ()


def _is_required(saga: Saga[Any] | None, record: Record) -> bool:
    step = saga.step(record.path) if saga else None
    return step is None or step.required


def because(x: Snapshot, paths: Sequence[str]) -> Snapshot:
    """Keep why it failed; an error that is there already stays (what became of the rollback is another fact)."""
    path = paths[0] if paths else ""
    texts = [text for one in paths if (record := x.record(one)) and (text := record.error_text) is not None]
    if not texts:
        return x.but(failing_path=path or x.failing_path)
    info = ErrorInfo.from_json(texts[0])
    cause = fingerprint(x.saga, path, Direction.FORWARD, info)
    kept = texts[0] if len(texts) == 1 else _together(x, paths)
    return x.but(error_text=x.error_text or kept, cause=x.cause or cause, failing_path=path)


def _together(x: Snapshot, paths: Sequence[str]) -> str:
    """All causes of a group's failure, counted and joined."""
    said = "; ".join(f"{one}: {ErrorInfo.from_json(x.known(one).error_text or '').text}" for one in paths)
    return describe(GroupFailed(f"{len(paths)} failed: {said}")).to_json()


def stick(x: Snapshot, reason: StuckReason, path: str) -> Snapshot:
    """Parked until an operator acts. The cause that groups it is that of what stopped it: none is without one."""
    cause = _cause(x, reason, path)
    x = x.but(failing_path=path) if x.unwinding else because(x, [path] if path else [])
    return x.but(
        status=Status.STUCK,
        stuck_reason=reason,
        rollback_status=RollbackStatus.STUCK if x.unwinding else RollbackStatus.NONE,
        cause=cause,
        due_at=None,
        presuming=True,
    )


def _cause(x: Snapshot, reason: StuckReason, path: str) -> str:
    """The reason, the step, the direction, and what was raised there, where that is why it stopped."""
    text = None if reason in NOTHING_RAISED else _raised(x, x.record(path))
    info = ErrorInfo.from_json(text) if text is not None else ErrorInfo("")
    return fingerprint(x.saga, path, Direction.COMPENSATE if x.unwinding else Direction.FORWARD, info, reason)


def _raised(x: Snapshot, record: Record | None) -> str | None:
    """What was raised last where it stopped; of an outcome that nobody knows, by the call that left it so."""
    if record is None:
        return None if x.unwinding else x.error_text
    back = record.compensation_error_text if x.unwinding else None
    return record.error_text if back is None else back


def _failed_there(x: Snapshot) -> Snapshot:
    """Name again the step whose failure began the unwind, where a compensation has stopped it meanwhile."""
    if not x.unwinding:
        return x
    if x.error_text is None:
        return x.but(failing_path="", cause="")
    record, info = _began(x, x.error_text), ErrorInfo.from_json(x.error_text)
    if record is None and not info.is_a((DeadlineExceeded,)):
        return x
    path = record.path if record else ""  # a deadline passes for the whole
    info = ErrorInfo.from_json(record.error_text or "") if record else info
    return x.but(failing_path=path, cause=fingerprint(x.saga, path, Direction.FORWARD, info))


def _began(x: Snapshot, error_text: str) -> Record | None:
    """The record whose failure that error is; of the failures of a group, which are told together, the first."""
    failed = [r for r in reversed(x.records) if r.status == StepStatus.FAILED and r.error_text is not None]
    info = ErrorInfo.from_json(error_text)
    first = info.message.partition(" failed: ")[2] if info.is_a((GroupFailed,)) else ""
    same = (r for r in failed if r.error_text == error_text or first.startswith(f"{r.path}: "))
    return next(same, None)


def finish(x: Snapshot, status: Status, now: datetime) -> Snapshot:
    """The end. Terminal means that the rollback is decided too."""
    x = _failed_there(x)
    rollback, rested_at = RollbackStatus.NONE, ""
    if x.unwinding:
        undone = any(owed(record) for record in x.records)
        rollback = RollbackStatus.COMPLETED if undone else RollbackStatus.NOT_APPLICABLE
        rested_at = rests_at(x)
        rollback = RollbackStatus.RESTED if rested_at else rollback
    return x.but(
        status=status,
        rollback_status=rollback,
        rested_at=rested_at,
        owes=status == Status.COMPLETED and any(owed(record) for record in x.records),
        suspend_requested_at=None,
        due_at=None,
        finished_at=now,
    )
