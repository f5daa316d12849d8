"""What next, backwards: from records to an ordered list of acts.

The law of this file (design §9). Order: reverse of the start, one at a time. A settled outcome is never run again.
The first record that cannot be compensated halts: what started before it keeps no outcome until somebody decides.
The checks per record come in this order: vanished, settled, halted, not owed, compensate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from saga_app.core.decisions import Compensate, Decision, FailCompensation, Finish, Park, Reconcile, Stick, Suspend
from saga_app.core.failures import ErrorInfo
from saga_app.core.outcomes import settle_open
from saga_app.core.status import (
    SETTLED,
    CompensationStatus,
    Status,
    StepStatus,
    StuckReason,
    UnwindCause,
)

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot
    from saga_app.core.steps import Handler


class Action(StrEnum):
    """What the unwind does about one record."""

    COMPENSATE = "compensate"
    RECONCILE = "reconcile"
    DONE = "done"  # it has its outcome
    NOTHING = "nothing"  # nothing is owed for it
    HALT = "halt"  # only an operator can go on
    BLOCKED = "blocked"  # waits behind a halt


@dataclass(frozen=True, slots=True)
class Planned:
    """One line of the plan.

    Attributes:
        record: the step record.
        action: what the unwind does about it.
        reason: a code that says why: an outcome, a stuck reason, or what makes it not owed.
    """

    record: Record
    action: Action
    reason: str = ""

    @property
    def path(self) -> str:
        """The record's path."""
        return self.record.path

    @property
    def name(self) -> str:
        """The step's name."""
        return self.record.name


def happened(record: Record) -> bool:
    """Completed, or failed without knowing that nothing happened."""
    return record.status == StepStatus.COMPLETED or (record.status == StepStatus.FAILED and record.may_have_happened)


def owed(record: Record) -> bool:
    """It had a compensation when it ran, and its effect may stand in the world."""
    return record.owes and happened(record)


def plan_unwind(saga: Saga[Any], snapshot: Snapshot) -> tuple[Planned, ...]:
    """The unwind of an execution, in the order it goes.

    Args:
        saga: the definition now in use; it may differ from the one that ran.
        snapshot: the facts. Where it does not unwind yet, the plan is that of an unwind beginning now.

    Returns:
        One line for each record, latest start first. Empty past the pivot: nothing is compensated there.
    """
    if snapshot.pivoted_at is not None:
        return ()
    records = snapshot.records if snapshot.unwinding else settle_open(saga, snapshot).records
    return tuple(_lines(saga, records))


def _lines(saga: Saga[Any], records: Iterable[Record]) -> Iterator[Planned]:
    halted = False
    for record in sorted(records, key=lambda r: r.seq, reverse=True):
        line = _line(saga, record)
        if halted and line.action not in (Action.DONE, Action.NOTHING):
            line = Planned(record, Action.BLOCKED)
        halted = halted or line.action is Action.HALT
        yield line


def _line(saga: Saga[Any], record: Record) -> Planned:
    """One record's line, regardless of the others. The order of these checks is the rule."""
    handler = handler_of(saga, record)
    failed = record.compensation_status == CompensationStatus.FAILED
    unsettled = owed(record) and record.compensation_status not in SETTLED
    if handler is None and unsettled:
        return Planned(record, Action.HALT, StuckReason.DEFINITION_CHANGED)
    if record.compensation_status in SETTLED:
        return Planned(record, Action.DONE, record.compensation_status)
    if failed:
        return Planned(record, Action.HALT, _why_failed(record))
    if handler is None or not unsettled:
        return Planned(record, Action.NOTHING, _why_nothing(record))
    if handler.needs_result and record.output_text is None:
        return _without_result(saga, record)
    return Planned(record, Action.COMPENSATE)


def handler_of(saga: Saga[Any], record: Record) -> Handler | None:
    """The compensation of that record in the definition now in use."""
    step = saga.step(record.path)
    return step.compensation if step else None


def _without_result(saga: Saga[Any], record: Record) -> Planned:
    """A compensation that needs a result is never called without one: ask, else an operator decides."""
    step = saga.step(record.path)
    if step and step.reconciler and not record.reconciled:
        return Planned(record, Action.RECONCILE)
    return Planned(record, Action.HALT, StuckReason.OUTCOME_UNKNOWN)


def _why_failed(record: Record) -> str:
    """A compensation whose arguments could not be read back was never called; that has a cure of its own."""
    info = ErrorInfo.from_json(record.compensation_error_text) if record.compensation_error_text else None
    unread = info is not None and info.type.rpartition(".")[2] == "Undecodable"
    return StuckReason.UNDECODABLE if unread else StuckReason.COMPENSATION_FAILED


def _why_nothing(record: Record) -> str:
    if record.status == StepStatus.SKIPPED:
        return "skipped"
    return "did_not_happen" if not happened(record) else "no_compensation"


def backwards(saga: Saga[Any], snapshot: Snapshot, now: datetime) -> Decision:
    """What the unwind does next."""
    if snapshot.suspend_requested_at:
        return Suspend()
    for line in plan_unwind(saga, snapshot):
        match line.action:
            case Action.HALT:
                return Stick(StuckReason(line.reason), line.path)
            case Action.RECONCILE:
                return Reconcile(line.path)
            case Action.COMPENSATE:
                return _compensate(line.record, now)
    return Finish(Status.FAILED if snapshot.unwind_cause == UnwindCause.FAILURE else Status.CANCELLED)


def _compensate(record: Record, now: datetime) -> Decision:
    due = record.compensation_due_at
    if record.compensation_status == CompensationStatus.WAITING and due is not None and due > now:
        return Park(due)
    if record.compensation_attempt and record.compensation_attempt >= record.compensation_limit:
        return FailCompensation(record.path)
    return Compensate(record.path)
