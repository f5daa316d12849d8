"""What a fork takes over from an ended execution, and whether an execution may go on in another definition (§12).

Each record is taken once: the effect it stands for is in the world once, so one execution answers for undoing it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from saga_app.core.fitting import EVER, fits
from saga_app.core.names import closest
from saga_app.core.outcomes import CUT
from saga_app.core.results import Failed
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import StepStatus, StuckReason
from saga_app.core.tree import independent
from saga_app.core.unwind import Action, plan_unwind
from saga_app.core.verbs import Refused
from saga_app.core.walk import Walk

if TYPE_CHECKING:
    from saga_app.core.saga import Saga

#: What belongs to the old execution alone: its row, its place in a queue, how far its loop's mark was.
_FRESH: dict[str, Any] = {
    "id": None,
    "turn": 0,
    "taken_by": None,
    "row_due_at": None,
    "row_epoch": 0,
    "row_holder": None,
    "row_quiet_at": None,
    "row_deaths": 0,
}


@dataclass(frozen=True, slots=True)
class Fork:
    """A new execution that begins where an old one was.

    Attributes:
        taken: the old one's records that it takes over, in the order they started.
        begun: the new one as it begins: with copies of them, that carry the keys of the execution that made the calls.
    """

    taken: tuple[Record, ...]
    begun: Snapshot


def plan_fork(saga: Saga[Any], x: Snapshot, path: str, execution_id: UUID) -> Fork | Refused:
    """What a fork of an ended execution from that record on would be.

    Args:
        saga: its definition.
        x: the old execution.
        path: the record that is done again; what started after it is left out.
        execution_id: the old execution's id.

    Returns:
        The fork, or why there can be none.
    """
    first = x.record(path)
    if first is None:
        return Refused("no_such_step", {"path": path, "nearest": closest(path, [one.path for one in x.records])})
    pivoted_at = x.pivoted_at if saga.past_pivot(path) else None
    begun = Snapshot(saga=x.saga, revision=x.revision, pivoted_at=pivoted_at)
    taken = _before(saga, begun, x, first)
    for record in taken:
        if record.taken_by is not None:
            return Refused("taken", {"path": record.path, "by": str(record.taken_by)})
        if record.compensation_status:
            undone = {"path": record.path, "compensation": str(record.compensation_status)}
            return Refused("child_undone" if record.kind == "child" else "undone", undone)
    copies = [one.but(**_FRESH, seq=seq, origin=one.origin or execution_id) for seq, one in enumerate(taken)]
    begun = begun.with_records(copies).but(next_seq=len(copies))
    if saga.place(path) is None or not fits(saga, begun):
        return Refused("does_not_fit", {"revision": saga.revision, "path": path})
    return Fork(taken, begun.but(fingerprint=saga.fingerprint))


def _before(saga: Saga[Any], begun: Snapshot, x: Snapshot, first: Record) -> tuple[Record, ...]:
    """The records that started before that one and are over.

    A failure is over where the saga went on after it. One that ended its group is left out, with what was cut short
    because of it: the fork does them again.
    """
    started = [one for one in x.records if one.seq < first.seq and one.status in _ENDED]
    found = [one for one in started if not _cut(one) or _passed(saga, one, [*started, first])]
    while True:
        result = Walk(saga, begun.with_records(found), EVER, whole=True).all()
        failed = result.paths if isinstance(result, Failed) else ()
        if not any(one.path in failed for one in found):
            return tuple(sorted(found, key=lambda one: one.seq))
        found = [one for one in found if one.path not in failed]


_ENDED = (StepStatus.COMPLETED, StepStatus.SKIPPED, StepStatus.FAILED)


def _cut(record: Record) -> bool:
    """It had not done anything when its group failed or the unwind began. A gate that was over says how."""
    untouched = record.attempt == 0 or record.kind in ("wait", "approval", "sleep")
    return record.status == StepStatus.SKIPPED and (record.choice == CUT or (untouched and not record.choice))


def _passed(saga: Saga[Any], record: Record, started: Iterable[Record]) -> bool:
    """Something that stands after it has started."""
    return any(one.seq > record.seq and not independent(saga, record.path, one.path) for one in started)


def gone(saga: Saga[Any], x: Snapshot) -> str:
    """The path of a record whose compensation is owed and which has none any more in that definition; or nothing."""
    return next((line.path for line in plan_unwind(saga, x) if line.reason == StuckReason.DEFINITION_CHANGED
                 and line.action is Action.HALT), "")  # fmt: skip


def misfit(saga: Saga[Any], x: Snapshot) -> Refused | None:
    """Why an execution could not go on in that definition, whatever shape it was started in; None: it can."""
    if not fits(saga, x.but(fingerprint="")):
        return Refused("does_not_fit", {"revision": saga.revision, "path": ""})
    path = gone(saga, x)
    return Refused("does_not_fit", {"revision": saga.revision, "path": path}) if path else None
