"""What workers may do with queued steps: claim, call, write what became of it, die: for `search` (design §8.10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from saga_app.core.arranging import intend, intend_compensation
from saga_app.core.changes import change
from saga_app.core.decisions import Compensate, Cut, FailCompensation, FailStep, Intend, Park, Stick
from saga_app.core.queued import come_to_rest, cut_group, decide_row, leave, refuse
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import DRIVEN, CompensationStatus, StepStatus
from tests.core.search import LATER, NOW, Hold, Move, Scenario, World
from tests.core.search_calls import endings
from tests.core.search_table import load, merged, noticed, wake
from tests.core.search_workers import check_call, exorcised, haunted

OF_THE_CLAIM = {"row_due_at", "row_epoch", "row_holder", "row_deaths"}
WORKER = "host:1:x"


def row_workers(sc: Scenario, w: World) -> Iterator[Move]:
    """Everything that those who run queued steps may do."""
    for e, x in enumerate(w.rows):
        if x.status not in DRIVEN or x.suspend_requested_at is not None:
            continue
        for record in x.records:
            if record.row_due_at is not None and record.row_due_at <= NOW and w.holder(e, record.path) is None:
                yield f"claim {e}.{record.path}", _claimed(sc, w, e, record)
    for hold in w.holds:
        if hold.path:
            yield from _ends(sc, w, hold)


def _claimed(sc: Scenario, w: World, e: int, record: Record) -> World:
    """A claim: what it is worth is decided from the facts, and written together with it."""
    x, path = w.rows[e], record.path
    taken = record.but(row_holder=WORKER, row_deaths=record.row_deaths + 1)
    some_failed = any(one.status == StepStatus.FAILED for one in x.records)
    whole = load(w, e)
    facts = x.but(records=whole.records.put(taken), kids=whole.kids) if some_failed else x.but(records=(taken,))
    saga = sc.saga(x)
    decision = decide_row(saga, facts, path, NOW)
    match decision:
        case Park(until):
            return _stored(w, e, path, row_holder=None, row_due_at=until)
        case Stick():
            return _settled(sc, w, e, path, facts, leave(facts, path, NOW))
        case Cut():
            return _settled(sc, w, e, path, facts, refuse(saga, facts, path, NOW))
        case FailStep() | FailCompensation():
            return _settled(sc, w, e, path, facts, come_to_rest(change(saga, facts, decision, NOW), path))
    step = saga.step(path)
    assert step is not None
    after = facts
    if isinstance(decision, Intend | Compensate):
        undoes = isinstance(decision, Compensate)
        after = intend_compensation(facts, step, path, NOW) if undoes else intend(facts, step, path, None, NOW)
        check_call(sc, w, e, x.but(records=x.records.put(after.known(path))), decision)
    w = _changed(w, e, path, facts, after)
    w = _stored(w, e, path, row_holder=WORKER, row_due_at=LATER, row_deaths=taken.row_deaths)
    return noticed(w, e).and_hold(Hold(e, path, after, decision))


def _settled(sc: Scenario, w: World, e: int, path: str, before: Snapshot, after: Snapshot) -> World:
    """Nobody is to call it now."""
    w = _changed(w, e, path, before, after)
    w = _stored(w, e, path, row_holder=None, row_due_at=None, row_deaths=0)
    return wake(_cut_short(sc, w, e, path, before, after), e)


def _ends(sc: Scenario, w: World, hold: Hold) -> Iterator[Move]:
    """Its call ends, or it dies inside, or loses its lease; who has lost it already writes nothing."""
    name = f"{hold.e}.{hold.path}"
    for said, outside, current, commits in endings(sc, w, hold):
        if hold.lost:
            yield f"{name} {said}, too late", (w if commits else outside).without(hold)
            continue
        yield f"{name} {said}", _told(sc, outside, hold, current)
        if w.left("crashes") and not commits and outside is not w:
            yield f"{name} {said}, and the worker dies", _gone(outside.spent("crashes"), hold)
    if w.left("crashes"):
        yield f"{name}: the worker dies", _gone(w.spent("crashes"), hold)
    if w.left("lapses") and not hold.lost:
        yield f"{name}: the lease lapses", haunted(sc, _gone(w.spent("lapses"), hold), hold)


def _told(sc: Scenario, w: World, hold: Hold, current: Snapshot) -> World:
    """The outcome, under the lock of the execution: what is to come goes back into the queue."""
    e, path = hold.e, hold.path
    after = come_to_rest(current, path)
    record = after.known(path)
    until = NOW if record.row_holder is not None and record.in_queue else record.row_due_at
    w = _changed(wake(w, e), e, path, hold.written, after)
    w = _stored(w, e, path, row_holder=None, row_due_at=until, row_deaths=0)
    return _cut_short(sc, w.without(hold), e, path, hold.written, after)


def _cut_short(sc: Scenario, w: World, e: int, path: str, before: Snapshot, after: Snapshot) -> World:
    """Where it has failed for good, its group's waiting siblings begin no more."""
    if after.known(path).status != StepStatus.FAILED or before.known(path).status == StepStatus.FAILED:
        return w
    whole = load(w, e)
    cut = cut_group(sc.saga(whole), whole, NOW)
    gone = {one.path for one in cut.records if one is not whole.known(one.path)}
    lost = tuple(replace(h, lost=True) if h.e == e and h.path in gone else h for h in w.holds)
    return replace(w.but_row(e, merged(w.rows[e], whole, cut)), holds=lost)


def _changed(w: World, e: int, path: str, before: Snapshot, after: Snapshot) -> World:
    """The columns of the record that differ, but for those of the claim."""
    old, new = before.known(path), after.known(path)
    names = [name for name in Record.__dataclass_fields__ if name not in OF_THE_CLAIM]
    return _stored(w, e, path, **{n: getattr(new, n) for n in names if getattr(new, n) != getattr(old, n)})


def _stored(w: World, e: int, path: str, **columns: object) -> World:
    return w.but_row(e, w.rows[e].with_record(path, **columns))


def _gone(w: World, hold: Hold) -> World:
    """It is due again; until its grace is over its worker may still be inside."""
    w = exorcised(w.without(hold), hold.e, lambda path: path == hold.path)
    if hold.lost:
        return w
    record = w.rows[hold.e].known(hold.path)
    begun = record.status == StepStatus.RUNNING or record.compensation_status == CompensationStatus.RUNNING
    return _stored(w, hold.e, hold.path, row_due_at=NOW, row_quiet_at=LATER if begun else record.row_quiet_at)
