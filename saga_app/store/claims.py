"""Claims: who may drive an execution, until when, and how a claim is kept or found again (design §7.3, §7.6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.models import F, QuerySet
from django.db.models.expressions import RawSQL

from saga_app import clock
from saga_app.conf import settings
from saga_app.core.snapshot import Snapshot
from saga_app.models import Execution
from saga_app.store import rows
from saga_app.store.returning import update_returning
from saga_app.store.transactions import durable

READ = (*rows.EXECUTION_FIELDS, "id", "input_text", "epoch", "writes", "wakes", "lease_holder", "updated_at")


@dataclass(slots=True)
class Claim:
    """The right to drive one execution, and what every write must find unchanged.

    Attributes:
        execution_id: which execution.
        using: the database alias.
        epoch, holder, writes: the fence.
        seen: `wakes` as of the facts that decisions are made from.
        fresh: the claim's own transaction is still open.
        now: the database's moment at the last answer from it, `at` our monotonic seconds then.
        lease_ends: our monotonic seconds after which the right may be somebody else's.
        input_text: what the execution was started with, encoded.
    """

    execution_id: UUID
    using: str
    epoch: int
    holder: str
    writes: int
    seen: int
    now: datetime
    at: float
    lease_ends: float
    input_text: str
    fresh: bool = True

    def moment(self) -> datetime:
        """The database's moment: its last answer plus what our own clock has counted since."""
        return self.now + timedelta(seconds=clock.monotonic() - self.at)

    def answered(self, moment: datetime) -> None:
        """The database has said what time it is."""
        self.now, self.at = moment, clock.monotonic()

    def renewed(self, asked_at: float) -> None:
        """The lease was renewed by a statement sent at that moment of our own clock."""
        self.lease_ends = asked_at + settings.LEASE

    @property
    def lapsed(self) -> bool:
        """By our own count the lease has run out: nothing may be begun under it."""
        return clock.monotonic() >= self.lease_ends

    @property
    def worn(self) -> bool:
        """Less than half of the lease is left."""
        return bool(self.lease_ends - clock.monotonic() < settings.LEASE / 2)

    def rows(self) -> QuerySet[Execution]:
        """The execution's row, if it is still ours to drive (with the same number of writes or not)."""
        mine = {"pk": self.execution_id, "epoch": self.epoch, "lease_holder": self.holder}
        return Execution.objects.using(self.using).filter(**mine)


def holder_for(worker: str) -> str:
    """A holder's name, unique for one claim: a claim whose commit is in doubt is found by it."""
    return f"{worker}:{clock.token()}"


def take(holder: str, using: str, execution_id: UUID | None = None) -> tuple[Claim, Snapshot] | None:
    """Claim the most urgent due execution, inside a transaction of the caller's; None where nothing is due.

    Touches the lease columns only, never the status. `deaths` counts this claim; the first fenced write after this
    transaction resets it.

    Args:
        holder: a name from `holder_for`.
        using: the database alias.
        execution_id: claim that one, if it is due.
    """
    asked_at = clock.monotonic()
    found = _take_postgresql if connections[using].vendor == "postgresql" else _take_sqlite
    row = found(holder, using, execution_id)
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
        input_text=row["input_text"],
    )
    return claim, _facts(row, using, _quiet_at(row))


def _facts(row: dict[str, Any], using: str, quiet_at: datetime | None = None) -> Snapshot:
    """The picture: `wakes` came with the row, and the records are read after it."""
    return rows.snapshot(row, rows.load_records(row["id"], using)).but(quiet_at=quiet_at)


def _changes(using: str, holder: str) -> dict[str, Any]:
    return {
        "epoch": F("epoch") + 1,
        "lease_holder": holder,
        "due_at": clock.database_now(using, plus=settings.LEASE),
        "deaths": F("deaths") + 1,
        "updated_at": clock.database_now(using),
    }


def _due(using: str, execution_id: UUID | None) -> QuerySet[Execution]:
    due = Execution.objects.using(using).due()
    return due.filter(pk=execution_id) if execution_id else due


def is_due(using: str, execution_id: UUID | None = None) -> bool:
    """Whether anything is due, or that execution is: a plain look."""
    return _due(using, execution_id).exists()


def _take_sqlite(holder: str, using: str, execution_id: UUID | None) -> dict[str, Any] | None:
    """The caller's transaction holds the only write lock already."""
    row = _due(using, execution_id).values("pk", "due_at", "lease_holder").first()
    if row is None:
        return None
    mine = Execution.objects.using(using).filter(pk=row["pk"])
    (taken,) = update_returning(mine, _changes(using, holder), READ)
    return taken | {"was_due": row["due_at"], "was_held": row["lease_holder"] is not None}


def _take_postgresql(holder: str, using: str, execution_id: UUID | None) -> dict[str, Any] | None:
    """One statement. MATERIALIZED, so that the row is chosen and locked once; SKIP LOCKED, so that nobody queues."""
    due = _due(using, execution_id).select_for_update(skip_locked=True, no_key=True)
    chosen = due.values("pk", "due_at", "lease_holder")[:1].query
    sql, params = chosen.get_compiler(using).as_sql()
    mine = Execution.objects.using(using).filter(pk__in=RawSQL("SELECT c.pk FROM c", ()))
    was = ("(SELECT c.due_at FROM c)", "(SELECT c.lease_holder FROM c)")
    cte = (f"WITH c AS MATERIALIZED ({sql}) ", params)
    for row in update_returning(mine, _changes(using, holder), READ, cte=cte, also=was):
        return row | {"was_due": row[was[0]], "was_held": row[was[1]] is not None}
    return None


def _quiet_at(row: dict[str, Any]) -> datetime | None:
    """Where the claim took a lapsed lease over: until when its holder may still be inside a body (design §8.8)."""
    if not row["was_held"]:
        return None
    moment: datetime = row["was_due"]
    return moment + timedelta(seconds=settings.HARD_STOP_GRACE)


def is_there(claim: Claim) -> bool:
    """Whether a claim whose commit is in doubt has landed: its holder's name is nobody else's (design §7.2)."""
    with durable(claim.using):
        return bool(claim.rows().select_for_update(no_key=True).values("pk").first())


def look(claim: Claim) -> Snapshot:
    """The facts anew, `wakes` before them. Raises nothing where the claim is lost: the next write will say so."""
    row = Execution.objects.using(claim.using).values(*READ).get(pk=claim.execution_id)
    claim.seen = row["wakes"]
    return _facts(row, claim.using)


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
