"""What a decision may ask for.

Kinds, told apart by what has to happen around the write: changes are written and decided upon again; arrangements
need arguments that user code may make, and call no body; messages change one child in the same transaction; calls run
user code (after their intent, or, where nothing has to be written first, at once); releases give the claim back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from saga_app.core.status import Status, StuckReason, UnwindCause

# Changes


@dataclass(frozen=True, slots=True)
class PassPivot:
    """From here on only forward."""


@dataclass(frozen=True, slots=True)
class PassMilestone:
    """From here on the unwind comes back to this point and no further."""

    path: str


@dataclass(frozen=True, slots=True)
class FailStep:
    """The step's outcome stays unknown and its attempts are used up; it failed, and may have happened."""

    path: str


@dataclass(frozen=True, slots=True)
class Exhaust:
    """The loop has had as many turns as it may have."""

    path: str
    turns: int


@dataclass(frozen=True, slots=True)
class TurnOver:
    """The items of that loop before this one are over."""

    path: str
    turn: int


@dataclass(frozen=True, slots=True)
class Consume:
    """The gate opens with this signal."""

    path: str
    signal: int


@dataclass(frozen=True, slots=True)
class TimeOut:
    """The gate's deadline has passed and no signal came in time; a sleep is over."""

    path: str


@dataclass(frozen=True, slots=True)
class EndChild:
    """The child has ended: so has its record."""

    path: str
    cut: bool = False
    """Its group has failed: one that was cancelled is no other failure."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A group has failed: what is open in it and not running ends here."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expire:
    """The deadline of the whole execution has passed."""


@dataclass(frozen=True, slots=True)
class BeginUnwind:
    """Settle every open record, and go backwards from here on."""

    cause: UnwindCause
    paths: tuple[str, ...] = ()
    """The records that failed; more than one where branches of a group did."""


@dataclass(frozen=True, slots=True)
class FailCompensation:
    """The compensation's attempts are used up."""

    path: str


@dataclass(frozen=True, slots=True)
class EnqueueCompensation:
    """The compensation waits for a worker of its step's queue."""

    path: str
    queue: str


@dataclass(frozen=True, slots=True)
class ChildUndone:
    """The child's own unwind has come to its end."""

    path: str


@dataclass(frozen=True, slots=True)
class ChildStuck:
    """The child cannot be undone before an operator acts on it."""

    path: str


@dataclass(frozen=True, slots=True)
class ChildFreed:
    """An operator has acted on the child, or it has ended since: the unwind looks at it again."""

    path: str


# Arrangements


@dataclass(frozen=True, slots=True)
class Enqueue:
    """The step waits for any worker of its queue."""

    path: str


@dataclass(frozen=True, slots=True)
class Open:
    """The gate is reached: from here on it waits, until its deadline if it has one."""

    path: str


@dataclass(frozen=True, slots=True)
class Spawn:
    """The child is born."""

    path: str


# Messages


@dataclass(frozen=True, slots=True)
class AskChild:
    """The child is asked to cancel itself."""

    path: str


@dataclass(frozen=True, slots=True)
class UndoChild:
    """The child, which had ended well, begins its own unwind."""

    path: str


# Calls


@dataclass(frozen=True, slots=True)
class Intend:
    """Write that this attempt begins, then call the body."""

    path: str


@dataclass(frozen=True, slots=True)
class CallAtomic:
    """The body, whose own transaction also writes its record."""

    path: str


@dataclass(frozen=True, slots=True)
class Reconcile:
    """Ask the author whether the attempt of unknown outcome happened."""

    path: str


@dataclass(frozen=True, slots=True)
class Compensate:
    """Write that this attempt of the compensation begins, then call the handler."""

    path: str


# Releases


@dataclass(frozen=True, slots=True)
class Park:
    """Nothing to do before that moment; None: before something comes."""

    until: datetime | None


@dataclass(frozen=True, slots=True)
class Suspend:
    """An operator asked for a pause."""


@dataclass(frozen=True, slots=True)
class Stick:
    """Only an operator can go on from here."""

    reason: StuckReason
    path: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    """The end."""

    status: Status


Change = (
    PassPivot | PassMilestone | FailStep | Exhaust | TurnOver | Consume | TimeOut | EndChild | Cut | Expire
    | BeginUnwind | FailCompensation | EnqueueCompensation | ChildUndone | ChildStuck | ChildFreed
)  # fmt: skip
Arrange = Enqueue | Open | Spawn
Tell = AskChild | UndoChild
Call = Intend | CallAtomic | Reconcile | Compensate
Release = Park | Suspend | Stick | Finish
Decision = Change | Arrange | Tell | Call | Release

#: Decided because something is not there: nothing may have come since the facts were read.
ABSENT = TimeOut | Cut | Expire | BeginUnwind | Stick
