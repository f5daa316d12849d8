"""What must be over before an unwind begins, or before a group has failed (design §9.1, §9.7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from saga_app.core.decisions import AskChild, Decision, EndChild, Reconcile, Stick
from saga_app.core.status import TERMINAL, UNSETTLED, Status, StepStatus, StuckReason

if TYPE_CHECKING:
    from saga_app.core.saga import Saga
    from saga_app.core.snapshot import Record, Snapshot


def closing(saga: Saga[Any], x: Snapshot, records: Iterable[Record]) -> tuple[bool, Decision | None]:
    """Whether something is still waited for, and what can be done meanwhile.

    What can be done comes first: an orphan is asked about, a live child is asked to cancel itself.
    A child that is stuck and will not be cancelled stops everything, but only once nothing else is under way.
    """
    waits, stuck = False, ""
    for record in records:
        if record.kind == "child" and record.status == StepStatus.WAITING and record.child_id is not None:
            decision = _child(x, record)
            if decision is not None:
                return waits, decision
            is_stuck = x.kids[record.child_id].status == Status.STUCK
            stuck = record.path if is_stuck else stuck
            waits = waits or not is_stuck
        elif record.status == StepStatus.RUNNING and record.in_queue:
            waits = True
        elif may_be_asked(saga, record):
            return waits, Reconcile(record.path)
    if stuck and not waits:
        return True, Stick(StuckReason.CHILD_STUCK, stuck)
    return waits, None


def _child(x: Snapshot, record: Record) -> Decision | None:
    """What to do about a child that has not ended for its parent; None: it is on its way, or stuck."""
    kid = x.kids[record.child_id]  # type: ignore[index]  # a child's record that waits has its child
    if kid.status in TERMINAL:
        return EndChild(record.path)
    return None if kid.is_asked else AskChild(record.path)


def may_be_asked(saga: Saga[Any], record: Record) -> bool:
    """An orphan whose author can say what became of it, and was not asked yet."""
    if record.status != StepStatus.RUNNING or record.in_queue or record.reconciled:
        return False
    step = saga.step(record.path)
    return step is not None and step.reconciler is not None


def cuttable(saga: Saga[Any], records: Iterable[Record]) -> tuple[str, ...]:
    """The records of a failed group that can end at once: what waits, and orphans nobody can be asked about."""

    def can(record: Record) -> bool:
        if record.status not in UNSETTLED or (record.kind == "child" and record.child_id is not None):
            return False
        if record.status == StepStatus.RUNNING:
            return not record.in_queue and not may_be_asked(saga, record)
        return True

    return tuple(record.path for record in records if can(record))
