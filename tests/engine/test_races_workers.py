"""Two workers, or a worker and a view, at one execution: who may write, who waits for whom, and who for nobody."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from saga_app import Saga, clock, engine, executor
from saga_app.core.errors import RetryLater
from saga_app.models import Execution
from saga_app.store import claims
from saga_app.store.transactions import durable
from tests import ledger
from tests.engine.drives import DATABASES, drive
from tests.faults import lapse
from tests.gates import Gate, somebody
from tests.harness import CANCELLED, DONE, OK, do, end, events, fail, now, ok, rec, rows_of
from tests.script import Entry
from tests.settings import ENGINE
from tests.site.models import Order, Question
from tests.threads import at_once

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

two_locks = pytest.mark.skipif(ENGINE != "postgres", reason="SQLite has one lock: nobody writes while somebody writes")


def worker(x: Execution, number: int = 1, **options: Any) -> Any:
    return partial(executor.drive, x.pk, holder=f"host:{number}", **options)


def test_one_of_many_workers_drives_it() -> None:
    """Hazard B51. Hazard B72. Eight claim at once; one has it, and each body is called once."""
    for _ in range(5):
        x = Saga("s", do("a"), do("b")).start()
        assert sum(at_once(*[worker(x, number) for number in range(8)])) == 1
        assert end(x) == DONE and ledger.order_of(x) == ["a", "b"]


def test_a_late_worker_records_nothing() -> None:
    """Promise P5. Hazard B56. Back from a body it lost the lease in, it changes nothing and leaves word."""
    gate = Gate()
    x = Saga("s", do("a", Entry(gate) >> ok("late"), ok("new"), attempts=2), do("b")).start()
    with somebody(worker(x)) as late:
        gate.reached()
        lapse()
        assert end(drive(x)) == DONE
        before = rows_of(x)
        gate.open()
        late.result()
    assert rows_of(x) == before and rec(x, "a").output == "new"
    assert [event.data["path"] for event in events(x, "late_result")] == ["a"]


@two_locks
def test_the_rows_of_a_late_worker_do_not_appear() -> None:
    """Promise P3. Hazard B56. Its atomic body has written them; the fence, its last lock, takes them back."""
    gate = Gate()
    a = do("a", Entry(row) >> Entry(gate), atomic=True)
    x = Saga("s", a, do("b")).start()
    with somebody(worker(x)) as late:
        gate.reached()
        lapse()
        executor.drive(x.pk, holder="host:2")
        assert end(x) == DONE
        gate.open()
        late.result()
    assert Question.objects.count() == 1 and ledger.calls("a") == 2
    assert rec(x, "a").status == "completed" and not events(x, "late_result")


def row(_call: Any) -> None:
    Question.objects.create(title="?")


def test_a_late_worker_does_not_begin_an_atomic_body() -> None:
    """Promise P3. It slept between its claim and the transaction; there it looks first, and sees that it is late."""
    gate = Gate()
    x = Saga("s", do("a", Entry(row), atomic=True)).start()
    with somebody(worker(x, go_on=gate)) as late:
        gate.reached()
        lapse()
        executor.drive(x.pk, holder="host:2")
        gate.open()
        late.result()
    assert end(x) == DONE and (Question.objects.count(), ledger.calls("a")) == (1, 1)


def test_a_stop_while_there_is_work() -> None:
    """Told to go, a worker gives back what it drives at the next boundary, takes nothing else, and loses nothing."""
    xs = [Saga(f"s{number}", do("a"), do("b")).start() for number in range(3)]
    answers = iter([True])
    assert executor.drive_next(holder="host:1", go_on=lambda: next(answers, False)) == 1
    assert ledger.order() == ["a"]
    assert [(now(x).lease_holder, now(x).due_at <= clock.now()) for x in xs] == [(None, True)] * 3
    assert executor.drive_next(holder="host:2") == 3
    assert [end(x) for x in xs] == [DONE] * 3
    assert [ledger.order_of(x) for x in xs] == [["a", "b"]] * 3


@pytest.mark.parametrize("wakes", ["a verb", "a wake"])
def test_a_wake_that_is_not_committed_when_the_worker_parks(wakes: str) -> None:
    """Design §7.4. Hazard A33. Hazard B73. The park waits for it, sees it, and is due at once: no wake-up is lost.

    The waker holds the row while the worker has already decided to sleep for an hour.
    """
    gate = Gate()
    x = Saga("s", do("a", Entry(gate) >> fail(RetryLater(3600)), attempts=2)).start()
    with somebody(worker(x)) as worker_:
        gate.reached()
        with transaction.atomic():
            if wakes == "a verb":
                engine.suspend(x)
            else:
                Execution.objects.filter(pk=x.pk).update(wakes=F("wakes") + 1)
            gate.open()
            time.sleep(0.3)
            assert not worker_.done()
        worker_.result()
    if wakes == "a verb":
        assert now(x).status == "suspended"
    else:
        assert now(x).status == "waiting" and now(x).due_at <= clock.now()


@two_locks
def test_a_view_that_locks_its_row_and_then_cancels() -> None:
    """Design §7.5. Hazard B52. User rows first, executions last, in steps as in views: nobody waits in a circle.

    The view holds the order that the atomic body wants to write, and asks for the execution that the body drives.
    Were the fence the first lock of the body's transaction, each would wait for the other.
    """
    order, gate = Order.objects.create(), Gate()

    def take(_call: Any) -> int:
        gate()
        return Order.objects.filter(pk=order.pk).update(status="taken")

    x = Saga("s", do("a", Entry(take), atomic=True, comp=OK), do("b")).start()
    with somebody(worker(x)) as driver:
        gate.reached()
        with transaction.atomic():
            Order.objects.select_for_update().get(pk=order.pk)
            gate.open()
            time.sleep(0.3)
            began = time.monotonic()
            engine.cancel(x, reason="not any more")
            assert time.monotonic() - began < 1
            assert not driver.done()
        driver.result()
    assert end(x) == CANCELLED and ledger.order() == ["a", "~a"]
    assert [one["outcome"] for one in rec(x, "a").attempts] == ["returned", "returned"]


@two_locks
def test_nobody_queues_behind_a_verb() -> None:
    """Design §7.3. While somebody's transaction holds the most urgent one, a worker takes the next."""
    first, second = Saga("s", do("a")).using(priority=-1).start(), Saga("t", do("b")).start()
    gate = Gate()

    def view() -> None:
        with transaction.atomic():
            engine.suspend(first)
            gate()

    with somebody(view):
        gate.reached()
        assert executor.drive_next(holder="host:1") == 1
        assert (end(second), now(first).status) == (DONE, "pending")
        gate.open()


