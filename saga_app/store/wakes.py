"""Wakes: something has come that whoever drives an execution must see (design §7.4)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from saga_app.core.status import STOPPED
from saga_app.models import Execution
from saga_app.store import sql
from saga_app.store.sql import ONE_MORE, Sql


def wake(execution_id: UUID, using: str, **also: Any) -> None:
    """Raise `wakes`, in a transaction of the caller's; locks the row, and moves its due time by the one rule.

    Only the holder moves what is held, and what is stopped stays so: it keeps fact and count until it is resumed.

    Args:
        execution_id: which execution.
        using: the database alias.
        also: columns to change in the same statement.
    """
    now = sql.moment(using)
    stopped = ", ".join(f"'{status}'" for status in sorted(STOPPED))
    moves = f"lease_holder IS NULL AND status NOT IN ({stopped}) AND (due_at IS NULL OR due_at > {now.text})"
    due = Sql(f"CASE WHEN {moves} THEN {now.text} ELSE due_at END", (*now.params, *now.params))
    sql.update(Execution, using, {"wakes": ONE_MORE["wakes"], "due_at": due, **also}, {"id": execution_id})
