"""The fenced write: the one way in which a drive changes anything (design §7.1, §7.2, §8.2).

A write takes three pictures: what the table holds, the same with the outcome of the last call, and the same with
what was decided next. The fenced UPDATE comes first; it says whether a request has arrived that the decision has not
seen. If so, only the outcome is written, and the drive decides again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from django.db import connections

from saga_app import clock
from saga_app.conf import settings
from saga_app.core import family
from saga_app.core.errors import LeaseLost
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import STOPPED
from saga_app.models import Execution
from saga_app.store import children, events, rows, sql
from saga_app.store.children import Message
from saga_app.store.claims import Claim
from saga_app.store.leases import Lease
from saga_app.store.sql import ONE_MORE, Sql
from saga_app.store.transactions import DatabaseFault, Passing, drop_broken_connection, durable, is_inside
from saga_app.store.wakes import wake

RETURNED = ("cancel_requested_at", "suspend_requested_at", "wakes", "updated_at")
NOT_WRITTEN = {"due_at", "deaths"}  # while it is held, the one is the lease and the other counts claims
LONGEST_LIMIT = 2**31 - 1  # milliseconds, 24.8 days: what PostgreSQL's settings hold
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds between two tries of a write that the database refuses

ONE_LESS = Sql("deaths - 1")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Write:
    """What to write.

    Attributes:
        before: what the table holds.
        outcome: the same with the last call's outcome; equal to `before` where there was none.
        after: the same with what was decided.
        releases: the decision gives the claim back.
        absent: the decision was made because something is not there, so nothing may have arrived since.
        message: what one child is told in the same transaction, if the decision is written.
    """

    before: Snapshot
    outcome: Snapshot
    after: Snapshot
    releases: bool = False
    absent: bool = False
    message: Message | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        facts: the picture the table holds now, as far as this drive knows.
        decided: the decision is in it; False: only the outcome is, and the facts have to be looked at anew.
        released: the claim is given back with it.
        extended_at: our monotonic seconds when it renewed the lease, if it did.
    """

    facts: Snapshot
    decided: bool
    released: bool
    extended_at: float | None


def tells_parent(claim: Claim, what: Write) -> bool:
    """Whether the write locks the parent's row, which comes before its own.

    So it may not be made in the claim's own transaction, which holds the lock of its own row from the beginning.
    """
    return claim.parent_id is not None and family.tells(what.before, what.after)


def write(claim: Claim, what: Write) -> Written:
    """Write inside a transaction of the caller's. Raises LeaseLost where the claim is somebody else's."""
    if claim.parent_id is not None and tells_parent(claim, what):
        assert not claim.fresh, "the parent is locked before its child"  # noqa: S101 - a deadlock now and then, else
        wake(claim.parent_id, claim.using)
    extended_at = clock.monotonic() if claim.worn and not what.releases else None
    changes = _columns(claim, what) | _lease(claim, what, extends=extended_at is not None)
    found = sql.update(Execution, claim.using, changes, _fence(claim), RETURNED)
    if not found:
        raise LeaseLost(f"execution {claim.execution_id} is driven by somebody else")
    returned = found[0]
    claim.answered(returned["updated_at"])  # at once: what is written after it may take long
    stale = _stale(claim, what, returned)
    if stale:
        _take_back(claim, what)
    facts = _write_others(claim, what, what.outcome if stale else what.after, returned["updated_at"])
    if what.message is not None and not stale:  # the child's row last: locks are taken from the root downward
        facts = children.tell(claim, facts, what.message)
    facts = facts.but(deaths=facts.deaths if claim.fresh else 0)
    return Written(facts, decided=not stale, released=what.releases and not stale, extended_at=extended_at)


def _write_others(claim: Claim, what: Write, target: Snapshot, at: datetime) -> Snapshot:
    """What differs in the other tables."""
    facts = rows.write_records(claim.execution_id, what.before, target, claim.using)
    facts = rows.write_signals(what.before, facts, claim.using)
    events.append_history(claim.execution_id, what.before, facts, claim.using, at)
    return facts


def committed(claim: Claim, written: Written) -> None:
    """The transaction of a write has committed: the fence moves with it, and the lease, if it was renewed."""
    claim.writes += 1
    if written.extended_at is not None:
        claim.renewed(written.extended_at)


def _fence(claim: Claim) -> dict[str, Any]:
    mine = {"id": claim.execution_id, "epoch": claim.epoch}
    return mine | {"lease_holder": claim.holder, "writes": claim.writes}


def _columns(claim: Claim, what: Write) -> dict[str, Any]:
    changes = rows.execution_changes(what.before, what.after)
    changes = {name: value for name, value in changes.items() if name not in NOT_WRITTEN}
    counts = {name: ONE_MORE[name] for name in ("writes", "version")}
    fence = {**counts, "updated_at": sql.moment(claim.using)}
    if "status" in changes:
        fence["status_at"] = fence["updated_at"]
    return changes | fence | _deaths(claim, what) | _fewer_unread(what.before, what.after)


def _fewer_unread(before: Snapshot, after: Snapshot) -> dict[str, Any]:
    """A difference, not a number: signals come at any time."""
    taken = len(after.consumed) - len(before.consumed)
    return {"unread": Sql("unread - %s", (taken,))} if taken else {}


def _deaths(claim: Claim, what: Write) -> dict[str, Any]:
    """A claim counts as a death to come until something is written after its own transaction.

    One that is given back in that transaction is as if it had not been: its worker did not die, and has proved nothing.
    """
    if not claim.fresh:
        return {"deaths": 0}
    return {"deaths": ONE_LESS} if what.releases else {}