@two_locks
def test_a_heartbeat_that_cannot_get_through_is_no_loss() -> None:
    """Design §7.6. Hazard B64. A row lock in its way is an error, soon, and says nothing about the lease."""
    x = Saga("s", do("a")).start()
    with durable("default"):
        claim, _ = claims.take(claims.holder_for("host:1"), "default", x.pk) or pytest.fail("not due")
    claim.lease_ends = clock.monotonic() + 1
    gate = Gate()

    def view() -> None:
        with transaction.atomic():
            engine.suspend(x)
            gate()

    def beats() -> None:
        with pytest.raises(DatabaseError, match="lock timeout"):
            claims.beat(claim)

    with somebody(view):
        gate.reached()
        began = time.monotonic()
        at_once(beats)
        assert time.monotonic() - began < 5
        gate.open()
    assert claims.beat(claim) and now(x).lease_holder == claim.holder
    connection.close()  # it has a lock timeout now


def test_what_is_locked_first() -> None:
    """Design §7.5. In each transaction: rows of the site, then the execution, then its records, then new rows."""
    order = Order.objects.create()

    def write(_call: Any) -> int:
        return Order.objects.filter(pk=order.pk).update(status="taken")

    a, b = do("a", comp=OK), do("b", Entry(write), atomic=True, comp=OK)
    with CaptureQueriesContext(connection) as captured:
        Saga("s", a, b, do("c", fail(OSError))).run()
        Saga("t", a, b, do("c", fail(OSError)), on_failure="hold").run().cancel()
    transactions = list(locks(captured))
    assert ["order", "execution", "new"] in transactions
    assert ["execution", "record", "new"] in transactions
    assert all(ranks == sorted(ranks, key=ORDER.index) for ranks in transactions)


ORDER = ["order", "execution", "record", "new"]
KINDS = {
    'UPDATE "site_order"': "order",
    'UPDATE "saga_app_execution"': "execution",
    "FOR NO KEY UPDATE": "execution",
    'UPDATE "saga_app_steprecord"': "record",
    "INSERT INTO": "new",
}


def locks(captured: CaptureQueriesContext) -> Iterator[list[str]]:
    """What each transaction locks, in that order."""
    ranks: list[str] = []
    for query in captured:
        ranks += [rank for text, rank in KINDS.items() if text in query["sql"]][:1]
        if query["sql"] == "COMMIT":
            yield list(dict.fromkeys(ranks))
            ranks = []
