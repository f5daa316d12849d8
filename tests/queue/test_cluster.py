"""A real qcluster drives executions, serves ordinary tasks, and stops within one step."""

from __future__ import annotations

import os
import signal
import time
from datetime import timedelta

import pytest
from django.db import connection
from django_q import core_signing
from django_q.conf import Conf
from django_q.models import OrmQ, Task
from django_q.tasks import async_task

from saga_app import clock
from saga_app.models import Worker
from tests.queue.clusters import await_end, is_alive, now, until
from tests.queue.works import sagas
from tests.queue.works.notes import await_note, notes
from tests.settings import ENGINE
from tests.site.models import Tag

pytestmark = pytest.mark.acceptance

SAY = "tests.queue.works.tasks.say"
LONG = "tests.queue.works.tasks.work_for"


def test_executions_and_ordinary_tasks_side_by_side(cluster) -> None:
    """What the broker beside ours carries is served as ever; nothing of a ticket is left in its tables."""
    running = cluster(workers=2)
    executions = []
    for number in range(6):
        executions.append(sagas.quick.start(name=f"n{number}"))
        async_task(SAY, f"t{number}")
    assert set(await_end(*executions, cluster=running)) == {"completed"}
    await_note("task", 6)
    assert sorted(words[1] for words in notes("greet")) == [f"n{number}" for number in range(6)]
    until(lambda: not OrmQ.objects.exists(), running.report)
    assert not Task.objects.exists()
    assert now(executions[0]).output is None
    assert running.stop() < 5


def test_one_that_falls_due_is_driven_within_the_poll(cluster) -> None:
    running = cluster(workers=1)
    times = []
    for number in range(5):
        time.sleep(0.3)
        began = time.monotonic()
        execution = sagas.quick.start(name=f"n{number}")
        await_end(execution, cluster=running)
        times.append(time.monotonic() - began)
    assert sorted(times)[2] < 1, times


def test_the_cluster_stops_within_one_step(cluster) -> None:
    """SIGTERM: the step that runs is let finish, no other begins, and another cluster goes on at once."""
    running = cluster(workers=2)
    execution = sagas.slow.start(seconds=1.5)
    await_note("walk")
    assert running.stop() < 5
    left = now(execution)
    assert [words[1] for words in notes("walked")] == ["first"]
    assert len(notes("walk")) == 1
    assert left.lease_holder is None
    assert left.status == "running"
    again = cluster(workers=2)
    began = time.monotonic()
    assert await_end(execution, cluster=again) == ["completed"]
    assert time.monotonic() - began < 15
    assert [words[1] for words in notes("walk")] == ["first", "second", "third"]
    assert now(execution).deaths == 0


def test_it_stops_as_soon_with_a_full_queue(cluster) -> None:
    """The pusher is blocked then, and could not tell anybody that the cluster stops."""
    running = cluster(workers=1)
    sagas.slow.start(seconds=1.5)
    await_note("walk")
    for number in range(6):
        async_task(SAY, f"t{number}")
    time.sleep(0.7)  # the queue holds one, the pusher another
    assert running.stop() < 6
    assert len(notes("walk")) == 1


def test_a_worker_killed_in_a_body_is_replaced_and_its_execution_taken_over(cluster) -> None:
    running = cluster(workers=2, saga={"LEASE": 1, "HARD_STOP_GRACE": 0.5})
    execution = sagas.deadly.start()
    assert await_end(execution, cluster=running) == ["completed"]
    assert [words[1] for words in notes("die")] == ["1", "2"]
    assert len({words[2] for words in notes("die")}) == 1, "both attempts carry one key"
    assert notes("die")[0][-1] != notes("die")[1][-1]
    assert running.stop() < 6


def test_a_step_longer_than_lease_and_redelivery_runs_once(cluster) -> None:
    """Case C01. A ticket is not a claim; the lease is renewed; the queue's own retry and timeout do not touch it."""
    running = cluster(workers=3, saga={"LEASE": 1}, retry=2, timeout=1)
    execution = sagas.slow.start(seconds=3)
    await_end(execution, cluster=running)
    assert [words[1:3] for words in notes("walk")] == [["first", "1"], ["second", "1"], ["third", "1"]]
    assert now(execution).deaths == 0


def test_a_body_that_no_signal_reaches_is_stopped_hard(cluster) -> None:
    """Case C16. The process ends, another takes over; whether it happened is unknown, so that it is undone."""
    running = cluster(workers=1, saga={"LEASE": 2, "HARD_STOP_GRACE": 0.5})
    execution, other = sagas.frozen.start(), sagas.quick.start(name="other")
    assert await_end(execution, other, cluster=running) == ["failed", "completed"]
    assert [words[0] for words in notes() if words[0] != "greet"] == ["prepare", "freeze", "warm", "tidy"]
    assert notes("warm")[0][1] == "unknown"
    assert "Timeout" in running.log, "the log shows where it hung"


