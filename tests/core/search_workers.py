"""What workers may do with executions: claim them, decide, write, call, die, and lose their leases: for `search`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from saga_app.core import family, verbs
from saga_app.core.arranging import intend, intend_compensation, open_gate, queue_up, spawn
from saga_app.core.changes import advance
from saga_app.core.decisions import (
    AskChild,
    Compensate,
    Decision,
    Enqueue,
    Finish,
    Intend,
    Open,
    Release,
    Spawn,
    UndoChild,
)
from saga_app.core.snapshot import Kid, Snapshot
from saga_app.core.status import SETTLED, STOPPED, CompensationStatus, Status, StepStatus
from saga_app.core.tree import independent
from saga_app.core.unwind import owed
from tests.core.search import LATER, NOW, Broken, Hold, Move, Scenario, World
from tests.core.search_calls import CALL, STUMBLES, endings, unbound
from tests.core.search_table import kid_of, load, merged, name_of_child, noticed, released, verb, write


def workers(sc: Scenario, w: World) -> Iterator[Move]:
    """Everything that those who drive executions may do."""
    for e, x in enumerate(w.rows):
        if w.holder(e) is None and x.status not in STOPPED and x.due_at is not None and x.due_at <= NOW:
            yield f"claim {e}", _claimed(sc, w, e)
    for hold in w.holds:
        if hold.path:
            continue
        yield from _goes_on(sc, w, hold)
        yield from _ends(sc, w, hold)


def _claimed(sc: Scenario, w: World, e: int) -> World:
    """A claim, and in its own transaction what can be written without running any code of the project."""
    row = w.rows[e]
    w = w.but_row(e, row.but(deaths=row.deaths + 1))
    facts = load(w, e)
    inside = any(record.is_called for record in facts.records)
    facts = facts.but(quiet_at=None) if e in w.orphans and not inside else facts
    hold = Hold(e, "", facts)
    w = replace(w, orphans=w.orphans - {e}).and_hold(hold)
    after, decision = advance(sc.saga(facts), facts, NOW)
    if isinstance(decision, Intend | Compensate | Release):
        return _decided(sc, w, hold, facts, after, decision)
    return w


def _goes_on(sc: Scenario, w: World, hold: Hold) -> Iterator[Move]:
    if hold.doing is None:
        after, decision = advance(sc.saga(hold.written), hold.written, NOW)
        yield f"{hold.e}: {decision}", _decided(sc, w, hold, hold.written, after, decision)
        yield from _stumbles(sc, w, hold, after, decision)
        return
    for said, outside, current, commits in endings(sc, w, hold):
        label = f"{hold.e}: {hold.doing} {said}"
        after, decision = advance(sc.saga(current), current, NOW)
        if commits:  # its own transaction has the outcome, and the end if this is one
            ends = isinstance(decision, Finish)
            after = released(after, decision) if ends else current  # type: ignore[arg-type]
            yield label, write(outside, hold, current, after, decision if ends else None)[0]
        else:
            yield label, _decided(sc, outside, hold, current, after, decision)
        if w.left("crashes") and not commits and outside is not w:
            yield f"{label}, and the worker dies", _gone(outside.spent("crashes"), hold)


def _decided(sc: Scenario, w: World, hold: Hold, current: Snapshot, after: Snapshot, decision: Decision) -> World:
    """One turn of the loop: what was decided is written, with the last outcome, or begun."""
    saga = sc.saga(current)
    if isinstance(decision, Release):
        return write(w, hold, current, released(after, decision), decision)[0]
    if isinstance(decision, Intend | Compensate):
        return _intended(sc, w, hold, current, after, decision)
    if isinstance(decision, Enqueue | Open):
        return _arranged(sc, w, hold, current, after, decision)
    if isinstance(decision, AskChild | UndoChild):
        return _told(sc, w, hold, current, after, decision)
    if after != hold.written:
        return write(w, hold, current, after)[0]  # flushed before any other code of the project
    if not isinstance(decision, Spawn):
        return w.without(hold).and_hold(replace(hold, doing=decision))
    _may_begin(w, hold.e)
    child = name_of_child(len(w.rows))
    after = spawn(after, decision.path, CALL, child, NOW)
    target = saga.node(decision.path).target  # type: ignore[union-attr]
    after = after.but(kids={**after.kids, child: Kid(saga=target.name, status=Status.PENDING)})
    written, is_decided = write(w, hold, current, after)
    if not is_decided:
        return written
    born = Snapshot(saga=target.name, revision=1, fingerprint=target.fingerprint, due_at=NOW)
    born = born.but(deadline_at=LATER) if target.timeout else born
    return replace(written, rows=(*written.rows, born), parents=(*written.parents, (hold.e, decision.path)))


def _intended(
    sc: Scenario, w: World, hold: Hold, current: Snapshot, after: Snapshot, decision: Intend | Compensate
) -> World:
    saga, path = sc.saga(current), decision.path
    step = saga.step(path)
    assert step is not None
    if isinstance(decision, Intend):
        intended = intend(after, step, path, CALL, NOW)
    else:
        intended = intend_compensation(after, step, path, NOW)
    written, is_decided = write(w, hold, current, intended, decision, doing=decision)
    if is_decided:
        check_call(sc, w, hold.e, merged(w.rows[hold.e], hold.written, intended), decision)
    return written


def check_call(sc: Scenario, w: World, e: int, row: Snapshot, decision: Intend | Compensate) -> None:
    """Whether this call may begin, by the table before it and after it."""
    path, saga = decision.path, sc.saga(row)
    record = row.known(path)
    if isinstance(decision, Intend):
        known = w.rows[e].record(path)
        if known is not None and known.status == StepStatus.COMPLETED:
            raise Broken(f"P1: {path} is called again")
        if row.unwinding:
            raise Broken(f"{path} starts while unwinding")
        return
    if row.pivoted_at:
        raise Broken(f"{path} is compensated past the pivot")
    for one in row.records:
        behind = one.seq > record.seq and not independent(saga, one.path, path)
        if behind and owed(one) and one.compensation_status not in SETTLED:
            raise Broken(f"{path} is undone before {one.path}, which began later")
        if behind and (e, one.path) not in w.undone and (e, one.path, True) in w.ghosts:
            raise Broken(f"{path} is undone while somebody may be undoing {one.path}")


def _may_begin(w: World, e: int) -> None:
    if w.rows[e].unwinding:
        raise Broken("something begins while unwinding")


def _arranged(sc: Scenario, w: World, hold: Hold, current: Snapshot, after: Snapshot, decision: Decision) -> World:
    """Gates and queued steps that need no code of the project: as many as there are, with what is decided then."""
    saga = sc.saga(current)
    _may_begin(w, hold.e)
    while isinstance(decision, Enqueue | Open):
        if isinstance(decision, Enqueue):
            step = saga.step(decision.path)
            assert step is not None
            after = queue_up(after, step, decision.path, CALL, NOW)
        else:
            after = _opened(saga.node(decision.path), after, decision.path)
        after, decision = advance(saga, after, NOW)
    if isinstance(decision, Release):
        return write(w, hold, current, released(after, decision), decision)[0]
    return write(w, hold, current, after)[0]


def _stumbles(sc: Scenario, w: World, hold: Hold, after: Snapshot, decision: Decision) -> Iterator[Move]:
    """What it begins with cannot be made: this time, or never."""
    if not isinstance(decision, Enqueue | Open | Spawn) or after != hold.written:
        return
    saga = sc.saga(after)
    node, step, record = saga.node(decision.path), saga.step(decision.path), after.record(decision.path)
    if node is None or node.kind in ("wait", "approval") or (record is not None and record.arguments_text is not None):
        return
    for how in sc.stumbles.get(node.name, "").split():
        current = unbound(after, decision, step, node.kind, STUMBLES[how])
        following, then = advance(saga, current, NOW)
        yield f"{hold.e}: {decision} cannot begin, {how}", _decided(sc, w, hold, current, following, then)


def _opened(node: Any, x: Snapshot, path: str) -> Snapshot:
    sleeps = node.kind == "sleep"
    due = LATER if sleeps or node.timeout else None
    return open_gate(x, path, node.kind, CALL if sleeps else None, due, NOW)


def _told(
    sc: Scenario, w: World, hold: Hold, current: Snapshot, after: Snapshot, decision: AskChild | UndoChild
) -> World:
    """A message to a child, in the transaction that says that it was told."""
    child = after.known(decision.path).child_id
    assert child is not None
    if isinstance(decision, UndoChild):
        after = after.with_record(decision.path, compensation_status=CompensationStatus.RUNNING)
    w, is_decided = write(w, hold, current, after)
    if not is_decided:
        return w
    w = _message(sc, w, child.int, decision)
    (mine,) = (one for one in w.holds if (one.e, one.path) == (hold.e, ""))
    seen = mine.written.but(kids={**mine.written.kids, child: kid_of(w.rows[child.int])})
    return w.without(mine).and_hold(replace(mine, written=seen))


def _message(sc: Scenario, w: World, e: int, decision: AskChild | UndoChild) -> World:
    x = load(w, e)
    if isinstance(decision, AskChild):
        after = verbs.cancel(x, NOW, "") if verbs.eligibility("cancel", x) else x
    else:
        after = family.undo_child(x, NOW)
    return w if after is x else verb(sc, w, e, after, tells=False)


def _ends(sc: Scenario, w: World, hold: Hold) -> Iterator[Move]:
    """A worker dies, or loses its lease and does not know it."""
    if w.left("crashes"):
        yield f"{hold.e}: the worker dies", _gone(w.spent("crashes"), hold)
    if w.left("lapses"):
        yield f"{hold.e}: the lease lapses", haunted(sc, _gone(w.spent("lapses"), hold), hold)


def haunted(sc: Scenario, w: World, hold: Hold) -> World:
    """The same where that worker may be inside its call still, though it will never get a word in the table."""
    if not isinstance(hold.doing, Intend | Compensate):
        return w
    path, undoes = hold.doing.path, isinstance(hold.doing, Compensate)
    step = sc.saga(hold.written).step(path)
    assert step is not None
    atomic = step.compensation is not None and step.compensation.atomic if undoes else step.atomic or step.pure
    return w if atomic else replace(w, ghosts=w.ghosts | {(hold.e, path, undoes)})


def _gone(w: World, hold: Hold) -> World:
    """Nothing that was only in its head is left; until its grace is over it may still be inside."""
    w = noticed(w.without(hold), hold.e)
    x = w.rows[hold.e]
    w = exorcised(w, hold.e, lambda path: not (x.record(path) and x.known(path).in_queue))
    return replace(w.but_row(hold.e, x.but(due_at=NOW, quiet_at=LATER)), orphans=w.orphans | {hold.e})


def exorcised(w: World, e: int, mine: Callable[[str], bool]) -> World:
    """The same after a lease of somebody else has run out: longer than the grace of whoever had it before."""
    return replace(w, ghosts=frozenset(one for one in w.ghosts if one[0] != e or not mine(one[1])))
