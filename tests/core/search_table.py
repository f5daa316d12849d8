"""What the store does, on the immutable rows of `search`: reading, the fenced write, wakes, and messages to a child."""

from __future__ import annotations

from dataclasses import fields, replace
from uuid import UUID

from saga_app.core import family
from saga_app.core.changes import release
from saga_app.core.decisions import Compensate, Decision, Intend, Release
from saga_app.core.records import Records
from saga_app.core.snapshot import Kid, Record, Snapshot
from saga_app.core.status import STOPPED, Status, StuckReason
from tests.core.search import NOW, Broken, Hold, Scenario, World

NOT_COLUMNS = {"records", "signals", "consumed", "kids", "presuming", "unread", "due_at", "deaths"}
COLUMNS = tuple(one.name for one in fields(Snapshot) if one.name not in NOT_COLUMNS)
RECORD = tuple(one.name for one in fields(Record))


def name_of_child(number: int) -> UUID:
    """The id of an execution."""
    return UUID(int=number)


def load(w: World, e: int) -> Snapshot:
    """The facts of an execution, with what it looks at of its children."""
    x = w.rows[e]
    return x.but(kids={child: kid_of(w.rows[child.int]) for child in family.watched(x)})


def kid_of(x: Snapshot) -> Kid:
    return Kid(
        saga=x.saga,
        status=x.status,
        rollback_status=x.rollback_status,
        stuck_reason=x.stuck_reason,
        pivoted=x.pivoted_at is not None,
        owes=x.owes,
        unwinding=x.unwinding,
        cancel_requested=x.cancel_requested_at is not None,
        rested_at=x.rested_at,
        error_text=x.error_text,
    )


def merged(row: Snapshot, before: Snapshot, after: Snapshot) -> Snapshot:
    """The row after what differs between two pictures is written to it; whatever else has changed meanwhile stays."""
    columns = {name: getattr(after, name) for name in COLUMNS if getattr(after, name) != getattr(before, name)}
    taken = {signal for signal, _ in after.consumed[len(before.consumed) :]}
    signals = tuple(one for one in row.signals if one.id not in taken)
    if len(row.signals) - len(signals) != len(taken):
        raise Broken("a signal is consumed twice")
    records = row.records
    for record in after.records:
        known = before.record(record.path)
        if known is None:
            if row.record(record.path) is not None:
                raise Broken(f"{record.path} is recorded twice")
            records = records.and_also(record)
        elif known is not record:
            records = _put(records, known, record)
    return row.but(**columns, signals=signals, unread=len(signals), records=records)


def _put(records: Records, known: Record, record: Record) -> Records:
    changes = {name: getattr(record, name) for name in RECORD if getattr(record, name) != getattr(known, name)}
    return records.with_changes(record.path, **changes)


def wake(w: World, e: int) -> World:
    """Something has come."""
    w = noticed(w, e)
    x = w.rows[e]
    moves = not is_held(w, e) and x.status not in STOPPED and (x.due_at is None or x.due_at > NOW)
    return w.but_row(e, x.but(due_at=NOW)) if moves else w


def noticed(w: World, e: int) -> World:
    """Whoever drives it has not seen everything any more."""
    return replace(
        w, holds=tuple(replace(one, fresh=False) if (one.e, one.path) == (e, "") else one for one in w.holds)
    )


def is_held(w: World, e: int) -> bool:
    """Somebody has it, or had it when he died."""
    return w.holder(e) is not None or e in w.orphans


def verb(sc: Scenario, w: World, e: int, after: Snapshot, *, tells: bool = True) -> World:
    """A verb's write, under the row lock; its parent is told where it has to know (and is not who does it)."""
    before = w.rows[e]
    held = is_held(w, e)
    due = before.due_at if held else None if after.status in STOPPED else NOW
    stored = after.but(kids={}, due_at=due, presuming=False)
    w = _rows_lost(w, e, before, stored)
    w = noticed(w.but_row(e, stored), e)
    parent = w.parents[e]
    if parent is None or not tells or not family.tells(before, after):
        return w
    above, path = parent
    x = w.rows[above]
    stopped = (x.status, x.stuck_reason, x.failing_path) == (Status.STUCK, StuckReason.CHILD_STUCK, path)
    if before.status != Status.STUCK or not stopped:
        return wake(w, above)
    return verb(sc, w, above, family.lift(x, NOW))


def _rows_lost(w: World, e: int, before: Snapshot, after: Snapshot) -> World:
    """Whoever had a queued step that the verb took out of its queue has lost it."""
    gone = {
        one.path for one in after.records if (known := before.record(one.path)) and known.row_epoch != one.row_epoch
    }
    return replace(w, holds=tuple(replace(h, lost=True) if h.e == e and h.path in gone else h for h in w.holds))


def write(
    w: World,
    hold: Hold,
    current: Snapshot,
    after: Snapshot,
    decision: Decision | None = None,
    doing: Decision | None = None,
) -> tuple[World, bool]:
    """The fenced write of who drives an execution: the last outcome, and the decision unless something came.

    Returns:
        The world, and whether the decision is in it.
    """
    e, row = hold.e, w.rows[hold.e]
    absent, after = after.presuming, after.but(presuming=False)
    if w.parents[e] is not None and family.tells(hold.written, after):
        w = wake(w, w.parents[e][0])  # type: ignore[index]
    stale = _unseen(row, hold.written, after) or (absent and not hold.fresh)
    target = current.but(presuming=False) if stale else after
    stored = merged(row, hold.written, target)
    w = _rows_taken(w, hold, target)
    stored = stored.but(deaths=_deaths(stored, hold, decision if not stale else None))
    w = w.without(hold)
    if isinstance(decision, Release) and not stale:
        due = None if after.status in STOPPED else after.due_at if hold.fresh else NOW
        return w.but_row(e, stored.but(due_at=due)), True
    w = w.but_row(e, stored)
    known = target.but(consumed=(), deaths=stored.deaths, unread=len(target.signals))
    if stale:
        return w.and_hold(replace(hold, written=load(w, e), fresh=True, young=False, doing=None)), False
    return w.and_hold(replace(hold, written=known, young=False, doing=doing)), True


def _deaths(row: Snapshot, hold: Hold, decision: Decision | None) -> int:
    """A claim counts as a death to come, until something is written after its own transaction."""
    if not hold.young:
        return 0
    return row.deaths - isinstance(decision, Release)


def _unseen(row: Snapshot, before: Snapshot, after: Snapshot) -> bool:
    """A request has come that the decision has not seen."""
    names = ("cancel_requested_at", "suspend_requested_at")
    answered = {name for name in names if getattr(after, name) != getattr(before, name)}
    return any(getattr(row, name) != getattr(before, name) for name in names if name not in answered)


def _rows_taken(w: World, hold: Hold, after: Snapshot) -> World:
    """Nobody takes a queued step from a worker inside its body, but an atomic one, which then does not commit."""
    mine = [one for one in w.holds if one.e == hold.e and one.path and not one.lost]
    gone = [one for one in mine if after.known(one.path) != hold.written.known(one.path)]
    for one in gone:
        if isinstance(one.doing, Intend | Compensate):
            raise Broken(f"{one.path} is changed by who does not hold it")
    return replace(w, holds=tuple(replace(one, lost=True) if one in gone else one for one in w.holds))


def released(x: Snapshot, decision: Release) -> Snapshot:
    """The picture after a release."""
    return release(x, decision, NOW)
