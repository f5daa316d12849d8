"""Real worker processes: forked from the test, replaced when they die, each driving what is due.

A crew is one process that forks the workers and has no connection of its own, so that it may fork at any time.
"""

from __future__ import annotations

import logging
import mmap
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from django.db import connections

from saga_app import batches, executor, timeouts
from saga_app.core import registry
from saga_app.core.saga import Saga
from saga_app.models import Execution, StepRecord
from saga_app.queue.processes import me
from saga_app.store import dues
from saga_app.store.transactions import DatabaseFault, alias
from tests.forking import RAISED, fork
from tests.shared_clock import clock

logger = logging.getLogger("tests")

PAUSE = 0.01  # seconds between two looks
GOODBYE = 5.0  # seconds a crew has to end when told to
MOST_DEATHS = 60


class Crew:
    """n workers, in processes of their own.

    Args:
        n: how many.
        until_idle: they end when nothing is due; else when told to.
        sagas: all they know; None: what this process knows.
        skip: where nothing is due, they move the clock to what is due next.
    """

    def __init__(
        self, n: int, *, until_idle: bool = False, sagas: Sequence[Saga] | None = None, skip: bool = False
    ) -> None:
        self.n, self.until_idle, self.sagas, self.skip = n, until_idle, sagas, skip
        self._busy = mmap.mmap(-1, n)  # shared with the workers
        self.code: int | None = None
        self.pid = 0

    def begin(self) -> None:
        """Fork, so that what was defined so far is known to the workers."""
        if not self.pid:
            self.pid = fork(self._lead)

    def is_busy(self) -> bool:
        """Some worker is inside a drive, or has just died in one: what it does may make more due."""
        return any(self._busy[:])

    def ended(self) -> bool:
        """Whether it has ended by itself."""
        if self.code is None and self.pid:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code is not None

    def stop(self) -> None:
        """Let the workers go at their next boundary; kill what is left."""
        if not self.pid:
            return
        if not self.ended():
            os.kill(self.pid, signal.SIGTERM)
        ends = time.monotonic() + GOODBYE
        while not self.ended() and time.monotonic() < ends:
            time.sleep(PAUSE)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if self.code is None:
            os.waitpid(self.pid, 0)

    # in the crew's own process

    def _lead(self) -> int:
        os.setsid()
        parent, stopping = os.getppid(), [False]
        signal.signal(signal.SIGTERM, lambda *_: stopping.__setitem__(0, True))
        workers = {fork(self._work(place)): place for place in range(self.n)}
        deaths = 0
        while workers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if stopping[0] or os.getppid() != parent:
                for one in workers:
                    os.kill(one, signal.SIGCONT)
                    os.kill(one, signal.SIGTERM)
                stopping[0] = True
            if not pid:
                time.sleep(PAUSE / 2)
                continue
            place, code = workers.pop(pid), os.waitstatus_to_exitcode(status)
            self._busy[place] = 0
            if code == RAISED:
                return RAISED
            if stopping[0] or (code == 0 and self.until_idle):
                continue
            deaths += 1
            if deaths > MOST_DEATHS:
                logger.error("%s workers have died.", deaths)
                return RAISED
            workers[fork(self._work(place))] = place
        return 0

    # in a worker's process

    def _work(self, place: int) -> Callable[[], None]:
        def work() -> None:
            leader, stopping = os.getppid(), [False]
            signal.signal(signal.SIGTERM, lambda *_: stopping.__setitem__(0, True))
            timeouts.hard_stop = True
            known = registry.isolate()  # kept as long as the worker lives
            if self.sagas is not None:
                known.__enter__()
                for saga in self.sagas:
                    registry.register(saga)

            def go_on() -> bool:
                clock.look()
                return not stopping[0] and os.getppid() == leader

            while go_on():
                self._busy[place] = 1
                drive_what_is_due(go_on)
                self._busy[place] = 0
                if self.skip and _skip_a_wait():
                    continue
                if self.until_idle and not self.is_busy() and not _anything_due():
                    return
                time.sleep(PAUSE)

        return work


_in_background: list[Crew] = []


@contextmanager
def working(n: int = 1, sagas: Sequence[Saga] | None = None) -> Iterator[Crew]:
    """Have n workers in the background.

    They begin when the test first waits for something, and know the sagas that were defined by then.
    """
    crew = Crew(n, sagas=sagas)
    _in_background.append(crew)
    try:
        yield crew
    finally:
        _in_background.remove(crew)
        crew.stop()


def begin_working() -> None:
    """The test waits for something: those in the background begin, if they have not."""
    for crew in _in_background:
        crew.begin()


def is_anybody_busy() -> bool:
    """A worker in the background is inside a drive."""
    return any(crew.is_busy() for crew in _in_background)


def drive_what_is_due(go_on: Callable[[], bool] = lambda: True) -> None:
    """Drive here until nothing is due. What a database fault leaves is taken up again."""
    while go_on():
        try:
            claims = executor.drive_next(holder=me(), go_on=go_on) + batches.drive_next(holder=me(), go_on=go_on)
            if claims == 0 and not _anything_due():
                return
        except DatabaseFault as error:
            logger.warning("Claimed again after: %s", error)
            connections.close_all()
            time.sleep(PAUSE)


def _skip_a_wait() -> bool:
    """Move the clock to what is due next, unless somebody is at work or nothing waits."""
    executions = Execution.objects.using(alias()).filter(due_at__isnull=False)
    steps = StepRecord.objects.using(alias()).filter(row_due_at__isnull=False)
    if executions.filter(lease_holder__isnull=False).exists() or steps.filter(row_holder__isnull=False).exists():
        return False
    moments = [
        executions.order_by("due_at").values_list("due_at", flat=True).first(),
        steps.order_by("row_due_at").values_list("row_due_at", flat=True).first(),
    ]
    first = min((one for one in moments if one is not None), default=None)
    if first is not None:
        clock.set(max(first, clock.now()))
    return first is not None


def _anything_due() -> bool:
    return dues.anything(alias())
