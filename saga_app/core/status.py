"""Every status, and the table of legal moves. Nothing outside this file may decide that a status may change.

A status says what is true. `unwinding_at` says which way an execution goes; the status alone never does, since
`stuck` and `suspended` keep the direction they had.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from saga_app.core.errors import SagaError


class Status(StrEnum):
    """What an execution is doing."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    SUSPENDED = "suspended"
    COMPENSATING = "compensating"
    STUCK = "stuck"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RollbackStatus(StrEnum):
    """What became of the rollback; empty while none has been decided."""

    NONE = ""
    NOT_APPLICABLE = "not_applicable"
    COMPLETED = "completed"
    RESTED = "rested"
    STUCK = "stuck"
    ABANDONED = "abandoned"


class StuckReason(StrEnum):
    """Why an execution waits for an operator."""

    NONE = ""
    COMPENSATION_FAILED = "compensation_failed"
    CHILD_STUCK = "child_stuck"
    FAILED_PAST_PIVOT = "failed_past_pivot"
    STEP_FAILED = "step_failed"
    OUTCOME_UNKNOWN = "outcome_unknown"
    WORKER_LOST = "worker_lost"
    DEFINITION_MISSING = "definition_missing"
    DEFINITION_CHANGED = "definition_changed"
    UNDECODABLE = "undecodable"


class StepStatus(StrEnum):
    """What a step record says of the forward call."""

    RUNNING = "running"
    WAITING = "waiting"
    QUEUED = "queued"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


class CompensationStatus(StrEnum):
    """What a step record says of its compensation; empty: no outcome (yet)."""

    NONE = ""
    RUNNING = "running"
    WAITING = "waiting"
    COMPENSATED = "compensated"
    FAILED = "failed"
    ABANDONED = "abandoned"
    RESOLVED = "resolved"


class UnwindCause(StrEnum):
    """Why an execution goes backwards."""

    NONE = ""
    FAILURE = "failure"
    CANCEL = "cancel"
    PARENT = "parent"


TERMINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})
STOPPED = TERMINAL | {Status.STUCK, Status.SUSPENDED}  # nothing is due: due_at is NULL
OPEN = frozenset(Status) - TERMINAL
DRIVEN = frozenset(Status) - STOPPED
SETTLED = frozenset({CompensationStatus.COMPENSATED, CompensationStatus.ABANDONED, CompensationStatus.RESOLVED})
OUTCOMES = SETTLED | {CompensationStatus.FAILED}
UNSETTLED = frozenset({StepStatus.RUNNING, StepStatus.WAITING, StepStatus.QUEUED})  # a call that has not ended

FORWARD = (Status.PENDING, Status.RUNNING, Status.WAITING)  # going forward; they differ in what it does just now
_LEAVING = frozenset({Status.SUSPENDED, Status.COMPENSATING, Status.STUCK}) | TERMINAL

MOVES: Mapping[Status, frozenset[Status]] = {
    Status.PENDING: _LEAVING | {Status.RUNNING, Status.WAITING},
    Status.RUNNING: _LEAVING | {Status.WAITING},
    Status.WAITING: _LEAVING | {Status.RUNNING},
    Status.SUSPENDED: frozenset({Status.RUNNING, Status.COMPENSATING, Status.STUCK}),
    Status.COMPENSATING: frozenset({Status.SUSPENDED, Status.STUCK, Status.FAILED, Status.CANCELLED}),
    Status.STUCK: frozenset({Status.RUNNING, Status.COMPENSATING, Status.FAILED, Status.CANCELLED}),
    Status.COMPLETED: frozenset({Status.COMPENSATING}),  # only its parent's unwind undoes what had ended well
    Status.FAILED: frozenset(),
    Status.CANCELLED: frozenset(),
}


class IllegalMove(SagaError):
    """A status was about to change in a way the table does not know: a defect, and nothing was written."""


def check_move(old: str, new: str) -> None:
    """Raise IllegalMove unless an execution may go from `old` to `new` (staying where it is may it always)."""
    if old != new and Status(new) not in MOVES[Status(old)]:
        raise IllegalMove(f"an execution cannot go from {old} to {new}")


def picture() -> str:
    """The table of moves as a Mermaid state diagram: the one the README shows.

    What every forward status may become is drawn once, from the box around them.
    """
    within = [f"        {old} --> {new}" for old in FORWARD for new in FORWARD if new in MOVES[old]]
    shared = frozenset.intersection(*(MOVES[status] for status in FORWARD)) - set(FORWARD)
    lines = ["stateDiagram-v2", "    [*] --> pending", "    state forward {", *within, "    }"]
    lines += [f"    forward --> {new}" for new in Status if new in shared]
    for old, news in MOVES.items():
        drawn = {*shared, *FORWARD} if old in FORWARD else set()
        lines += [f"    {old} --> {new}" for new in Status if new in news - drawn]
    lines += [f"    {status} --> [*]" for status in Status if status in TERMINAL]
    return "\n".join(lines)
