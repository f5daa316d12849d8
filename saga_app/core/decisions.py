"""What a decision may ask for.

Three kinds, told apart by what has to happen around the write:
changes are written and decided upon again; calls run user code (after their intent, or, where nothing has to be
written first, at once); releases give the claim back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from saga_app.core.status import Status, StuckReason, UnwindCause


@dataclass(frozen=True, slots=True)
class PassPivot:
    """Change: from here on only forward."""


@dataclass(frozen=True, slots=True)
class FailStep:
    """Change: the step's outcome stays unknown and its attempts are used up; it failed, and may have happened."""

    path: str


@dataclass(frozen=True, slots=True)
class BeginUnwind:
    """Change: settle every open record, and go backwards from here on."""

    cause: UnwindCause


@dataclass(frozen=True, slots=True)
class FailCompensation:
    """Change: the compensation's attempts are used up."""

    path: str


@dataclass(frozen=True, slots=True)
class Intend:
    """Call: write that this attempt begins, then call the body."""

    path: str


@dataclass(frozen=True, slots=True)
class CallAtomic:
    """Call: the body, whose own transaction also writes its record."""

    path: str


@dataclass(frozen=True, slots=True)
class Reconcile:
    """Call: ask the author whether the attempt of unknown outcome happened."""

    path: str


@dataclass(frozen=True, slots=True)
class Compensate:
    """Call: write that this attempt of the compensation begins, then call the handler."""

    path: str


@dataclass(frozen=True, slots=True)
class Park:
    """Release: nothing to do before that moment."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Suspend:
    """Release: an operator asked for a pause."""


@dataclass(frozen=True, slots=True)
class Stick:
    """Release: only an operator can go on from here."""

    reason: StuckReason
    path: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    """Release: the end."""

    status: Status


Change = PassPivot | FailStep | BeginUnwind | FailCompensation
Call = Intend | CallAtomic | Reconcile | Compensate
Release = Park | Suspend | Stick | Finish
Decision = Change | Call | Release
