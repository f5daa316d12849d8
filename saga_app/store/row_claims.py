"""Claims of queued steps: which worker may run one, until when, and how a claim is kept (design §8.10).

The order of locks is the rule: the execution, then the step's row. So claims and outcomes of one execution's steps
follow each other, and a request to it is either seen by a claim or sees it. A heartbeat locks the row alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.models import QuerySet

from saga_app import clock
from saga_app.conf import settings
from saga_app.core.snapshot import ELSEWHERE, Record, Snapshot
from saga_app.core.status import DRIVEN, StepStatus
from saga_app.models import Execution, StepRecord
from saga_app.store import rows, sql
from saga_app.store.claims import Queues
from saga_app.store.leases import Lease, grace
from saga_app.store.transactions import durable, is_inside

DRIVING = tuple(sorted(DRIVEN))  # the rows of other executions are left alone until these go on
READ = (*rows.EXECUTION_FIELDS, "id")
READ_OF_ROW = (*rows.READ, "arguments_text")  # which the body needs


@dataclass(slots=True, kw_only=True)
class RowClaim(Lease):
    """The right to run one queued step, or its compensation.

    Attributes:
        row: the step record's id.
        path: its path.
        recorded: how many deaths of workers the table counted before this claim.
    """

    row: int
    path: str
    recorded: int

    def rows(self) -> QuerySet[StepRecord]:
        """The step's row, if it is still ours."""
        mine = {"pk": self.row, "row_epoch": self.epoch, "row_holder": self.holder}
        return StepRecord.objects.using(self.using).filter(**mine)

    def step(self, path: str) -> QuerySet[StepRecord]:
        """The row; none inside a transaction: locked there, it would keep heartbeats out, and be locked out of turn."""
        inside = connections[self.using].in_atomic_block and not is_inside()
        return self.rows().none() if inside else self.rows()


def is_due(using: str, execution_id: UUID | None = None, *, queues: Queues = None) -> bool:
    """Whether a queued step is due, one of that execution or any: a plain look."""
    chosen, params = _due(using, execution_id, queues)
    text = f"SELECT e.id {chosen} LIMIT 1"
    return bool(sql.run(Execution, using, text, params, ["id"]))


def _due(using: str, execution_id: UUID | None, queues: Queues) -> tuple[str, list[Any]]:
    """The due rows of executions that are driven, the most urgent first, from FROM on."""
    now = sql.moment(using)
    driving = ", ".join(["%s"] * len(DRIVING))
    one = " AND e.id = %s" if execution_id else ""
    chosen = [sql.prepared(Execution, using, "id", execution_id)] if execution_id else []
    text = (
        f"FROM {sql.table(StepRecord)} s JOIN {sql.table(Execution)} e ON e.id = s.execution_id "
        f"WHERE s.row_due_at <= {now.text} AND e.status IN ({driving}) AND e.suspend_requested_at IS NULL"
        f"{_served(queues)}{one} ORDER BY e.priority, s.row_due_at"
    )
    return text, [*now.params, *DRIVING, *(queues or ()), *chosen]


def _served(queues: Queues) -> str:
    return "" if queues is None else f" AND s.queue IN ({', '.join(['%s'] * len(queues))})"


def take(
    holder: str, using: str, execution_id: UUID | None = None, *, queues: Queues = None
) -> tuple[RowClaim, Snapshot] | None:
    """Lock the most urgent due row and its execution, inside a transaction of the caller's, and read them.

    Nothing is written: what the claim is worth is decided from the facts, and written together with that. On
    PostgreSQL an execution that somebody has locked is passed over.

    Args:
        holder: a name from `claims.holder_for`.
        using: the database alias.
        execution_id: a row of that execution only.
        queues: a row of one of these queues only.

    Returns:
        The claim, and the picture with this record as the claim makes it; with all records only where one has failed,
        since that may be why this one is refused. None where nothing is due.
    """
    asked_at = clock.monotonic()
    execution = _lock_execution(using, execution_id, queues)
    row = _lock_row(using, execution["id"], queues) if execution else None
    if execution is None or row is None:
        return None
    (now,) = execution.pop("extra")
    _, some_failed = row["extra"]
    record = _record(row)
    claim = RowClaim(
        execution_id=execution["id"],
        using=using,
        epoch=record.row_epoch + 1,
        holder=holder,
        now=sql.read_moment(using, now),
        at=clock.monotonic(),
        lease_ends=asked_at + settings.LEASE,
        row=row["id"],
        path=record.path,
        recorded=record.row_deaths,
    )
    taken = _taken(record, claim)
    if not some_failed:
        return claim, rows.snapshot(execution, [taken])
    whole = rows.load_facts(execution, using)  # children too: a walk by one that is open looks at it
    return claim, whole.but(records=whole.records.put(taken))


