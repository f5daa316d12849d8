"""The promises, as far as they can be read off one state of `search`; and whether each state comes to rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from saga_app.core.opening import opens
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import (
    OUTCOMES,
    SETTLED,
    STOPPED,
    TERMINAL,
    UNSETTLED,
    CompensationStatus,
    RollbackStatus,
    Status,
    StepStatus,
)
from saga_app.core.unwind import owed, rest
from tests.core.search import NOW, Found, Move, Scenario, World, search
from tests.core.search_others import is_outside, others, passing
from tests.core.search_rows import row_workers
from tests.core.search_table import is_held, load
from tests.core.search_workers import workers
from tests.pictures import refused_by_the_table

UNDECIDED = (RollbackStatus.NONE, RollbackStatus.STUCK)
UNDONE = (RollbackStatus.COMPLETED, RollbackStatus.NOT_APPLICABLE, RollbackStatus.RESTED)


def moves(sc: Scenario, w: World) -> Iterator[Move]:
    """Everything that can happen."""
    if w.stamped is None:
        yield from workers(sc, w)
        yield from row_workers(sc, w)
        yield from others(sc, w)
    yield from passing(w)


def explored(sc: Scenario) -> Found:
    """Every state of a scenario, each of which is lawful and comes to rest; or AssertionError, with the way there."""
    found = search(sc, moves, is_outside)
    for at, world in enumerate(found.worlds):
        if rule := broken(sc, world):
            raise AssertionError(f"{rule}\n" + "\n".join(found.trace(at)))
    restless = never_at_rest(found)
    if restless is not None:
        raise AssertionError("P6: never at rest\n" + "\n".join(found.trace(restless)))
    return found


def never_at_rest(found: Found) -> int | None:
    """A state from which workers and time alone do not come to where they have nothing left to do, if there is one."""
    back: list[list[int]] = [[] for _ in found.worlds]
    for at, after in enumerate(found.inner):
        for place in after:
            if place != at:
                back[place].append(at)
    todo = deque(at for at, after in enumerate(found.inner) if set(after) <= {at})
    rests = [set(after) <= {at} for at, after in enumerate(found.inner)]
    while todo:
        for at in back[todo.popleft()]:
            if not rests[at]:
                rests[at] = True
                todo.append(at)
    return next((at for at, reached in enumerate(rests) if not reached), None)


def broken(sc: Scenario, w: World) -> str:
    """The first rule that this state breaks, or nothing."""
    return next((f"{e}: {rule}" for e in range(len(w.rows)) for law in LAWS if (rule := law(sc, w, e))), "")


def _row(sc: Scenario, w: World, e: int) -> str:
    """What the table's CHECKs say."""
    return refused_by_the_table(w.rows[e], released=not is_held(w, e))


def _reason(sc: Scenario, w: World, e: int) -> str:
    """P6. Without a due time it waits for something that can be seen, and that has not come."""
    x = w.rows[e]
    if x.status in STOPPED or is_held(w, e):
        return ""
    gates = [one for one in x.records if one.status == StepStatus.WAITING and one.kind in ("wait", "approval")]
    quiet = x.quiet_at is None and not any(one.row_quiet_at for one in x.records)  # else it may have to wait for that
    if (x.due_at is None or x.due_at > NOW) and quiet and any(_opened(sc, x, one) for one in gates):
        return "P6: sleeps over a signal"
    if x.due_at is None and not (gates or _in_queue(w, e) or _a_child_lives(w, e)):
        return "P6: waits for nothing"
    return ""


def _opened(sc: Scenario, x: Snapshot, gate: Record) -> bool:
    late = x.deadline_at is not None and x.deadline_at <= NOW
    if late or x.unwinding or x.suspend_requested_at or x.cancel_requested_at:
        return False
    saga = sc.saga(x)
    return any(opens(saga.node(gate.path), gate, signal, saga) for signal in x.signals)


def _in_queue(w: World, e: int) -> bool:
    """Somebody runs a queued step, or may claim one: where a pause is asked for, nobody may."""
    x = w.rows[e]
    claimable = x.suspend_requested_at is None
    return any(one.in_queue and (claimable or w.holder(e, one.path)) for one in x.records)


def _a_child_lives(w: World, e: int) -> bool:
    return any(kid.status not in TERMINAL for kid in load(w, e).kids.values())


def _ended(sc: Scenario, w: World, e: int) -> str:
    """The end is the end of everything."""
    x = w.rows[e]
    if x.status not in TERMINAL:
        return ""
    if x.status != Status.COMPLETED and x.rollback_status in UNDECIDED:
        return "terminal means that the rollback is decided"
    if x.cancel_requested_at and x.pivoted_at is None and x.status != Status.CANCELLED:
        return "an accepted cancel ends cancelled"
    if any(one.status in UNSETTLED or one.in_queue for one in x.records):
        return "something is open after the end"
    if any(h.e == e and not h.lost for h in w.holds):
        return "held after the end"
    return ""


