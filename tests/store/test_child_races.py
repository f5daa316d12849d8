"""Parent and child at the same moment: locks from the root downward, and no end that nobody hears of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from django.db import OperationalError, connection

from saga_app import Child, Saga, VerbRefused, Wait, clock, engine, executor
from saga_app.core.changes import release
from saga_app.core.decisions import Finish, Park
from saga_app.core.status import Status
from saga_app.models import Execution
from saga_app.queue import inline
from saga_app.store import changes, checkpoint
from saga_app.store.checkpoint import Write
from saga_app.store.children import Ask
from saga_app.store.transactions import durable
from saga_app.store.wakes import wake
from tests.gates import Gate, somebody
from tests.settings import ENGINE
from tests.store.conftest import claimed, now
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 5


def line(depth: int) -> list[Execution]:
    """An execution, its child, its child's child, …; the lowest waits for a signal."""
    saga: Saga[Any] = Saga("x0", Wait("go"))
    for level in range(1, depth):
        saga = Saga(f"x{level}", Child(saga))
    found = [saga.start()]
    inline.run_until_idle()
    while len(found) < depth:
        found.append(Execution.objects.get(parent=found[-1]))
    return [now(x) for x in found]


def held(x: Execution) -> tuple[Any, Any]:
    """A claim of an execution that waits for nothing but an event."""
    Execution.objects.filter(pk=x.pk).update(due_at=clock.now())
    return claimed(x)


@contextmanager
def stopping_at(gate: Gate) -> Iterator[None]:
    """In this thread, stop once an UPDATE of an execution has been made: its row is locked then."""

    def execute(run: Callable[..., Any], sql: str, params: Any, many: Any, context: Any) -> Any:
        done = run(sql, params, many, context)
        if sql.startswith('UPDATE "saga_app_execution"'):
            gate()
        return done

    with connection.execute_wrapper(execute):
        yield


@pytest.mark.parametrize("downward", [True, False], ids=["root_first", "child_first"])
def test_locks_are_taken_from_the_root_downward(downward: bool) -> None:
    """Design §7.5. A parent tells its child something while that ends. In the other order each waits for the other."""
    parent, child = line(2)
    (parents, facts), (childs, below) = held(parent), held(child)
    gate = Gate()

    def asks() -> bool:
        with stopping_at(gate), durable("default"):
            return checkpoint.write(parents, Write(facts, facts, facts, message=Ask(child.pk))).decided

    def ends() -> bool:
        after = release(below, Finish(Status.COMPLETED), childs.moment())
        with durable("default"):
            if not downward:  # what is not done: the child's own row first
                changes.lock_row(child.pk, "default")
            return checkpoint.write(childs, Write(below, below, after, releases=True)).decided

    with somebody(lambda: told(asks)) as asking:
        gate.reached()
        with somebody(lambda: told(ends)) as ending:
            clock.sleep(0.4)
            assert not ending.done()
            gate.open()
            said = asking.result(20), ending.result(20)
    if downward or ENGINE == "sqlite":  # where there is one lock for all, there is no order
        assert said == (True, False)  # it was asked, and so its end is decided upon again
    else:
        assert any("deadlock detected" in str(one) for one in said)


def told(call: Callable[[], bool]) -> bool | str:
    """What it answered, or what the database said."""
    try:
        return call()
    except OperationalError as error:
        return str(error)


def test_an_end_between_the_facts_and_the_park() -> None:
    """Design §7.4. The child ended after its parent had looked: the parent that parks for ever is due at once."""
    parent, child = line(2)
    claim, facts = held(parent)
    child.signal("go")
    at_once(lambda: inline.drive(child))
    after = release(facts, Park(None), claim.moment())
    checkpoint.checkpoint(claim, Write(facts, facts, after, releases=True))
    assert (now(parent).status, now(parent).lease_holder) == ("waiting", None)
    assert inline.drive(parent).status == "completed"


def test_an_end_and_a_park_at_once() -> None:
    """Whoever is first: the parent hears of it."""
    for _ in range(ROUNDS):
        parent, child = line(2)
        claim, facts = held(parent)
        child.signal("go")
        after = release(facts, Park(None), claim.moment())
        what = Write(facts, facts, after, releases=True)
        at_once(
            lambda claim=claim, what=what: checkpoint.checkpoint(claim, what),
            lambda child=child: executor.drive(child.pk, holder="host:2"),
        )
        inline.run_until_idle()
        assert [now(x).status for x in (parent, child)] == ["completed"] * 2


def test_all_of_a_family_at_once() -> None:
    """Drives that tell their children, the lowest that ends, and verbs on each of them: nobody waits for ever."""
    for _ in range(ROUNDS):
        xs = line(3)
        xs[2].signal("go")
        quietly = [lambda x=x: told(lambda: bool(_verb(x))) for x in xs]
        at_once(*quietly, *[lambda n=n: told(lambda: bool(inline.run_until_idle())) for n in range(2)])
        inline.run_until_idle()
        for x in xs:
            if now(x).status == "suspended":
                engine.resume(x)
        inline.run_until_idle()
        assert {now(x).status for x in xs} <= {"completed", "cancelled", "failed"}


def _verb(x: Execution) -> object:
    """An operator acts on it, and may be refused."""
    with suppress(VerbRefused):
        return engine.suspend(x) if x.parent_id is None else engine.cancel(x)
    return None


def test_a_wake_does_not_touch_what_is_held() -> None:
    """Design §7.4. The count, and nothing else."""
    parent, _ = line(2)
    claim, _facts = held(parent)
    before = now(parent)
    wake(parent.pk, "default")
    after = now(parent)
    assert (after.wakes, after.due_at, after.lease_holder) == (before.wakes + 1, before.due_at, claim.holder)
