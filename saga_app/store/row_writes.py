"""What becomes of a claimed queued step: it is held, given back, or over. Every write after the claim is fenced.

A claim is worth one call. What is written after the call gives the row back, so that whatever comes next is decided
by another claim, from facts as they are then.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from saga_app.conf import settings
from saga_app.core.errors import LeaseLost
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import StepStatus
from saga_app.models import Execution, StepRecord
from saga_app.store import checkpoint, row_claims, rows, sql
from saga_app.store.row_claims import RowClaim
from saga_app.store.sql import ONE_MORE
from saga_app.store.texts import stored_attempts
from saga_app.store.transactions import durable
from saga_app.store.wakes import wake

OF_THE_CLAIM = {"row_due_at", "row_epoch", "row_holder", "row_deaths"}  # written as what the claim comes to

Cut = Callable[[Snapshot], Snapshot]
"""From the picture of a whole execution in which this step has failed, to what that cuts short."""


def hold(claim: RowClaim, before: Snapshot, after: Snapshot) -> None:
    """Write the claim, with the intent of its call if there is one, in the transaction that has locked both rows.

    The execution is not woken: its next decision sees the row held.
    """
    kept = {
        "row_epoch": claim.epoch,
        "row_holder": claim.holder,
        "row_due_at": sql.moment(claim.using, plus=settings.LEASE),
        "row_deaths": claim.recorded + 1,
        "row_quiet_at": after.known(claim.path).row_quiet_at,
    }
    sql.update(StepRecord, claim.using, _changes(claim, before, after) | kept, {"id": claim.row})
    counts = {name: ONE_MORE[name] for name in ("wakes", "version")}
    told = counts | {"updated_at": sql.moment(claim.using)}
    sql.update(Execution, claim.using, told, {"id": claim.execution_id})


def give_back(claim: RowClaim, before: Snapshot, after: Snapshot, until: datetime, *, wakes: bool = False) -> None:
    """Leave the row for another claim, from that moment on: as if it had not been claimed.

    In the claim's own transaction. Nobody has died, and nobody has proved anything.

    Args:
        claim: the claim.
        before: the picture as it was taken.
        after: the same, with since when the saga is not known, where that is why.
        until: from when the row may be claimed.
        wakes: the execution has to look.
    """
    record = after.known(claim.path)
    left = {"row_holder": None, "row_due_at": until, "row_quiet_at": record.row_quiet_at}
    sql.update(StepRecord, claim.using, left | {"row_epoch": claim.epoch}, {"id": claim.row})
    missing = after.definition_missing_since
    if wakes:
        _wake(claim, definition_missing_since=missing)
    elif missing != before.definition_missing_since:
        sql.update(Execution, claim.using, {"definition_missing_since": missing}, {"id": claim.execution_id})


def settle(claim: RowClaim, before: Snapshot, after: Snapshot, cut: Cut) -> None:
    """Write what is decided about a row that nobody is to call now, in the claim's own transaction, and wake."""
    left = {"row_epoch": claim.epoch, "row_holder": None, "row_due_at": None, "row_deaths": 0}
    sql.update(StepRecord, claim.using, _changes(claim, before, after) | left, {"id": claim.row})
    _cut_short(claim, before, after, cut)
    _wake(claim)


def write(claim: RowClaim, before: Snapshot, after: Snapshot, until: datetime | None, cut: Cut) -> None:
    """Write the outcome of the call inside a transaction of the caller's, and wake the execution.

    Args:
        claim: the claim.
        before: the picture as the table holds it.
        after: the same with the outcome.
        until: from when the row may be claimed again; None: it is over, and leaves its queue.
        cut: from the picture of the whole execution to what the failure of this step cuts short.

    Raises LeaseLost where the row is somebody else's.
    """
    _wake(claim)  # first, since it locks the execution
    mine = {"id": claim.row, "row_epoch": claim.epoch, "row_holder": claim.holder}
    left = {"row_epoch": claim.epoch + 1, "row_holder": None, "row_due_at": until, "row_deaths": 0}
    if not sql.update(StepRecord, claim.using, _changes(claim, before, after) | left, mine, ["id"]):
        raise LeaseLost(f"{claim.path} of execution {claim.execution_id} is somebody else's")
    _cut_short(claim, before, after, cut)


def record(claim: RowClaim, before: Snapshot, after: Snapshot, until: datetime | None, cut: Cut) -> None:
    """The same in a transaction of its own, tried again while the lease lasts."""

    def attempt() -> None:
        with durable(claim.using):
            write(claim, before, after, until, cut)
            pending.append(None)

    pending: list[None] = []
    checkpoint.persist(claim, attempt, pending, landed=lambda: has_landed(claim, after.known(claim.path)))


def has_landed(claim: RowClaim, after: Record) -> bool:
    """Whether a write whose commit is in doubt is in the table: its attempt is there, with that very end.

    Raises LeaseLost where it is not, and the row is not ours any more.
    """
    with durable(claim.using):
        row_claims.lock(claim)
        if after.attempts[-1] in stored_attempts(claim.execution_id, claim.path, claim.using):
            return True
        if not claim.rows().exists():
            raise LeaseLost(f"{claim.path} of execution {claim.execution_id} is somebody else's")
    return False


def enter(claim: RowClaim, seconds: float) -> None:
    """Begin an atomic body's transaction: see `checkpoint.enter`."""
    mine = {"id": claim.row, "row_epoch": claim.epoch, "row_holder": claim.holder}
    if not checkpoint.enter_atomic(StepRecord, claim.using, mine, seconds):
        raise LeaseLost(f"{claim.path} of execution {claim.execution_id} is somebody else's")


def _changes(claim: RowClaim, before: Snapshot, after: Snapshot) -> dict[str, Any]:
    """The columns of the record that differ, but for those of the claim."""
    old, new = before.known(claim.path), after.known(claim.path)
    names = (name for name in rows.RECORD_FIELDS if name not in OF_THE_CLAIM)
    changes = {name: getattr(new, name) for name in names if getattr(new, name) != getattr(old, name)}
    if new.attempts != old.attempts:
        changes["attempts_text"] = json.dumps(new.attempts)
    return changes


def _wake(claim: RowClaim, **also: Any) -> None:
    moment = sql.moment(claim.using)
    wake(claim.execution_id, claim.using, version=ONE_MORE["version"], updated_at=moment, **also)


def _cut_short(claim: RowClaim, before: Snapshot, after: Snapshot, cut: Cut) -> None:
    """Where the step has failed for good, write what that means for the others, which somebody may claim at once."""
    failed = after.known(claim.path).status == StepStatus.FAILED
    if not failed or before.known(claim.path).status == StepStatus.FAILED:
        return
    columns = Execution.objects.using(claim.using).values(*rows.EXECUTION_FIELDS).get(pk=claim.execution_id)
    whole = rows.load_facts({**columns, "id": claim.execution_id}, claim.using)
    rows.write_records(claim.execution_id, whole, cut(whole), claim.using)