def _outcomes(sc: Scenario, w: World, e: int) -> str:
    """P2. Each owed step has one outcome at the end, and no other has any."""
    x = w.rows[e]
    stop = rest(x.records) if x.pivoted_at is None else None
    for one in x.records:
        kept = stop is not None and one.seq < stop.seq and x.rollback_status == RollbackStatus.RESTED
        if x.status in TERMINAL and x.unwinding and owed(one) and not kept and one.compensation_status not in OUTCOMES:
            return f"P2: {one.path} has no outcome"
        if one.compensation_status and (not owed(one) or x.pivoted_at):
            return f"P2: {one.path} is compensated, and nothing is owed"
        if x.unwinding and one.status in UNSETTLED:
            return f"P2: {one.path} is still open while unwinding"
    return ""


def _world_outside(sc: Scenario, w: World, e: int) -> str:
    """What the records say of the world is so."""
    x = w.rows[e]
    stop = rest(x.records) if x.pivoted_at is None else None
    for one in x.records:
        place = (e, one.path)
        if one.compensation_status == CompensationStatus.COMPENSATED and one.kind != "child" and place not in w.undone:
            return f"{one.path} says compensated, and is not"
        stands = place in w.landed and place not in w.undone
        kept = stop is not None and one.seq < stop.seq
        back = x.status in TERMINAL and x.unwinding and x.rollback_status in UNDONE
        if back and one.owes and stands and not kept and one.compensation_status not in SETTLED:
            return f"a completed rollback left {one.path} behind"
        step = sc.saga(x).step(one.path)
        if step is not None and step.atomic and one.status == StepStatus.COMPLETED and place not in w.landed:
            return f"P3: {one.path} is completed, and nothing landed"
        if step is not None and step.atomic and place in w.landed and one.status in UNSETTLED:
            return f"P3: {one.path} landed without its record"
    return ""


def _completed(sc: Scenario, w: World, e: int) -> str:
    """Completed: whatever was not skipped has happened."""
    x = w.rows[e]
    for one in x.records if x.status == Status.COMPLETED else ():
        if one.kind == "step" and one.status == StepStatus.COMPLETED and (e, one.path) not in w.landed:
            return f"completed, and {one.path} never happened"
    return ""


def _in_peace(sc: Scenario, w: World, e: int) -> str:
    """Design §8.8. While a worker that lost it may be inside a body, nobody is asked to decide, and nothing has ended.

    Unless the same call has ended well under another worker: then what the late one does, is done.
    """
    x = w.rows[e]
    late = [one for one in w.ghosts if one[0] == e and one[:2] not in (w.undone if one[2] else w.landed)]
    if x.status == Status.SUSPENDED:  # queued steps go on to their end
        late = [ghost for ghost in late if not x.known(ghost[1]).in_queue]
    return "stopped while a body may be under way" if late and x.status in STOPPED else ""


def _beaten(sc: Scenario, w: World, e: int) -> str:
    """A signal that came in time beats the deadline."""
    x, saga = w.rows[e], sc.saga(w.rows[e])
    for one in x.records:
        came = [signal for signal in x.signals if signal.received_at <= NOW]  # before anybody's time was up
        if one.choice == "timeout" and any(opens(saga.node(one.path), one, signal, saga) for signal in came):
            return f"{one.path} timed out over a signal that came in time"
    return ""


def _children(sc: Scenario, w: World, e: int) -> str:
    """Design §9.7. A parent's end is its children's end, and what it has undone, they have."""
    x = w.rows[e]
    given_up = x.rollback_status == RollbackStatus.ABANDONED or (x.pivoted_at and x.status != Status.COMPLETED)
    for one in x.records:
        if one.child_id is None or x.status not in TERMINAL or given_up:
            continue
        kid, by_hand = w.rows[one.child_id.int], one.compensation_status == CompensationStatus.RESOLVED
        if kid.status not in TERMINAL and not by_hand:
            return f"{x.status}, and its child is {kid.status}"
        if one.compensation_status == CompensationStatus.COMPENSATED and kid.rollback_status not in UNDONE:
            return f"its child says {kid.rollback_status}, and it says compensated"
    places = [place for place in w.parents if place is not None and place[0] == e]
    if any(places.count(place) > x.known(place[1]).attempt for place in places):
        return "more children than calls"
    return ""


Law = Callable[[Scenario, World, int], str]
LAWS: tuple[Law, ...] = (
    _row, _reason, _ended, _outcomes, _world_outside, _completed, _in_peace, _beaten, _children
)  # fmt: skip