def test_a_body_that_wants_to_exit_does_not_end_the_worker(cluster) -> None:
    """Case C14. SystemExit is a failed attempt and not retried."""
    running = cluster(workers=1)
    before = running.worker_pids()
    execution = sagas.leaving.start()
    assert await_end(execution, cluster=running) == ["failed"]
    assert [words[0] for words in notes()] == ["prepare", "leave", "tidy"]
    assert running.worker_pids() == before


def test_a_body_that_enqueues_a_task_keeps_its_transaction(cluster) -> None:
    """django-q2's ORM broker closes connections whenever it is used; not under a body."""
    running = cluster(workers=1)
    execution = sagas.enqueuing.start(name="inside")
    assert await_end(execution, cluster=running) == ["completed"]
    await_note("task")


class _Gone:
    """Writes a message that names a class which nobody has."""

    @staticmethod
    def dumps(_: object) -> bytes:
        return b"cgone_with_the_last_deploy\nClass\n."


@pytest.mark.parametrize("poison", ["garbage", "gone", "rotated"])
def test_a_poison_message_stops_nobody(cluster, poison) -> None:
    """Case C20. Garbage, a class that is gone, another key: the pusher lives, executions and other tasks go on."""
    payload = "garbage:xx"
    if poison == "gone":
        payload = core_signing.dumps(None, key=Conf.SECRET_KEY, salt=Conf.PREFIX, serializer=_Gone)
    elif poison == "rotated":
        async_task(SAY, "rotated")
        payload = OrmQ.objects.get().payload
        OrmQ.objects.all().delete()
    OrmQ.objects.create(key="tests", payload=payload, lock=clock.now() - timedelta(hours=1))
    key = "rotated" if poison == "rotated" else Conf.SECRET_KEY
    running = cluster(workers=1, signing_key=key, retry=2, timeout=1)
    execution = sagas.quick.start(name="n")
    assert await_end(execution, cluster=running) == ["completed"]
    if poison == "gone":
        time.sleep(3)  # it comes again after `retry`
    later = sagas.quick.start(name="later")
    assert await_end(later, cluster=running) == ["completed"]
    assert len(running.pids("pushing tasks")) == 1, "the pusher was replaced"
    assert OrmQ.objects.exists() == (poison == "gone"), "what another deploy may understand is left there"
    assert not notes("task")


def test_a_pusher_that_dies_is_replaced(cluster) -> None:
    """Its tickets do nothing any more, and a drive that was begun with one yields; the new one hands out others."""
    running = cluster(workers=2)
    execution = sagas.slow.start(seconds=1)
    await_note("walk")
    os.kill(running.pusher(), signal.SIGKILL)
    assert await_end(execution, cluster=running) == ["completed"]
    assert [words[1] for words in notes("walk")] == ["first", "second", "third"]
    assert len(running.pids("pushing tasks")) == 2


def test_an_orphaned_pusher_stops(cluster) -> None:
    """When the process that guards the cluster is gone, nobody else would ever end it."""
    running = cluster(workers=1)
    pusher = running.pusher()
    os.kill(running.sentinel(), signal.SIGKILL)
    until(lambda: not is_alive(pusher), running.report, limit=10)


def test_the_workers_can_be_seen(cluster) -> None:
    """Idle ones too: the pusher speaks for them. A claim is noted by the worker itself."""
    running = cluster(workers=2)
    until(lambda: Worker.objects.alive().count() == 2, running.report)
    assert sorted(Worker.objects.values_list("pid", flat=True)) == sorted(running.worker_pids())
    execution = sagas.quick.start(name="n")
    await_end(execution, cluster=running)
    until(lambda: Worker.objects.filter(claimed_at__isnull=False).exists(), running.report)
    assert Worker.objects.filter(wedged_at__isnull=False).count() == 0


@pytest.mark.skipif(ENGINE != "sqlite", reason="about SQLite")
def test_writers_of_the_site_and_workers_wait_for_each_other(cluster) -> None:
    """Case C08. One write lock for all: nobody fails because another holds it."""
    running = cluster(workers=4)
    executions = [sagas.slow.start(seconds=0.02) for _ in range(25)]
    for number in range(150):
        Tag.objects.create(name=f"tag {number}")
        time.sleep(0.01)
    assert set(await_end(*executions, cluster=running)) == {"completed"}
    assert len(notes("walked")) == 75
    assert "locked" not in running.log


@pytest.mark.skipif(ENGINE != "postgres", reason="SQLite has no connections to cut")
def test_cut_connections_are_replaced(cluster) -> None:
    """Case C10. The server was restarted, or failed over: the workers live on and go on."""
    running = cluster(workers=2)
    first = [sagas.quick.start(name=f"n{number}") for number in range(3)]
    await_end(*first, cluster=running)
    before = (sorted(running.worker_pids()), running.pusher())
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    executions = [sagas.quick.start(name=f"m{number}") for number in range(5)]
    assert set(await_end(*executions, cluster=running)) == {"completed"}
    assert (sorted(running.worker_pids()), running.pusher()) == before
    assert len(notes("greet")) == 8
