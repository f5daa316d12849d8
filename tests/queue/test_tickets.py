"""Tickets: how many, for what, and what becomes of those that are lost, late, or delivered twice."""

from __future__ import annotations

import multiprocessing
import os
from queue import SimpleQueue

import pytest
from django.db import connection, connections, transaction
from django_q.conf import Conf
from django_q.models import OrmQ, Task
from django_q.monitor import monitor
from django_q.signing import SignedPackage
from django_q.worker import worker

from saga_app import executor, timeouts
from saga_app.models import Execution
from saga_app.queue import board, tasks
from saga_app.queue.board import Board
from saga_app.queue.broker import OrmBroker
from saga_app.queue.desk import LOST_AFTER, Desk
from saga_app.queue.processes import Process
from tests.queue.works import sagas
from tests.queue.works.notes import notes as noted

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("notes")]


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Board:
    """The board of this process, as a cluster of two workers has one."""
    monkeypatch.setattr(timeouts, "hard_stop", False)  # a ticket turns it on, for the rest of a worker's life
    monkeypatch.setattr(board._Here, "board", None)
    return board.opened(2)


@pytest.fixture
def desk(shared: Board, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(Conf, "POLL", 0)
    return Desk(shared)


def start(count: int) -> list[Execution]:
    return [sagas.quick.start(name=f"n{number}") for number in range(count)]


def unpacked(tickets: list[tuple[None, str]]) -> list[dict]:
    return [SignedPackage.loads(payload) for _, payload in tickets]


def use(ticket: dict) -> None:
    """What a worker does with it."""
    tasks.drive_next(*ticket["args"])


def names() -> list[str]:
    return sorted(words[1] for words in noted("greet"))


def test_none_when_nothing_is_due(desk: Desk) -> None:
    assert desk.tickets() == []


def test_as_many_as_rows_are_due_and_workers_there(desk: Desk) -> None:
    start(1)
    assert len(desk.tickets()) == 1
    assert desk.tickets() == [], "one is on its way for that row"
    start(5)
    assert len(desk.tickets()) == 1, "two workers, and one ticket was out"
    assert desk.tickets() == []


def test_a_place_is_free_again_when_a_ticket_is_used(desk: Desk) -> None:
    start(1)
    (ticket,) = unpacked(desk.tickets())
    use(ticket)
    assert names() == ["n0"]
    start(3)
    assert len(desk.tickets()) == 2


def test_one_ticket_drives_all_that_is_due(desk: Desk) -> None:
    start(4)
    use(unpacked(desk.tickets())[0])
    assert Execution.objects.filter(status="completed").count() == 4


def test_a_look_is_taken_once_a_poll(desk: Desk, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries) -> None:
    """Ordinary tasks are not delayed by looking: under load the broker is asked thousands of times a second."""
    monkeypatch.setattr(Conf, "POLL", 60)
    desk._pause = 60
    with django_assert_num_queries(3):  # one for executions, one for queued steps, one for batches
        desk.tickets()
        desk.tickets()


def test_a_look_takes_no_lock_and_leaves_no_transaction(desk: Desk, django_assert_num_queries) -> None:
    start(1)
    with django_assert_num_queries(3) as captured:
        desk.tickets()
    assert all(query["sql"].startswith("SELECT") and "FOR" not in query["sql"] for query in captured)


def test_queued_steps_are_looked_for_too(desk: Desk) -> None:
    """Three of a group are due, and the execution waits: as many tickets as there are workers."""
    execution = sagas.side_by_side.start(seconds=0)
    executor.drive(execution.pk, holder="host:1")
    (first, second) = unpacked(desk.tickets())
    use(first)
    use(second)
    assert sorted(words[1] for words in noted("walked")) == ["first", "last", "second", "third"]


def test_only_those_of_the_queue_it_serves(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster of another name hands out none for the ordinary queue, and its workers claim nothing of it."""
    execution = sagas.labelled.start()
    monkeypatch.setattr(Conf, "CLUSTER_NAME", "slow")
    assert desk.tickets() == []
    executor.drive(execution.pk, holder="host:1")
    start(1)
    (ticket,) = unpacked(desk.tickets())
    use(ticket)
    assert [words[0] for words in noted()] == ["print"]
    monkeypatch.setattr(Conf, "CLUSTER_NAME", Conf.PREFIX)
    use(unpacked(desk.tickets())[0])
    assert sorted(words[0] for words in noted()) == ["greet", "print", "walk", "walked"]


def test_what_a_ticket_says(desk: Desk) -> None:
    """Small and without a value of the user's; django-q2 neither saves nor acknowledges it, nor sets an alarm."""
    start(1)
    ((receipt, payload),) = desk.tickets()
    ticket = SignedPackage.loads(payload)
    assert receipt is None
    assert ticket["save"] is False
    assert ticket["timeout"] == -1, "None would end the worker"
    assert ticket["args"][:2] == tuple(Process.of(os.getpid()))
    assert len(payload) < 600


def test_django_q2_runs_it_and_keeps_nothing(desk: Desk) -> None:
    """Through its own worker and monitor: no result row, and the missing receipt harms no message."""
    start(1)
    OrmQ.objects.create(key="tests", payload="somebody else's", lock="2020-01-01T00:00Z")
    results: SimpleQueue = SimpleQueue()
    to_do: SimpleQueue = SimpleQueue()
    for ticket in unpacked(desk.tickets()):
        to_do.put(ticket | {"cluster": "tests", "ack_id": None})
    to_do.put("STOP")
    worker(to_do, results, multiprocessing.Value("f", -1))
    results.put("STOP")
    broker = OrmBroker()
    monitor(results, broker)
    broker.acknowledge(None)
    broker.fail(None)
    assert names() == ["n0"]
    assert not Task.objects.exists()
    assert OrmQ.objects.count() == 1


def test_delivered_twice_it_works_once(desk: Desk) -> None:
    start(1)
    (ticket,) = unpacked(desk.tickets())
    use(ticket)
    start(1)
    use(ticket)
    assert Execution.objects.filter(status="completed").count() == 1


def test_one_whose_pusher_is_gone_does_nothing(desk: Desk) -> None:
    start(1)
    (ticket,) = unpacked(desk.tickets())
    _, _, place, number = ticket["args"]
    tasks.drive_next(*gone(), place, number)
    assert not names()
    assert desk.board.free_places() == [0, 1]


def test_one_of_a_cluster_that_stops_does_nothing(desk: Desk) -> None:
    start(1)
    (ticket,) = unpacked(desk.tickets())
    desk.board.stop()
    use(ticket)
    assert not names()
    assert desk.tickets() == []


def test_a_lost_one_is_replaced(desk: Desk) -> None:
    """A worker was killed between taking it and beginning with it: the queue is empty, and nobody drives."""
    start(1)
    (lost,) = unpacked(desk.tickets())
    for _ in range(LOST_AFTER - 1):
        desk.board.report(stopping=False, waiting=0, main=1, monitor=1, workers=[])
        assert desk.tickets() == []
    desk.board.report(stopping=False, waiting=0, main=1, monitor=1, workers=[])
    (found,) = unpacked(desk.tickets())
    use(lost)
    assert not names(), "should it turn up after all, it does nothing"
    use(found)
    assert names() == ["n0"]


def test_one_that_waits_in_the_queue_is_not_lost(desk: Desk) -> None:
    """All workers are busy for minutes: no further tickets pile up."""
    start(5)
    desk.tickets()
    for _ in range(50):
        desk.board.report(stopping=False, waiting=2, main=1, monitor=1, workers=[])
        assert desk.tickets() == []


def test_the_place_of_a_driver_that_died_is_free_again(desk: Desk) -> None:
    start(1)
    (ticket,) = unpacked(desk.tickets())
    *_, place, number = ticket["args"]
    child = multiprocessing.get_context("fork").Process(target=desk.board.begin, args=(place, number))
    child.start()
    child.join()
    assert place not in desk.board.waiting()
    assert desk.board.free_places() == [0, 1]


def test_a_database_that_does_not_answer_does_not_end_the_pusher(desk: Desk, caplog) -> None:
    start(1)
    connection.connection.close()
    assert desk.tickets() == []
    assert "could not be looked for" in caplog.text
    desk._next_look = 0
    assert len(desk.tickets()) == 1
    assert "again" in caplog.text


def test_an_orphan_leaves(desk: Desk) -> None:
    desk.leave_if_orphaned()
    desk.parent = 1 if os.getppid() != 1 else 2
    with pytest.raises(SystemExit):
        desk.leave_if_orphaned()


def test_an_orphan_from_its_first_breath_leaves(shared: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever guards the cluster said so before the fork: it may be gone before the pusher looks for the first time."""
    gone = 1 if os.getppid() != 1 else 2
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(os, "getpid", lambda: gone)
        shared.guard()
    with pytest.raises(SystemExit):
        Desk(shared).leave_if_orphaned()


def test_nothing_escapes_from_a_ticket(desk: Desk, caplog) -> None:
    """What is raised there would end the worker."""
    tasks.drive_next(1, 2, 99, 1)
    assert "could not drive" in caplog.text


def test_a_claim_that_the_database_refused_is_tried_again(desk: Desk) -> None:
    start(1)
    (ticket,) = unpacked(desk.tickets())
    connection.connection.close()
    use(ticket)
    assert names() == ["n0"]


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_using_the_orm_broker_closes_no_connection_of_a_transaction() -> None:
    connections["other"].ensure_connection()
    raw = connections["other"].connection
    with transaction.atomic(using="other"):
        OrmBroker().enqueue("a task")
        assert connections["other"].connection is raw
        assert not connections["other"].needs_rollback


def gone() -> Process:
    """A process that has ended."""
    child = multiprocessing.get_context("fork").Process(target=int)
    child.start()
    found = Process.of(child.pid or 0)
    child.join()
    return found


def test_which_process_is_meant() -> None:
    me = Process.of(os.getpid())
    assert me.is_alive()
    assert not Process(me.pid, me.started + 1).is_alive(), "another process that was given the same number"
    child = multiprocessing.get_context("fork").Process(target=int)
    child.start()
    meant = Process.of(child.pid or 0)
    os.waitid(os.P_PID, child.pid or 0, os.WEXITED | os.WNOWAIT)
    assert not meant.is_alive(), "ended, though nobody has waited for it"
    child.join()
    assert not meant.is_alive()
