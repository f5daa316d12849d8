"""Claims: who may drive an execution, until when, and how a claim is kept or found again (design §7.3, §7.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.models import Exists, QuerySet

from saga_app import clock
from saga_app.conf import settings
from saga_app.core.snapshot import Snapshot
from saga_app.models import Execution, StepRecord
from saga_app.store import rows, sql
from saga_app.store.leases import Lease, grace
from saga_app.store.sql import ONE_MORE, Sql
from saga_app.store.transactions import durable

READ = (*rows.EXECUTION_FIELDS, "id", "input_text", "priority", "parent", "epoch", "writes", "wakes", "updated_at")

Queues = Sequence[str] | None  # None: all of them
Due = tuple[str, list[Any]]  # a SELECT and its parameters


@dataclass(slots=True, kw_only=True)
class Claim(Lease):
    """The right to drive one execution, and what every write must find unchanged.

    Attributes:
        writes: the rest of the fence.
        seen: `wakes` as of the facts that decisions are made from.
        priority: how urgent it is, which its children are too.
        parent_id: the execution whose child it is: locked before it wherever both are.
    """

    writes: int
    seen: int
    priority: int = 0
    parent_id: UUID | None = None

    def rows(self) -> QuerySet[Execution]:
        """The execution's row, if it is still ours to drive (with the same number of writes or not)."""
        mine = {"pk": self.execution_id, "epoch": self.epoch, "lease_holder": self.holder}
        return Execution.objects.using(self.using).filter(**mine)

    def step(self, path: str) -> QuerySet[StepRecord]:
        """The step record at that path, as long as the claim is ours."""
        ours = Execution.objects.using(self.using).filter(pk=self.execution_id, lease_holder=self.holder)
        return StepRecord.objects.using(self.using).filter(Exists(ours), execution_id=self.execution_id, path=path)


def holder_for(worker: str) -> str:
    """A holder's name, unique for one claim: a claim whose commit is in doubt is found by it."""
    return f"{worker}:{clock.token()}"


def take(
    holder: str, using: str, execution_id: UUID | None = None, *, queues: Queues = None
) -> tuple[Claim, Snapshot] | None:
    """Claim the most urgent due execution, inside a transaction of the caller's; None where nothing is due.

    Touches the lease columns only, never the status. `deaths` counts this claim; the first fenced write after this
    transaction resets it.

    Args:
        holder: a name from `holder_for`.
        using: the database alias.
        execution_id: claim that one, if it is due.
        queues: claim one of these queues only.
    """
    asked_at = clock.monotonic()
    found = _take_postgresql if connections[using].vendor == "postgresql" else _take_sqlite
    row = found(holder, using, _due(using, execution_id, queues))
    if row is None:
        return None
    claim = Claim(
        execution_id=row["id"],
        using=using,
        epoch=row["epoch"],
        holder=holder,
        writes=row["writes"],
        seen=row["wakes"],
        now=row["updated_at"],
        at=clock.monotonic(),
        lease_ends=asked_at + settings.LEASE,
        stored_input=row["input_text"],
        priority=row["priority"],
        parent_id=row["parent_id"],
    )
    facts = rows.load_facts(row, using)
    inside = any(record.is_called for record in facts.records)
    return claim, facts if inside or not row["was_held"] else facts.but(
        quiet_at=None
    )  # it was taken over between bodies


def _changes(using: str, holder: str, quiet: object) -> dict[str, Any]:
    """The lease columns. `quiet`: until when whoever held a lapsed lease may still be inside a body (design §8.8)."""
    return {
        "epoch": ONE_MORE["epoch"],
        "lease_holder": holder,
        "due_at": sql.moment(using, plus=settings.LEASE),
        "deaths": ONE_MORE["deaths"],
        "updated_at": sql.moment(using),
        "quiet_at": quiet,
    }


def is_due(using: str, execution_id: UUID | None = None, *, queues: Queues = None) -> bool:
    """Whether anything is due, or that execution is: a plain look."""
    return bool(_most_urgent(using, _due(using, execution_id, queues)))


