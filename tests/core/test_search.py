"""Every state that can be reached is lawful: the promises, checked on all of them instead of some."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest

from saga_app import Pivot, Saga, step
from saga_app.core import registry
from saga_app.core.status import OUTCOMES, SETTLED, STOPPED, TERMINAL, CompensationStatus, RollbackStatus, Status
from saga_app.core.unwind import owed
from tests.core.search import World, moves, reachable


def made(name: str, *, undo: int = 1, asks: bool = False, **options: Any) -> Any:
    """A step with a compensation of so many attempts (0: none)."""
    one = step(name=name, **options)(lambda: None)
    if undo:
        one.compensate(attempts=undo)(lambda: None)
    if asks:
        one.reconcile(lambda: None)
    return one


SAGAS = {
    "external": lambda: [made("a", attempts=2), made("b", attempts=2, undo=2)],
    "one attempt": lambda: [made("a", attempts=1), made("b", attempts=1, undo=0)],
    "atomic": lambda: [made("a", attempts=2, atomic=True), made("b", attempts=1, undo=0)],
    "pivot": lambda: [made("a", attempts=1), Pivot(), made("b", attempts=2)],
    "atomic past the pivot": lambda: [made("a", attempts=1), Pivot(), made("b", attempts=2, atomic=True)],
    "asks": lambda: [made("a", attempts=2, asks=True), made("b", attempts=1, undo=0)],
    "asks before the pivot": lambda: [made("a", attempts=1, asks=True), Pivot(), made("b", attempts=1, undo=0)],
    "optional": lambda: [made("a", attempts=1, required=False), made("b", attempts=1, undo=0)],
}


Seen = dict[World, tuple[str, World] | None]


@pytest.fixture(params=SAGAS, scope="module")
def searched(request: pytest.FixtureRequest) -> Iterator[tuple[Saga[Any], Seen]]:
    """One of the small sagas, and every state it can reach."""
    with registry.isolate():
        saga = Saga("searched", *SAGAS[request.param]())
        yield saga, reachable(saga)


def lawful(w: World) -> str:
    """The first rule that this state breaks, or nothing."""
    x = w.facts
    ended = x.status in TERMINAL
    if (x.due_at is None) != (x.status in STOPPED):
        return "P6: open means due, stopped means not"
    if (x.status == Status.STUCK) != bool(x.stuck_reason):
        return "stuck has a reason, and nothing else has one"
    if x.status in (Status.FAILED, Status.CANCELLED) and x.rollback_status in (
        RollbackStatus.NONE,
        RollbackStatus.STUCK,
    ):
        return "terminal means that the rollback is decided"
    if ended and x.cancel_requested_at and x.pivoted_at is None and x.status != Status.CANCELLED:
        return "an accepted cancel ends cancelled"
    for record in x.records:
        if ended and x.unwinding and owed(record) and record.compensation_status not in OUTCOMES:
            return f"P2: {record.path} has no outcome"
        if record.compensation_status and (not owed(record) or x.pivoted_at):
            return f"P2: {record.path} is compensated, and nothing is owed"
        happened = record.path in w.landed and record.path not in w.undone
        settled = record.compensation_status in SETTLED
        if x.rollback_status == RollbackStatus.COMPLETED and record.owes and happened and not settled:
            return f"a completed rollback left {record.path} behind"
        if record.compensation_status == CompensationStatus.COMPENSATED and record.path not in w.undone:
            return f"{record.path} says compensated, and is not"
    return ""


def test_every_reachable_state_is_lawful(searched: tuple[Saga[Any], Seen]) -> None:
    """Promises P1, P2 and P6, and every move of the table, in all states: two deaths, a cancel, an operator."""
    _, seen = searched
    broken = {w: rule for w in seen if (rule := lawful(w))}
    assert len(seen) > 50
    if broken:
        world, rule = next(iter(broken.items()))
        pytest.fail(f"{rule}\n" + "\n".join(trace(seen, world)))


def test_every_state_comes_to_rest(searched: tuple[Saga[Any], Seen]) -> None:
    """Promise P6. From every state, workers and time alone reach an end, or a stop that an operator sees."""
    saga, seen = searched
    rest = {w for w in seen if w.facts.status in STOPPED}
    back: dict[World, list[World]] = {}
    for world in seen:
        for action, after in moves(saga, world):
            if not action.startswith(("operator", "cancel")) and "dies" not in action:
                back.setdefault(after, []).append(world)
    todo, reaching = deque(rest), set(rest)
    while todo:
        for world in back.get(todo.popleft(), []):
            if world not in reaching:
                reaching.add(world)
                todo.append(world)
    assert reaching == set(seen)


def trace(seen: Seen, world: World) -> list[str]:
    """The actions that led there."""
    actions: list[str] = []
    while (came := seen[world]) is not None:
        action, world = came
        actions.insert(0, action)
    return actions
