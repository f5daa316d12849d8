"""Walks through every state that the pure core can reach with one saga: workers that die, requests, operators, time.

The table and the world outside are two immutable values, and every move of `core` is the real one. What two workers do
to each other is the fence's business and is tested in tests/store; here a worker is one that may die anywhere.
Time has no number: a due time is now, or later until time passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from saga_app.core import verbs
from saga_app.core.arranging import Call, bound, intend, intend_compensation
from saga_app.core.changes import advance, release
from saga_app.core.decisions import CallAtomic, Compensate, Decision, Intend, Reconcile, Release
from saga_app.core.failures import describe
from saga_app.core.outcomes import Direction, How, Outcome, settle
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import STOPPED, TERMINAL, Status, StepStatus, check_move

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = timedelta(days=1)
ERROR = describe(OSError("down"))


@dataclass(frozen=True, slots=True)
class World:
    """Everything there is.

    Attributes:
        facts: what the table holds.
        landed: paths whose effect stands outside, or once stood.
        undone: paths whose compensation has run to its end.
        doing: the call a worker is in; None: nobody holds the execution.
        crashes, cancels, presses: what the environment may still do.
    """

    facts: Snapshot
    landed: frozenset[str] = frozenset()
    undone: frozenset[str] = frozenset()
    doing: Decision | None = None
    crashes: int = 2
    cancels: int = 1
    presses: int = 1


class Broken(AssertionError):
    """A rule does not hold in a state that was reached."""


def reachable(saga: Saga[Any], **budgets: int) -> dict[World, tuple[str, World] | None]:
    """Every state, with the action and the state it was first reached by."""
    first = World(Snapshot(saga=saga.name, revision=1, fingerprint=saga.fingerprint, due_at=NOW), **budgets)
    seen: dict[World, tuple[str, World] | None] = {first: None}
    todo = [first]
    while todo:
        world = todo.pop()
        for action, after in moves(saga, world):
            check_move(world.facts.status, after.facts.status)
            if after not in seen:
                seen[after] = (action, world)
                todo.append(after)
    return seen


def moves(saga: Saga[Any], w: World) -> Iterator[tuple[str, World]]:
    """What may happen next, without the history that no decision looks at."""
    for action, after in _moves(saga, w):
        records = tuple(record.but(attempts=(), error_text=None) for record in after.facts.records)
        yield action, replace(after, facts=after.facts.but(records=records, error_text=None, cause="", resume_count=0))


def _moves(saga: Saga[Any], w: World) -> Iterator[tuple[str, World]]:
    yield from worker(saga, w) if w.doing is None else calls(saga, w)
    if w.doing is not None and w.crashes:
        yield "the worker dies", died(w)
    yield from outsiders(saga, w)


def worker(saga: Saga[Any], w: World) -> Iterator[tuple[str, World]]:
    """A claim, the decision, and its write."""
    x = w.facts
    if x.status not in STOPPED and x.due_at is not None and x.due_at <= NOW:
        claimed = x.but(deaths=x.deaths + 1)
        yield "claim", wrote(saga, w, claimed, claimed)
    elif any(due and due > NOW for due in (x.due_at, *(r.due_at for r in x.records))) and x.status not in STOPPED:
        yield "time passes", replace(w, facts=timely(x))


def wrote(saga: Saga[Any], w: World, before: Snapshot, current: Snapshot) -> World:
    """What the drive writes after a call, in the world as it is then: the outcome, and the decision if it may."""
    requests = (w.facts.cancel_requested_at, w.facts.suspend_requested_at)
    if requests != (before.cancel_requested_at, before.suspend_requested_at):
        seen = {"cancel_requested_at": requests[0], "suspend_requested_at": requests[1], "due_at": NOW}
        return replace(w, facts=current.but(**seen), doing=None)
    after, decision = advance(saga, current, NOW)
    if isinstance(decision, Release):
        return replace(w, facts=release(after, decision, NOW).but(deaths=0), doing=None)
    step = saga.step(decision.path)
    assert step is not None
    if isinstance(decision, Intend):
        if (known := after.record(step.name)) and known.status == StepStatus.COMPLETED:
            raise Broken(f"P1: {step.name} is called again")
        if after.unwinding:
            raise Broken(f"{step.name} starts while unwinding")
        after = intend(after, step, decision.path, Call("{}", "key"), NOW)
    elif isinstance(decision, Compensate):
        if after.pivoted_at:
            raise Broken(f"{step.name} is compensated past the pivot")
        after = intend_compensation(after, step, decision.path, NOW)
    return replace(w, facts=after.but(due_at=NOW), doing=decision)


def calls(saga: Saga[Any], w: World) -> Iterator[tuple[str, World]]:
    """How the call may end, and what it leaves outside."""
    decision = w.doing
    match decision:
        case Reconcile(path):
            for how in (How.HAPPENED if path in w.landed else How.NOT_HAPPENED, How.UNKNOWN):
                yield from told(saga, w, Direction.RECONCILE, path, how, w)
        case Compensate(path):
            yield from told(saga, replace(w, undone=w.undone | {path}), Direction.COMPENSATE, path, How.RETURNED, w)
            yield from told(saga, w, Direction.COMPENSATE, path, How.RAISED, w)
        case Intend(path) if not saga.step(path).atomic:  # type: ignore[union-attr]
            landed = replace(w, landed=w.landed | {path})
            for how in (How.RETURNED, How.RAISED, How.TIMED_OUT):
                yield from told(saga, landed, Direction.FORWARD, path, how, w)
            for how in (How.RAISED, How.REJECTED, How.TIMED_OUT):
                yield from told(saga, w, Direction.FORWARD, path, how, w)
        case Intend(path) | CallAtomic(path):
            landed = replace(w, landed=w.landed | {path})
            yield from told(saga, landed, Direction.FORWARD, path, How.RETURNED, w)
            yield from told(saga, w, Direction.FORWARD, path, How.ROLLED_BACK, w)


def told(
    saga: Saga[Any], w: World, direction: Direction, path: str, how: How, before: World
) -> Iterator[tuple[str, World]]:
    """The outcome is written with the next decision; or the worker dies with it in its head."""
    step = saga.step(path)
    assert step is not None
    x = w.facts
    if isinstance(w.doing, CallAtomic):
        x = bound(x, step, path, Call("{}", "key"), NOW)
        x = x.but(status=Status.RUNNING).with_record(path, status=StepStatus.RUNNING, attempt=x.known(path).attempt + 1)
    good = how in (How.RETURNED, How.HAPPENED)
    outcome = Outcome(
        path=path,
        direction=direction,
        how=how,
        at=NOW,
        output_text="1" if good else None,
        error=None if good else ERROR,
        retry=how not in (How.REJECTED, How.RETURNED),
        delay=LATER.total_seconds(),
    )
    settled = settle(x, outcome, asks=step.reconciler is not None)
    yield f"{path} {direction} {how}", wrote(saga, w, before.facts, settled.but(deaths=0))
    if w.crashes and not step.atomic:
        yield f"{path} {direction} {how}, and the worker dies", died(w)


def died(w: World) -> World:
    """Nothing that was only in its head is left."""
    return replace(w, doing=None, crashes=w.crashes - 1, facts=w.facts.but(due_at=NOW))


def timely(x: Snapshot) -> Snapshot:
    """What was due later is due now."""
    records = (r.but(due_at=r.due_at and NOW, compensation_due_at=r.compensation_due_at and NOW) for r in x.records)
    return x.but(due_at=NOW, records=tuple(records))


def outsiders(saga: Saga[Any], w: World) -> Iterator[tuple[str, World]]:
    """Somebody cancels; an operator acts on what has stopped."""
    x = w.facts
    if w.cancels and verbs.eligibility("cancel", x):
        yield "cancel", replace(w, facts=verbs.cancel(x, NOW, "").but(due_at=NOW), cancels=w.cancels - 1)
    if not w.presses or x.status in TERMINAL or x.status not in STOPPED:
        return
    stopped = verbs.stopped_at(x)
    acts = {
        "resume": lambda: verbs.resume(x, saga, NOW),
        "abandon": lambda: verbs.abandon(x, saga, NOW),
        "unwind": lambda: verbs.unwind(x, saga, NOW),
        "resolve": lambda: verbs.resolve(x, stopped, NOW),  # type: ignore[arg-type]
    }
    for verb, act in acts.items():
        if verbs.eligibility(verb, x):
            yield f"operator: {verb}", replace(w, facts=act(), presses=w.presses - 1)
