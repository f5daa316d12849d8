"""Cases about workers: long steps, deaths, hung calls, lost connections, a queue that is broken."""

from __future__ import annotations

import time

import pytest
from django.db import connection, transaction
from django.test import TestCase, override_settings
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.tasks import async_task

from saga_app import Backoff, Saga, SagaError, step
from saga_app import clock as real_clock
from saga_app.models import Event, Execution, StepRecord
from tests.forking import background
from tests.harness import (
    DONE,
    OK,
    UNWOUND,
    block,
    calls,
    clock,
    cluster,
    deliver_twice,
    die,
    do,
    drop_backends,
    elapsed,
    end,
    error,
    fail,
    hang,
    keys,
    lapse,
    lease,
    logged,
    now,
    ok,
    order,
    order_of,
    pause_worker,
    pids,
    reached,
    rec,
    rows_of,
    run,
    seen,
    settle,
    testing,
    work,
    working,
)
from tests.settings import ENGINE
from tests.site.models import Order, Tag

sqlite = pytest.mark.skipif(ENGINE != "sqlite", reason="SQLite's locks")
postgres = pytest.mark.skipif(ENGINE != "postgres", reason="PostgreSQL's connections")


def test_c01_a_step_longer_than_the_queue_waits() -> None:
    """Case C01. Step runs longer than the queue's redelivery time."""
    s = Saga("report", do("build", hang(4) >> ok()), do("mail"))
    with lease(1), deliver_twice(), cluster(3, retry=2, timeout=1):
        x = s.start()
        settle()
    assert end(x) == DONE and order() == ["build", "mail"] and rec(x, "build").attempt == 1


def web_write() -> None:
    """What a page does: one row, ten milliseconds apart."""
    with transaction.atomic():
        Order.objects.create()
    time.sleep(0.01)


@sqlite
def test_c08_nothing_is_lost_while_pages_write() -> None:
    """Case C08. "database is locked" on SQLite."""
    s = Saga("x", *[do(f"s{i}") for i in range(5)])
    with background(web_write):
        xs = [s.start() for _ in range(40)]
        work(4)
    assert {end(x) for x in xs} == {DONE} and len(order()) == 200
    assert not logged("database is locked", "ERROR")


@sqlite
def test_c08_a_held_write_lock_is_the_lease() -> None:
    """Case C08. An atomic body longer than the lease, while another worker looks for work."""

    def slow() -> None:
        Tag.objects.create(name="t")
        time.sleep(3)

    with lease(1):
        x = run(Saga("y", step(atomic=True, attempts=1)(slow)), n=2)
    assert end(x) == DONE and Tag.objects.count() == 1 and rec(x, "slow").attempt == 1


@postgres
def test_c10_a_cut_connection_is_replaced() -> None:
    """Case C10. "connection already closed" in a long-lived worker."""
    s = Saga("s", do("a"))
    with cluster(1):
        s.start()
        settle()
        workers = pids()
        drop_backends()
        xs = [s.start() for _ in range(5)]
        settle()
        assert {end(x) for x in xs} == {DONE} and calls("a") == 6 and pids() == workers


def test_c10_a_drive_here_leaves_the_connection_alone() -> None:
    """Case C10. In sync mode worker code closed the caller's connection."""
    s = Saga("s", do("a"))
    with transaction.atomic():
        Order.objects.create()
        with pytest.raises(SagaError):
            s.run()  # refuses inside a transaction
        assert Order.objects.count() == 1 and connection.in_atomic_block


class InATestCase(TestCase):
    """Case C10. The same in a TestCase of a user's own."""

    databases = {"default", "outside", "other"}

    def test_it_runs_inside_the_transaction(self) -> None:
        with testing.isolate_sagas():
            s = Saga("s", do("a"))
            Order.objects.create()
            assert end(testing.run(s)) == DONE and Order.objects.count() == 1 and connection.in_atomic_block