def _lock_execution(using: str, execution_id: UUID | None, queues: Queues) -> dict[str, Any] | None:
    chosen, params = _due(using, execution_id, queues)
    now = sql.moment(using)
    locked = " FOR NO KEY UPDATE OF e SKIP LOCKED" if _locks(using) else ""
    text = f"SELECT {sql.columns(Execution, READ, 'e')}, {now.text} {chosen} LIMIT 1{locked}"
    return next(iter(sql.run(Execution, using, text, [*now.params, *params], READ, extra=1)), None)


def _lock_row(using: str, execution_id: UUID, queues: Queues) -> dict[str, Any] | None:
    """The due row of that execution that has waited longest: chosen anew, now that nobody else can claim one."""
    now = sql.moment(using)
    failed = f"EXISTS (SELECT 1 FROM {sql.table(StepRecord)} f WHERE f.execution_id = s.execution_id AND f.status = %s)"
    text = (
        f"SELECT {sql.columns(StepRecord, READ_OF_ROW, 's')}, s.output IS NOT NULL, {failed} "
        f"FROM {sql.table(StepRecord)} s WHERE s.execution_id = %s AND s.row_due_at <= {now.text}{_served(queues)} "
        f"ORDER BY s.row_due_at, s.id LIMIT 1{' FOR NO KEY UPDATE OF s SKIP LOCKED' if _locks(using) else ''}"
    )
    chosen = sql.prepared(StepRecord, using, "execution", execution_id)
    params = [StepStatus.FAILED, chosen, *now.params, *(queues or ())]
    return next(iter(sql.run(StepRecord, using, text, params, READ_OF_ROW, extra=2)), None)


def _locks(using: str) -> bool:
    """Whether rows can be locked; else the transaction holds the only write lock already."""
    return connections[using].vendor == "postgresql"


def _record(row: dict[str, Any]) -> Record:
    has_output, _ = row["extra"]
    known = {name: value for name, value in row.items() if name not in ("extra", "attempts_text")}
    attempts = tuple(json.loads(row["attempts_text"]))
    return Record(**known, output_text=ELSEWHERE if has_output else None, attempts=attempts)


def _taken(record: Record, claim: RowClaim) -> Record:
    """The record as this claim makes it. Whoever held a lapsed lease may be inside the body for a while (§8.8).

    But an atomic body without an intent, which is fenced.
    """
    quiet = record.row_quiet_at
    if record.row_holder is not None and record.row_due_at is not None and record.is_called:
        quiet = record.row_due_at + grace()
    return record.but(
        row_epoch=claim.epoch, row_holder=claim.holder, row_deaths=record.row_deaths + 1, row_quiet_at=quiet
    )


def is_there(claim: RowClaim) -> bool:
    """Whether a claim whose commit is in doubt has landed: its holder's name is nobody else's (design §7.2)."""
    with durable(claim.using):
        lock(claim)
        return claim.rows().exists()


def lock(claim: RowClaim) -> None:
    """Lock the execution: whoever writes the row holds that lock, so an old transaction of ours has ended."""
    executions = Execution.objects.using(claim.using).select_for_update(no_key=True)
    executions.filter(pk=claim.execution_id).values("pk").first()


def beat(claim: RowClaim) -> bool:
    """Renew the lease where less than half of it is left; False when it is somebody else's (the watchdog asks)."""
    if not claim.worn:
        return True
    asked_at = clock.monotonic()
    connection = connections[claim.using]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # whoever locks the row is short; a lost lease must be noticed in time
            cursor.execute("SET lock_timeout = '1s'")
    if not claim.rows().update(row_due_at=clock.database_now(claim.using, plus=settings.LEASE)):
        return False
    claim.renewed(asked_at)
    return True
