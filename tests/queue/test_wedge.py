"""An idle worker that is killed wedges its whole cluster: it is noticed, said, and ended."""

from __future__ import annotations

import os
import signal

import pytest
from django.core.checks import run_checks

from saga_app.models import Worker
from tests.queue.clusters import await_end, is_alive, now, until
from tests.queue.works import sagas
from tests.queue.works.notes import await_note, notes

pytestmark = pytest.mark.acceptance


def test_it_is_said_in_the_log_the_rows_and_the_checks(cluster) -> None:
    """django-q2 itself calls such a cluster healthy."""
    running = cluster(workers=1, saga={"WEDGED_AFTER": 2})
    until(Worker.objects.exists, running.report)
    os.kill(running.worker_pids()[0], signal.SIGKILL)
    execution = sagas.quick.start(name="n")
    until(lambda: Worker.objects.filter(wedged_at__isnull=False).exists(), running.report)
    assert "takes nothing from its queue" in running.log
    messages = run_checks(tags=["saga"], databases=["default"])
    assert [message.id for message in messages if message.id == "saga_app.W007"]
    assert now(execution).status == "pending"
    assert not notes("greet")


def test_the_cluster_ends_itself_for_its_supervisor(cluster) -> None:
    running = cluster(workers=2, saga={"WEDGED_AFTER": 2, "EXIT_WHEN_WEDGED": True})
    until(lambda: Worker.objects.count() == 2, running.report)
    for pid in running.worker_pids():  # one of them holds the lock
        os.kill(pid, signal.SIGKILL)
    execution = sagas.quick.start(name="n")
    assert running.process.wait(30) == -signal.SIGKILL, "a supervisor takes this for a failure"
    family = {*running.pids("ready for work"), *running.pids("pushing tasks"), *running.pids("monitoring")}
    until(lambda: not any(map(is_alive, family)), running.report, limit=5)
    again = cluster(workers=2)
    assert await_end(execution, cluster=again) == ["completed"]


def test_busy_is_not_wedged(cluster) -> None:
    """All workers are inside ordinary tasks for long: executions wait, and there is nothing to kill."""
    from django_q.tasks import async_task

    running = cluster(workers=2, saga={"WEDGED_AFTER": 1, "EXIT_WHEN_WEDGED": True})
    for _ in range(2):
        async_task("tests.queue.works.tasks.work_for", 6)
    await_note("long-task", 2)
    execution = sagas.quick.start(name="n")
    assert await_end(execution, cluster=running) == ["completed"]
    assert "takes nothing from its queue" not in running.log
    assert running.process.poll() is None
