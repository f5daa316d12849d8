"""What somebody who does not drive an execution may write: verbs under the row lock, and wakes (design §7.4, §7.5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Case, F, Q, When

from saga_app import clock
from saga_app.clock import MomentField
from saga_app.core import family
from saga_app.core.errors import UnknownExecution
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import STOPPED, Status, StuckReason
from saga_app.models import Execution
from saga_app.store import events, rows
from saga_app.store.leases import grace
from saga_app.store.wakes import wake


@dataclass(frozen=True, slots=True)
class Locked:
    """An execution's row, locked until the transaction ends.

    Attributes:
        row: the row, without what may be large.
        facts: the picture of it.
        now: the database's moment.
        above: the rows of its parent, of that one's parent, and so on, locked too.
    """

    row: Execution
    facts: Snapshot
    now: datetime
    above: tuple[Execution, ...] = ()

    @property
    def held(self) -> bool:
        """A worker drives it."""
        return self.row.lease_holder is not None


def lock(execution_id: UUID, using: str) -> Locked:
    """Lock an execution inside a transaction of the caller's, and read it.

    Its ancestors are locked first, from the root downward: a verb may lift what stopped them. Whose child an open
    execution is never changes, so that can be read before.
    """
    ancestors: list[UUID] = []
    above = _parent_of(execution_id, using)
    while above is not None:
        ancestors.append(above)
        above = _parent_of(above, using)
    locked = [lock_row(each, using) for each in reversed(ancestors)]
    return lock_alone(execution_id, using, above=tuple(reversed(locked)))


def _parent_of(execution_id: UUID, using: str) -> UUID | None:
    found = Execution.objects.using(using).filter(pk=execution_id)
    return found.values_list("parent_id", flat=True).first()


def lock_alone(execution_id: UUID, using: str, *, above: tuple[Execution, ...] = ()) -> Locked:
    """Lock an execution and not its ancestors, for a change that does not concern them, and read it."""
    row = lock_row(execution_id, using)
    facts = rows.load_facts(rows.columns_of(row), using)
    return Locked(row, facts, moment_of(row), above)


def lock_row(execution_id: UUID, using: str) -> Execution:
    """Lock an execution's row. FOR NO KEY UPDATE: who inserts what points to the row is not blocked."""
    row = (
        Execution.objects.using(using)
        .light()
        .select_for_update(no_key=True)
        .annotate(moment=clock.database_now(using))
        .filter(pk=execution_id)
        .first()
    )
    if row is None:
        raise UnknownExecution(f"no execution has the id {execution_id}")
    return row


def moment_of(row: Execution) -> datetime:
    """The database's moment when it was asked for the lock of that row; waiting for it may have taken long."""
    return row.moment  # type: ignore[attr-defined, no-any-return]


def change(locked: Locked, after: Snapshot, using: str) -> Snapshot:
    """Write what a verb changed, and tell its parent; its history is the caller's, since inserts come last (§7.5)."""
    written = write(locked, after, using)
    if locked.above and family.tells(locked.facts, after):
        _tell_parent(locked, using)
    return written


def write(locked: Locked, after: Snapshot, using: str) -> Snapshot:
    """Write what changed.

    `wakes` says that something came; only an unheld, open row's due time moves.
    """
    after = _quiet(locked.facts, after)
    changes = rows.execution_changes(locked.facts, after)
    changes.pop("due_at", None)
    changes |= {"wakes": F("wakes") + 1, "version": F("version") + 1, "updated_at": clock.database_now(using)}
    if "status" in changes:
        changes["status_at"] = changes["updated_at"]
    if not locked.held:
        changes |= {"epoch": F("epoch") + 1, "due_at": None if after.status in STOPPED else _at_once(using)}
    Execution.objects.using(using).filter(pk=locked.row.pk).update(**changes)
    return rows.write_records(locked.row.pk, locked.facts, after, using)


def _quiet(before: Snapshot, after: Snapshot) -> Snapshot:
    """The picture with how long a worker may still be inside a queued step that was taken from it (design §8.8)."""
    for record in before.records:
        ends = record.row_due_at if record.row_holder is not None and record.is_called else None
        if ends is not None and after.known(record.path).row_holder is None:
            after = after.with_record(record.path, row_quiet_at=ends + grace())
    return after


def _tell_parent(child: Locked, using: str) -> None:
    """Wake it; where it was stuck at this child, which is stuck no more, it goes on, and its own parent is told."""
    row, path = child.above[0], child.row.parent_path
    stopped = (row.status, row.stuck_reason, row.failing_path) == (Status.STUCK, StuckReason.CHILD_STUCK, path)
    if child.facts.status != Status.STUCK or not stopped:
        wake(row.pk, using)
        return
    facts = rows.load_facts(rows.columns_of(row), using)
    parent = Locked(row, facts, child.now, child.above[1:])
    after = change(parent, family.lift(facts, child.now), using)
    events.append(row.pk, "lifted", using, data={"path": path, "child": str(child.row.pk)})
    events.append_history(row.pk, facts, after, using, child.now)


def _at_once(using: str) -> Case:
    """Due now, unless it is due already; LEAST would do on one database only, since they differ on NULL."""
    now = clock.database_now(using)
    return Case(
        When(Q(due_at__isnull=True) | Q(due_at__gt=now), then=now), default=F("due_at"), output_field=MomentField()
    )