def _due(using: str, execution_id: UUID | None, queues: Queues) -> tuple[str, list[Any]]:
    """The most urgent due execution, as a SELECT and its parameters."""
    now, one = sql.moment(using), " AND id = %s" if execution_id else ""
    chosen = [sql.prepared(Execution, using, "id", execution_id)] if execution_id else []
    served = "" if queues is None else f" AND queue IN ({', '.join(['%s'] * len(queues))})"
    text = (
        "SELECT id, due_at, lease_holder, quiet_at FROM saga_app_execution "
        f"WHERE due_at <= {now.text}{one}{served} ORDER BY priority, due_at LIMIT 1"
    )
    return text, [*now.params, *chosen, *(queues or ())]


def _most_urgent(using: str, due: Due) -> list[dict[str, Any]]:
    return sql.run(Execution, using, *due, ("id", "due_at", "lease_holder", "quiet_at"))


def _take_sqlite(holder: str, using: str, due: Due) -> dict[str, Any] | None:
    """The caller's transaction holds the only write lock already."""
    for row in _most_urgent(using, due):
        quiet = row["due_at"] + grace() if row["lease_holder"] is not None else row["quiet_at"]
        (taken,) = sql.update(Execution, using, _changes(using, holder, quiet), {"id": row["id"]}, READ)
        return taken | {"was_held": row["lease_holder"] is not None}
    return None


def _take_postgresql(holder: str, using: str, due: Due) -> dict[str, Any] | None:
    """One statement. MATERIALIZED, so that the row is chosen and locked once; SKIP LOCKED, so that nobody queues."""
    chosen, params = due
    quiet = Sql("CASE WHEN x.lease_holder IS NULL THEN x.quiet_at ELSE x.due_at + %s END", (grace(),))
    changes = _changes(using, holder, quiet)
    assignments = ", ".join(f"{name} = {sql.placeholder(value)}" for name, value in changes.items())
    text = (
        f"WITH c AS MATERIALIZED ({chosen} FOR NO KEY UPDATE SKIP LOCKED) "
        f"UPDATE saga_app_execution x SET {assignments} FROM c WHERE x.id = c.id "
        f"RETURNING {sql.columns(Execution, READ, 'x')}, c.lease_holder IS NOT NULL"
    )
    for row in sql.run(Execution, using, text, [*params, *_values(changes)], READ, extra=1):
        return row | {"was_held": row.pop("extra")[0]}
    return None


def _values(changes: dict[str, Any]) -> list[Any]:
    return [each for value in changes.values() for each in (value.params if isinstance(value, Sql) else (value,))]


def is_there(claim: Claim) -> bool:
    """Whether a claim whose commit is in doubt has landed: its holder's name is nobody else's (design §7.2)."""
    with durable(claim.using):
        return bool(claim.rows().select_for_update(no_key=True).values("pk").first())


def look(claim: Claim) -> Snapshot:
    """The facts anew, `wakes` before them. Raises nothing where the claim is lost: the next write will say so."""
    (row,) = sql.run(
        Execution,
        claim.using,
        f"SELECT {sql.columns(Execution, READ)} FROM {sql.table(Execution)} WHERE id = %s",
        [sql.prepared(Execution, claim.using, "id", claim.execution_id)],
        READ,
    )
    claim.seen = row["wakes"]
    return rows.load_facts(row, claim.using)


def something_came(claim: Claim) -> bool:
    """Whether `wakes` has been raised since the facts were read: a plain look."""
    rows_now = Execution.objects.using(claim.using).filter(pk=claim.execution_id)
    return rows_now.exclude(wakes=claim.seen).exists()


def beat(claim: Claim) -> bool:
    """Renew the lease where less than half of it is left; False when it is somebody else's (the watchdog asks)."""
    if not claim.worn:
        return True
    asked_at = clock.monotonic()
    connection = connections[claim.using]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # a row lock of a verb is short; a lost lease must be noticed in time
            cursor.execute("SET lock_timeout = '1s'")
    if not claim.rows().update(due_at=clock.database_now(claim.using, plus=settings.LEASE)):
        return False
    claim.renewed(asked_at)
    return True
