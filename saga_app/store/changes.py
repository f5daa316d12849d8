"""What somebody who does not drive an execution may write: verbs under the row lock, and wakes (design §7.4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Case, F, Q, When

from saga_app import clock
from saga_app.clock import MomentField
from saga_app.core.errors import UnknownExecution
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import STOPPED
from saga_app.models import Execution
from saga_app.store import rows


@dataclass(frozen=True, slots=True)
class Locked:
    """An execution's row, locked until the transaction ends.

    Attributes:
        row: the row, without what may be large.
        facts: the picture of it.
        now: the database's moment.
    """

    row: Execution
    facts: Snapshot
    now: datetime

    @property
    def held(self) -> bool:
        """A worker drives it."""
        return self.row.lease_holder is not None


def lock(execution_id: UUID, using: str) -> Locked:
    """Lock an execution inside a transaction of the caller's, and read it.

    FOR NO KEY UPDATE: it does not block those who insert events or records that point to the row.
    """
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
    facts = rows.snapshot(rows.columns_of(row), rows.load_records(execution_id, using))
    return Locked(row, facts, row.moment)  # type: ignore[attr-defined]


def change(locked: Locked, after: Snapshot, using: str) -> Snapshot:
    """Write what a verb changed; its history is the caller's, since inserts come last (design §7.5).

    `wakes` says that something came; only an unheld, open row's due time moves.
    """
    changes = rows.execution_changes(locked.facts, after)
    changes.pop("due_at", None)
    changes |= {"wakes": F("wakes") + 1, "version": F("version") + 1, "updated_at": clock.database_now(using)}
    if not locked.held:
        changes |= {"epoch": F("epoch") + 1, "due_at": None if after.status in STOPPED else _at_once(using)}
    Execution.objects.using(using).filter(pk=locked.row.pk).update(**changes)
    return rows.write_records(locked.row.pk, locked.facts, after, using)


def _at_once(using: str) -> Case:
    """Due now, unless it is due already; LEAST would do on one database only, since they differ on NULL."""
    now = clock.database_now(using)
    return Case(
        When(Q(due_at__isnull=True) | Q(due_at__gt=now), then=now), default=F("due_at"), output_field=MomentField()
    )