def _lease(claim: Claim, what: Write, *, extends: bool) -> dict[str, Any]:
    """What becomes of holder and due time. A release compares `wakes`: what arrived meanwhile makes it due now."""
    if not what.releases:
        return {"due_at": sql.moment(claim.using, plus=settings.LEASE)} if extends else {}
    if what.after.status in STOPPED:
        return {"lease_holder": None, "due_at": None}
    wanted = sql.prepared(Execution, claim.using, "due_at", what.after.due_at)
    now = sql.moment(claim.using)
    due = Sql(f"CASE WHEN wakes = %s THEN %s ELSE {now.text} END", (claim.seen, wanted, *now.params))
    return {"lease_holder": None, "due_at": due}


def _stale(claim: Claim, what: Write, returned: dict[str, Any]) -> bool:
    """Something arrived that the decision has not seen."""
    names = ("cancel_requested_at", "suspend_requested_at")
    answered = {name for name in names if getattr(what.after, name) != getattr(what.before, name)}
    requested = any(returned[name] != getattr(what.before, name) for name in names if name not in answered)
    return requested or (what.absent and returned["wakes"] != claim.seen)


def _take_back(claim: Claim, what: Write) -> None:
    """Leave only the outcome: the row is locked by the fenced UPDATE, so nobody has seen the decision."""
    changed = rows.execution_changes(what.before, what.after).keys() - NOT_WRITTEN
    changes: dict[str, Any] = {name: getattr(what.outcome, name) for name in changed}
    changes |= _fewer_unread(what.after, what.outcome)
    if what.releases:
        changes |= {"lease_holder": claim.holder, "due_at": sql.moment(claim.using, plus=settings.LEASE)}
    if changes:
        sql.update(Execution, claim.using, changes, {"id": claim.execution_id})


def checkpoint(claim: Claim, what: Write) -> Written:
    """Write in a transaction of its own, tried again while the lease lasts: a refused write is never a failed body.

    Whoever calls it says `committed` then.

    Raises LeaseLost when the claim is somebody else's, or when the database refused until the lease was over; the
    first refusal is its cause.
    """

    def attempt() -> Written:
        with durable(claim.using):
            pending.append(write(claim, what))
        return pending[-1]

    pending: list[Written] = []
    return persist(claim, attempt, pending, partial(has_landed, claim))


def persist(claim: Lease, attempt: Callable[[], T], pending: list[T], landed: Callable[[], bool] = lambda: False) -> T:
    """Run a fenced transaction until it has landed, asking after each fault whether it has.

    Args:
        claim: whose fence it is.
        attempt: the whole transaction; appends to `pending` what it will have written, before it commits.
        pending: see `attempt`.
        landed: whether it is in the table, though its commit was not answered; asked where something was written.

    Raises LeaseLost, or a database error that no later try would spare us: that is a defect, and says so at once.
    """
    pause, first_error = FIRST_PAUSE, None
    while True:
        pending.clear()
        try:
            return attempt()
        except Passing as error:
            first_error = first_error or error
        while True:
            if claim.lapsed:
                raise LeaseLost(
                    f"the database refused a write until the lease was over: {first_error}"
                ) from first_error
            drop_broken_connection(claim.using)
            clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
            try:
                is_there = bool(pending) and landed()
            except DatabaseFault:
                continue
            if is_there:
                return pending[-1]
            break


def has_landed(claim: Claim) -> bool:
    """Whether the write after the last known one is in the table (design §7.2).

    Asked under the row lock, on whatever connection works: the lock waits for the old transaction to end.
    """
    with durable(claim.using):
        row = (
            Execution.objects.using(claim.using)
            .select_for_update(no_key=True)
            .filter(pk=claim.execution_id)
            .values("epoch", "writes")
            .first()
        )
    if row is None or row["epoch"] != claim.epoch or row["writes"] not in (claim.writes, claim.writes + 1):
        raise LeaseLost(f"execution {claim.execution_id} is driven by somebody else")
    return bool(row["writes"] == claim.writes + 1)


TIMEOUTS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")


def enter(claim: Claim, seconds: float) -> None:
    """Begin an atomic body's transaction. Raises LeaseLost where the claim has been taken over already."""
    mine = {"id": claim.execution_id, "epoch": claim.epoch, "lease_holder": claim.holder}
    if not enter_atomic(Execution, claim.using, mine, seconds):
        raise LeaseLost(f"execution {claim.execution_id} is driven by somebody else")


def enter_atomic(model: sql.Model, using: str, mine: dict[str, Any], seconds: float) -> bool:
    """An unlocked look that a row is ours still, and limits for the transaction that begins with it, in one statement.

    On PostgreSQL no statement, lock or pause of the transaction may outlast the body's timeout.
    """
    connection = connections[using]
    limits: list[str] = []
    if connection.vendor == "postgresql" and not is_inside():  # a TestCase's transaction is not ours to limit
        milliseconds = str(min(max(1, int(seconds * 1000)), LONGEST_LIMIT))
        limits = [part for name in TIMEOUTS for part in (name, milliseconds)]
    configured = "set_config(%s, %s, true), " * (len(limits) // 2)
    fence = " AND ".join(f"{sql.columns(model, [name])} = %s" for name in mine)
    values = [sql.prepared(model, using, name, value) for name, value in mine.items()]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {configured}1 FROM {sql.table(model)} WHERE {fence}", [*limits, *values])
        return bool(cursor.fetchone())
