"""What next, backwards: from records to an ordered list of acts.

The law of this file (design §9). Order: reverse of the start, one at a time. A settled outcome is never run again.
A record that cannot be compensated halts what it holds back: everything that started before it, but what stands in
another branch of one group. The checks per record come in this order: vanished, settled, halted, child, not owed,
compensate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from saga_app.core.failures import ErrorInfo
from saga_app.core.outcomes import CUT, settle_open
from saga_app.core.status import SETTLED, CompensationStatus, StepStatus, StuckReason
from saga_app.core.tree import Ahead

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot
    from saga_app.core.steps import Handler


class Action(StrEnum):
    """What the unwind does about one record."""

    COMPENSATE = "compensate"
    UNDO_CHILD = "undo_child"
    RECONCILE = "reconcile"
    DONE = "done"  # it has its outcome
    NOTHING = "nothing"  # nothing is owed for it
    HALT = "halt"  # only an operator can go on
    BLOCKED = "blocked"  # waits behind a halt


QUIET = (Action.DONE, Action.NOTHING)  # nothing is left to do about it


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
    """It had a compensation when it ran, its effect may stand in the world, and no fork has taken it over."""
    return record.owes and happened(record) and record.taken_by is None


def rest(records: Iterable[Record]) -> Record | None:
    """Where the unwind stops: the latest milestone, or a child that rested at one of its own."""
    return max(filter(_rests, records), key=lambda r: r.seq, default=None)


def _rests(record: Record) -> bool:
    return record.kind == "milestone" or (record.kind == "child" and record.choice not in ("", CUT))


def undone(saga: Saga[Any] | None, snapshot: Snapshot) -> list[Record]:
    """The records whose effect stands, or may stand, in the world and is not to stay there, the latest start first.

    What a milestone keeps is not among them: it stands because it shall. Another lane of its group is not kept.
    """
    x = snapshot if snapshot.unwinding else settle_open(saga, snapshot)
    found, rests = [], Ahead(saga)
    for record in sorted(x.records, key=lambda r: r.seq, reverse=True):
        is_undone = record.compensation_status in (CompensationStatus.COMPENSATED, CompensationStatus.RESOLVED)
        if owed(record) and not is_undone and not rests.holds_back(record.path):
            found.append(record)
        if _rests(record):
            rests.add(record.path)
    return found


def rests_at(x: Snapshot) -> str:
    """The name of the milestone at which an unwind rests, or nothing."""
    found = rest(x.records) if x.pivoted_at is None else None
    if found is None:
        return ""
    return found.choice if found.kind == "child" else found.name


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
    return tuple(lines(saga, snapshot if snapshot.unwinding else settle_open(saga, snapshot)))


def lines(saga: Saga[Any], x: Snapshot) -> Iterator[Planned]:
    """The plan's lines, one by one: whoever needs the first that is left does not make them all."""
    halts, rests = Ahead(saga), Ahead(saga)
    for record in sorted(x.records, key=lambda r: r.seq, reverse=True):
        line = _kept(record) if rests.holds_back(record.path) else _line(saga, x, record)
        if line.action not in QUIET and halts.holds_back(record.path):
            line = Planned(record, Action.BLOCKED)
        if line.action is Action.HALT:
            halts.add(record.path)
        if _rests(record):
            rests.add(record.path)
        yield line


def _kept(record: Record) -> Planned:
    """What a point where the unwind rests has followed: it stays, but an outcome it has is told."""
    if record.compensation_status in SETTLED:
        return Planned(record, Action.DONE, record.compensation_status)
    return Planned(record, Action.NOTHING, "milestone" if owed(record) else _why_nothing(record))


def _line(saga: Saga[Any], x: Snapshot, record: Record) -> Planned:
    """One record's line, regardless of the others. The order of these checks is the rule."""
    handler = handler_of(saga, record)
    failed = record.compensation_status == CompensationStatus.FAILED
    unsettled = owed(record) and record.compensation_status not in SETTLED
    if handler is None and unsettled and record.kind != "child":
        return Planned(record, Action.HALT, StuckReason.DEFINITION_CHANGED)
    if record.compensation_status in SETTLED:
        return Planned(record, Action.DONE, record.compensation_status)
    if failed and not _is_freed(x, record):
        return Planned(record, Action.HALT, _why_failed(record))
    if record.kind == "child" and unsettled:
        return Planned(record, Action.UNDO_CHILD)
    if handler is None or not unsettled:
        return Planned(record, Action.NOTHING, _why_nothing(record))
    if handler.needs_result and record.output_text is None:
        return _without_result(saga, record)
    return Planned(record, Action.COMPENSATE)


def _is_freed(x: Snapshot, record: Record) -> bool:
    """A child that could not be undone, and can be now: what it is, and not what was said of it, counts."""
    kid = x.kids.get(record.child_id) if record.child_id is not None else None
    return kid is not None and not kid.halts


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
    if record.kind == "child":
        return StuckReason.CHILD_STUCK
    info = ErrorInfo.from_json(record.compensation_error_text) if record.compensation_error_text else None
    unread = info is not None and info.type.rpartition(".")[2] == "Undecodable"
    return StuckReason.UNDECODABLE if unread else StuckReason.COMPENSATION_FAILED


def _why_nothing(record: Record) -> str:
    if record.status == StepStatus.SKIPPED:
        return "skipped"
    if record.taken_by is not None:
        return "taken"
    return "did_not_happen" if not happened(record) else "no_compensation"
