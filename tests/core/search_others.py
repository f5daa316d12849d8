"""What time does, and people: signals, requests, and an operator at what has stopped: for `search`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from saga_app.core import verbs
from saga_app.core.opening import opens
from saga_app.core.snapshot import Record, Signal, Snapshot
from saga_app.core.status import STOPPED, TERMINAL, Status, StepStatus
from tests.core.search import NOW, Broken, Move, Scenario, World
from tests.core.search_table import is_held, load, verb, wake

OUTSIDE = ("signal", "cancel", "suspend", "operator")
FAULTS = ("dies", "lapses")
IN_TIME, TOO_LATE = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)


def is_outside(action: str) -> bool:
    """Whether somebody else than workers and time does it."""
    return action.startswith(OUTSIDE) or any(word in action for word in FAULTS)


def others(sc: Scenario, w: World) -> Iterator[Move]:
    """Everything that is not a worker's doing, and waits for row locks."""
    yield from _ghosts(w)
    yield from _signals(sc, w)
    for e, x in enumerate(w.rows):
        if w.left("cancels") and verbs.eligibility("cancel", x):
            yield f"cancel {e}", verb(sc, w.spent("cancels"), e, verbs.cancel(load(w, e), NOW, ""))
        if w.left("suspends") and verbs.eligibility("suspend", x):
            yield f"suspend {e}", verb(sc, w.spent("suspends"), e, verbs.suspend(load(w, e), NOW, ""))
        if w.left("presses") and x.status in (Status.STUCK, Status.SUSPENDED):
            yield from _operator(sc, w.spent("presses"), e)
        elif w.left("hurries") and x.status not in STOPPED and verbs.eligibility("resume", x, held=is_held(w, e)):
            yield f"operator: hurries {e}", _hurried(sc, w.spent("hurries"), e)


def passing(w: World) -> Iterator[Move]:
    """What nobody waits for: time, and the end of a transaction that has begun."""
    yield from _time(w)
    if w.stamped is not None:
        x = w.rows[0]
        stored = x.but(signals=(*x.signals, w.stamped), unread=x.unread + 1)
        yield f"{w.stamped.name} commits", wake(replace(w, stamped=None).but_row(0, stored), 0)


def _hurried(sc: Scenario, w: World, e: int) -> World:
    """What waits for its next attempt need not wait; what waits for a time or a signal goes on waiting."""
    x = load(w, e)
    after = verbs.resume(x, sc.saga(x), NOW)
    for one in x.records:
        if one.kind in ("wait", "approval", "sleep", "child") and after.known(one.path) != one:
            raise Broken(f"a resume has changed {one.path}")
    return verb(sc, w, e, after)


def _time(w: World) -> Iterator[Move]:
    leases = [{h.path for h in w.holds if h.e == e and not h.lost} for e in range(len(w.rows))]
    rows = tuple(_later(x, leases[e]) for e, x in enumerate(w.rows))
    if any(new is not old for new, old in zip(rows, w.rows, strict=True)):
        holds = tuple(replace(h, written=_later(h.written, leases[h.e])) for h in w.holds)
        yield "time passes", replace(w, rows=rows, holds=holds, ghosts=frozenset())


def _later(x: Snapshot, leases: set[str]) -> Snapshot:
    """What was due later is due now. Leases are renewed; who lost one so long ago is in no body any more."""
    records = tuple(_record_later(one, leased=one.path in leases) for one in x.records)
    changed = any(new is not old for new, old in zip(records, x.records, strict=True))
    moments = {"due_at": _due(x.due_at), "deadline_at": _due(x.deadline_at), "quiet_at": None}
    if not changed and all(getattr(x, name) == moment for name, moment in moments.items()):
        return x
    overdue = any(_is_overdue(one) for one in x.records)
    signals = tuple(one if overdue else replace(one, received_at=IN_TIME) for one in x.signals)
    return x.but(records=records, signals=signals, **moments)


def _record_later(one: Record, *, leased: bool) -> Record:
    moments = {
        "due_at": _due(one.due_at),
        "compensation_due_at": _due(one.compensation_due_at),
        "row_due_at": one.row_due_at if leased else _due(one.row_due_at),
        "row_quiet_at": None,
    }
    same = all(getattr(one, name) == moment for name, moment in moments.items())
    return one if same else one.but(**moments)


def _due(moment: datetime | None) -> datetime | None:
    return NOW if moment is not None and moment > NOW else moment


def _ghosts(w: World) -> Iterator[Move]:
    """Whoever has lost its lease inside a body may still do what the body does."""
    for ghost in w.ghosts:
        e, path, undoes = ghost
        place, gone = frozenset({(e, path)}), w.ghosts - {ghost}
        after = replace(w, undone=w.undone | place) if undoes else replace(w, landed=w.landed | place)
        yield f"late: {e}.{path} {'is undone' if undoes else 'lands'}", replace(after, ghosts=gone)


def _signals(sc: Scenario, w: World) -> Iterator[Move]:
    """The next signal that may be sent to the first execution: its moment is that at which the row is locked."""
    x, left = w.rows[0], w.left("signals")
    if not left or x.status in TERMINAL:
        return
    name, _, verdict = sc.sent[-left].partition("!")
    signal = Signal(id=left, name=name, received_at=IN_TIME, payload_text="1", verdict=verdict)
    overdue = [one for one in x.records if _is_overdue(one)]
    if verdict and not any(_is_gate(one) and one.path == name and one not in overdue for one in x.records):
        return  # the door refuses a decision that nobody asks for, or asks for no more
    if any(opens(sc.saga(x).node(one.path), one, signal, sc.saga(x)) for one in overdue):
        signal = replace(signal, received_at=TOO_LATE)
    yield f"signal {name}", replace(w.spent("signals"), stamped=signal)


def _is_overdue(record: Record) -> bool:
    """Its time is up, whether somebody has looked or not."""
    waits = _is_gate(record) and record.due_at is not None and record.due_at <= NOW
    return waits or record.choice == "timeout"


def _is_gate(record: Record) -> bool:
    return record.status == StepStatus.WAITING and record.kind in ("wait", "approval")


def _operator(sc: Scenario, w: World, e: int) -> Iterator[Move]:
    x = load(w, e)
    saga, stopped = sc.saga(x), verbs.stopped_at(x)
    for name in sc.verbs.split():
        if not verbs.eligibility(name, x):
            continue
        after, outside = x, w
        if name == "resume":
            after = verbs.resume(x, saga, NOW)
        elif name == "abandon":
            after = verbs.abandon(x, saga, NOW)
        elif name == "unwind":
            after = verbs.unwind(x, saga, NOW)
        elif name == "resolve" and stopped is not None:
            after = verbs.resolve(x, stopped, NOW)
            outside = replace(w, undone=w.undone | {(e, stopped.path)})
        elif name == "skip" and stopped is not None:
            happened, choice = (e, stopped.path) in w.landed, sc.choices.get(stopped.name, "").partition(" ")[0]
            happened = happened or bool(choice)
            text = "1" if happened else None
            after = verbs.skip(x, saga, stopped, NOW, happened=happened, output_text=text, choice=choice)
        yield f"operator: {name} {e}", verb(sc, outside, e, after)
