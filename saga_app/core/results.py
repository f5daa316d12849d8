"""What a walk through a block, a group or a node finds: what is to be done, or why nothing is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from saga_app.core.decisions import Call, Decision, Stick


@dataclass(frozen=True, slots=True)
class Done:
    """It is over, and it is well."""


@dataclass(frozen=True, slots=True)
class Failed:
    """It has failed for good.

    Attributes:
        paths: the records that say why; several where more than one branch of a group failed.
    """

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Go:
    """Something can be done now."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class Halted:
    """Only an operator can go on here."""

    decision: Stick


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing can be done before that moment (None: before something comes).

    Attributes:
        until: the moment.
        busy: a queued step is in some worker's hands, or waits for one: an operator need not be called yet.
    """

    until: datetime | None = None
    busy: bool = False


Result = Done | Failed | Go | Halted | Idle
DONE = Done()


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a block is walked: in which turns of which loops, and whether in a group, where steps are queued."""

    prefix: str = ""
    grouped: bool = False

    def inside(self, prefix: str) -> Spot:
        """The same, in a turn of a loop."""
        return Spot(prefix, self.grouped)


def first_of(results: Sequence[Result]) -> Result:
    """What a group does next: what costs nothing first, then calls; stopped only when nothing of it can go on."""
    if not results:
        return DONE
    able = [one for one in results if isinstance(one, Go)]
    if able:
        return next((one for one in able if not isinstance(one.decision, Call)), able[0])
    idle = [one for one in results if isinstance(one, Idle)]
    busy = any(one.busy for one in idle)
    if not busy:
        for one in results:
            if isinstance(one, Halted):
                return one
    return Idle(earliest(one.until for one in idle), busy=busy)


def earliest(moments: Iterable[datetime | None]) -> datetime | None:
    """The first of them; None where there is none."""
    return min((one for one in moments if one is not None), default=None)


def latest(moments: Iterable[datetime | None]) -> datetime | None:
    """The last of them; None where there is none."""
    return max((one for one in moments if one is not None), default=None)