def test_c14_a_dead_worker_is_replaced_by_the_due_time_alone() -> None:
    """Case C14. The run says "running" and nothing will ever move it."""
    x = Saga("x", do("a", die("inside"), ok(), attempts=2)).start()
    work()
    assert now(x).status == "running"
    OrmQ.objects.all().delete()
    lapse()
    work(3)
    assert end(x) == DONE and calls("a") == 2 and len(keys("a")) == 1


def test_c14_a_living_worker_keeps_what_it_has() -> None:
    """Case C14. Only a lapsed lease is taken: this one is renewed, four times its length."""
    with lease(1), working(3):
        x = Saga("y", do("a", hang(4) >> ok())).start()
        settle()
    assert end(x) == DONE and calls("a") == 1


@pytest.mark.parametrize("e", [SystemExit, KeyboardInterrupt])
def test_c14_an_exit_is_a_failed_attempt(e: type[BaseException]) -> None:
    """Case C14. A step that called sys.exit; not retried by default."""
    x = run(Saga("z", do("t", comp=OK), do("a", fail(e), comp=OK, attempts=3)))
    assert end(x) == UNWOUND and order() == ["t", "a", "~a", "~t"]
    assert e.__name__ in error(x, "a") and now(x).deaths == 0


def test_c14_a_wait_needs_no_message() -> None:
    """Case C14. A lost wake-up: the row's due time is the wake-up."""
    backoff = Backoff(first=60, max=60, jitter=0)
    x = Saga("w", do("a", fail(OSError), ok(), attempts=2, backoff=backoff)).start()
    work()
    assert now(x).status == "waiting" and calls("a") == 1
    OrmQ.objects.all().delete()
    clock.forward(61)
    work()
    assert end(x) == DONE and calls("a") == 2


def test_c16_a_call_that_nothing_interrupts_ends_its_process() -> None:
    """Case C16. A hung step comes back after the engine gave up on it."""
    s = Saga("x", do("t", comp=OK), do("call", block(30) >> ok(), comp=OK, timeout=1))
    with lease(2), working(1):
        x, y = s.start(), Saga("o", do("b")).start()
        settle()
        assert elapsed() < 20
    assert end(x) == UNWOUND and order_of(x) == ["t", "call", "~call", "~t"]
    assert seen("~call")[0]["outcome"] == "unknown" and end(y) == DONE


def test_c16_a_worker_that_wakes_late_changes_nothing() -> None:
    """Case C16. Frozen, replaced, and awake again when everything is over (P5)."""
    x = Saga("y", do("t", comp=OK), do("call", hang(3) >> ok("late"), comp=OK)).start()
    with working(1):
        reached("call began")
        wake = pause_worker(x)
        lapse()
        work()
        assert end(x) == UNWOUND and order() == ["t", "call", "~call", "~t"]
        before = rows_of(x)
        wake()
        settle()
    assert rows_of(x) == before and calls("~call") == 1


def test_c20_garbage_in_the_queue_stops_nothing() -> None:
    """Case C20. A poison message in the queue."""
    s = Saga("s", do("a"))
    OrmQ.objects.create(key=Conf.CLUSTER_NAME, payload="garbage:xx", lock=real_clock.now())
    x = s.start()
    with cluster(1):
        settle()
    assert end(x) == DONE and calls("a") == 1
    async_task("math.hypot", 3, 4)  # signed with a key that is another one when it is read
    y = s.start()
    with override_settings(SECRET_KEY="rotated"), cluster(1, secret_key="rotated"):
        settle()
    assert end(y) == DONE and calls("a") == 2
    z, other = s.start(), s.start()
    erase_row(z)
    with cluster(1):
        settle()
    assert end(other) == DONE and calls("a") == 3


def erase_row(x: Execution) -> None:
    """As somebody does with SQL."""
    for rows in (StepRecord.objects.filter(execution=x), Event.objects.filter(execution=x)):
        rows._raw_delete(rows.db)
    rows = Execution.objects.filter(pk=x.pk)
    rows._raw_delete(rows.db)
