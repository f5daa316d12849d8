"""The birth of an execution: one row, or the row that its key already names (design §3, P7); and that of a child."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models.expressions import Combinable

from saga_app import clock
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import Status
from saga_app.models import Execution
from saga_app.store import events, versions
from saga_app.store.transactions import alias

if TYPE_CHECKING:
    from saga_app.store.children import Birth
    from saga_app.store.claims import Claim


def insert(
    saga: Saga[Any],
    input_text: str,
    *,
    key: str | None,
    priority: int,
    due: datetime | None,
    actor: Any,
    queue: str | None = None,
    data: dict[str, Any] | None = None,
) -> tuple[Execution, bool]:
    """Insert an execution that is due at once, or at `due`; it happens when the caller's transaction commits.

    Returns:
        The row, and whether this call made it. A taken key breaks no transaction: DO NOTHING, and read again.
    """
    using = alias()
    chosen = saga.queue if queue is None else queue
    row = _row(saga, input_text, using, due=due, key=key, priority=priority, queue=chosen or "")
    rows = Execution.objects.using(using)
    with transaction.atomic(using=using, savepoint=False):
        rows.bulk_create([row], ignore_conflicts=key is not None)
        found = rows.get(pk=row.pk) if key is None else rows.get(saga=saga.name, key=key)
        is_new = found.pk == row.pk
        if is_new:
            events.append(row.pk, "start", using, actor=actor, data=data)
            versions.keep(saga, using)
    return found, is_new


def bear(parent: Claim, x: Snapshot, birth: Birth) -> None:
    """Insert a child in its parent's own write. Its id is in the record that this writes: one child, whatever crashes.

    Args:
        parent: the claim of the parent.
        x: the picture of the parent, with that record.
        birth: the child.
    """
    saga, path = birth.saga, birth.path
    row = _row(saga, birth.input_text, parent.using, pk=birth.child_id, priority=parent.priority)
    row.queue = saga.queue or x.queue
    row.parent_id, row.parent_path, row.parent_attempt = parent.execution_id, path, x.known(path).attempt
    Execution.objects.using(parent.using).bulk_create([row])
    events.append(row.pk, "start", parent.using, data={"parent": str(parent.execution_id), "path": path})
    versions.keep(saga, parent.using)


def _row(saga: Saga[Any], input_text: str, using: str, *, due: datetime | None = None, **columns: Any) -> Execution:
    """A row as it begins. Its deadline counts from when it may begin."""
    now = clock.database_now(using)
    deadline: datetime | Combinable | None = None
    if saga.timeout is not None:
        late = timedelta(seconds=saga.timeout)
        deadline = max(due, clock.now()) + late if due else clock.database_now(using, plus=saga.timeout)
    return Execution(
        saga=saga.name,
        revision=saga.revision,
        fingerprint=saga.fingerprint,
        status=Status.PENDING,
        input_text=input_text,
        due_at=due or now,
        not_before=due,
        deadline_at=deadline,
        created_at=now,
        updated_at=now,
        status_at=now,
        **columns,
    )
