"""What may happen to a worker: it dies at a chosen moment, is frozen, or loses its lease."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import override_settings

from saga_app import clock
from saga_app.conf import settings
from saga_app.models import Execution, OperatorBatch, StepRecord
from saga_app.store.transactions import alias
from tests.settings import ENGINE
from tests.worker import begin_working

MAIN = os.getpid()  # the process that runs the tests
GRACE = 0.5  # seconds of HARD_STOP_GRACE under `lease`
PATIENCE = 10.0


class _Planned:
    moment = ""


def die() -> None:
    """SIGKILL this worker process."""
    if os.getpid() == MAIN:
        raise AssertionError("die() is for worker processes: drive this saga with work()")
    os.kill(os.getpid(), signal.SIGKILL)


def plan(moment: str) -> None:
    """The body that runs has this worker die when it has returned ("after"), or when that is recorded."""
    _Planned.moment = moment


def returned() -> None:
    """A body has returned."""
    if _Planned.moment == "after":
        die()
    if _Planned.moment == "recorded":
        _Planned.moment = "at the next commit"


def _commit(self: BaseDatabaseWrapper) -> None:
    """Commit, and then the death that was planned for that moment: after a body, the next commit has its outcome."""
    _really_commit(self)
    if _Planned.moment == "at the next commit" and self.alias == alias():
        die()


_really_commit = BaseDatabaseWrapper.commit
BaseDatabaseWrapper.commit = _commit  # type: ignore[method-assign]


def holder_of(x: Execution) -> int:
    """The process that holds x, or one of its queued steps; waits until there is one."""
    begin_working()
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        executions = Execution.objects.using(alias()).filter(pk=x.pk, lease_holder__isnull=False)
        steps = StepRecord.objects.using(alias()).filter(execution_id=x.pk, row_holder__isnull=False)
        held = [*executions.values_list("lease_holder", flat=True), *steps.values_list("row_holder", flat=True)]
        if held:
            return int(held[0].split(":")[-2])
        time.sleep(0.01)
    raise AssertionError(f"nobody took {x} up")


def kill_worker(x: Execution) -> None:
    """SIGKILL the process that holds x."""
    pid = holder_of(x)
    os.kill(pid, signal.SIGKILL)
    _wait_for(pid, "XZ")


def pause_worker(x: Execution) -> Callable[[], None]:
    """SIGSTOP it; the function returned wakes it."""
    pid = holder_of(x)
    os.kill(pid, signal.SIGSTOP)
    _wait_for(pid, "T")
    return lambda: os.kill(pid, signal.SIGCONT)


def _wait_for(pid: int, states: str) -> None:
    from saga_app.queue.processes import _look

    ends = time.monotonic() + PATIENCE
    while _look(pid)[0] not in states:
        assert time.monotonic() < ends, f"process {pid} is {_look(pid)[0]}, not one of {states}"
        time.sleep(0.005)


@contextmanager
def lease(seconds: float) -> Iterator[None]:
    """Leases this short, and a grace to match, for workers that are started inside."""
    with override_settings(SAGA={**_configured(), "LEASE": seconds, "HARD_STOP_GRACE": GRACE}):
        yield


def _configured() -> dict[str, Any]:
    from django.conf import settings as django_settings

    return dict(django_settings.SAGA)


def lapse() -> None:
    """Let every lease be over, and the grace after it, as if that much time had passed. The clock itself runs on."""
    long_ago = clock.now() - timedelta(seconds=settings.LEASE + settings.HARD_STOP_GRACE + 1)
    for model in (Execution, OperatorBatch):
        model.objects.using(alias()).filter(lease_holder__isnull=False).update(due_at=long_ago)
    StepRecord.objects.using(alias()).filter(row_holder__isnull=False).update(row_due_at=long_ago)


@contextmanager
def deliver_twice() -> Iterator[None]:
    """Every ticket is handed out twice, by clusters that are started inside."""
    from saga_app.queue import broker

    once = broker.OrmBroker.dequeue

    def twice(self: Any) -> Any:
        messages = once(self)
        return messages and [*messages, *messages]

    broker.OrmBroker.dequeue = twice  # type: ignore[method-assign]
    try:
        yield
    finally:
        broker.OrmBroker.dequeue = once  # type: ignore[method-assign]


def drop_backends() -> None:
    """End every connection to PostgreSQL but this one, as a failover does."""
    from django.db import connections

    assert ENGINE == "postgres"
    with connections[alias()].cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
