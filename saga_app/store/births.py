"""The birth of an execution: one row, or the row that its key already names (design §3, P7)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from saga_app import clock
from saga_app.core.saga import Saga
from saga_app.core.status import Status
from saga_app.models import Execution
from saga_app.store import events
from saga_app.store.transactions import alias


def insert(
    saga: Saga[Any],
    input_text: str,
    *,
    key: str | None,
    priority: int,
    due: datetime | None,
    actor: Any,
    data: dict[str, Any] | None = None,
) -> tuple[Execution, bool]:
    """Insert an execution that is due at once, or at `due`; it happens when the caller's transaction commits.

    Returns:
        The row, and whether this call made it. A taken key breaks no transaction: DO NOTHING, and read again.
    """
    using = alias()
    now = clock.database_now(using)
    row = Execution(
        saga=saga.name,
        revision=saga.revision,
        fingerprint=saga.fingerprint,
        key=key,
        status=Status.PENDING,
        input_text=input_text,
        priority=priority,
        due_at=due or now,
        not_before=due,
        created_at=now,
        updated_at=now,
    )
    rows = Execution.objects.using(using)
    with transaction.atomic(using=using, savepoint=False):
        rows.bulk_create([row], ignore_conflicts=key is not None)
        found = rows.get(pk=row.pk) if key is None else rows.get(saga=saga.name, key=key)
        is_new = found.pk == row.pk
        if is_new:
            events.append(row.pk, "start", using, actor=actor, data=data)
    return found, is_new
