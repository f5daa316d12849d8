"""What the processes of one cluster tell each other: a few numbers in memory that they share by fork.

Nothing here is a fact about an execution: facts are rows. A board that is lost, or wrong, costs a look at the table.
Every cell has one writer at a time and is written in one go, so that no process can die holding a lock.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from multiprocessing.sharedctypes import RawArray
from typing import Any

from saga_app.queue.processes import Process

FREE = 0
SHELF = 4096  # a worker's cell is its number modulo this; two of one cluster hardly ever share one


class Board:
    """Tickets, and who is at work.

    A ticket has a place. The place holds FREE, the ticket's number while it waits in the queue, or the number negated
    while a worker drives with it.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._cluster: Any = RawArray("q", [0, 0, 0, 0])  # stopping, reports, waiting in the queue, last number
        self._family: Any = RawArray("q", 3 + workers)  # main, sentinel, monitor, then the workers
        self._places: Any = RawArray("q", workers)
        self._drivers: Any = RawArray("q", 2 * workers)  # pid and start of who drives with it
        self._busy: Any = RawArray("q", SHELF)

    # the sentinel tells

    def guard(self) -> None:
        """This process is the sentinel; it says so before it forks the others, which may outlive it at once."""
        self._family[1] = os.getpid()

    def report(self, *, stopping: bool, waiting: int, main: int, monitor: int, workers: Iterable[int]) -> None:
        """The sentinel says how its cluster is, every half second or so."""
        pool = [*workers, *[0] * self.workers][: self.workers]
        self._family[:] = [main, os.getpid(), monitor, *pool]
        self._cluster[2] = waiting
        self._cluster[1] += 1
        if stopping:
            self.stop()

    def stop(self) -> None:
        """Let every drive of this cluster yield at its next boundary."""
        self._cluster[0] = 1

    @property
    def sentinel(self) -> int:
        """The process that guards the cluster; where there is none, the parent of this one."""
        return int(self._family[1]) or os.getppid()

    @property
    def stopping(self) -> bool:
        """The cluster has been told to stop."""
        return bool(self._cluster[0])

    @property
    def reports(self) -> int:
        """How often the sentinel has reported."""
        return int(self._cluster[1])

    @property
    def queue_is_empty(self) -> bool:
        """As of the last report, nothing waited in the queue between pusher and workers."""
        return not self._cluster[2]

    def family(self) -> list[int]:
        """The processes of the cluster, main first; the pusher, who asks, is not among them."""
        return [pid for pid in self._family if pid]

    def workers_alive(self) -> list[int]:
        """The workers among them."""
        return [pid for pid in self._family[3:] if pid]

    def busy_workers(self) -> list[int]:
        """Those that are inside a task; the others wait for the queue."""
        return [pid for pid in self.workers_alive() if self._busy[pid % SHELF] == pid]

    # the pusher gives tickets out

    def number(self) -> int:
        """A number for the next ticket, also after a pusher was replaced."""
        self._cluster[3] += 1
        return int(self._cluster[3])

    def free_places(self) -> list[int]:
        """Places without a ticket; those of drivers that died are cleared first."""
        for place in range(self.workers):
            if self._places[place] < 0 and not self._driver(place).is_alive():
                self._places[place] = FREE
        return [place for place in range(self.workers) if self._places[place] == FREE]

    def give_out(self, place: int, number: int) -> None:
        """A ticket goes into the queue."""
        self._places[place] = number

    def take_back(self, place: int) -> None:
        """The ticket of this place is lost; should it turn up after all, it does nothing."""
        self._places[place] = FREE

    def waiting(self) -> dict[int, int]:
        """Place → number of the tickets that no worker has begun with."""
        return {place: number for place, number in enumerate(self._places) if number > 0}

    # a worker uses them

    def begin(self, place: int, number: int) -> bool:
        """A worker has taken this ticket; False when it is no longer good."""
        if self._places[place] != number:
            return False
        self._drivers[2 * place : 2 * place + 2] = [*Process.of(os.getpid())]
        self._places[place] = -number
        return True

    def end(self, place: int, number: int) -> None:
        """It is done with it."""
        if self._places[place] == -number:
            self._places[place] = FREE

    def work(self) -> None:
        """This process has something to do, a ticket or an ordinary task."""
        self._busy[os.getpid() % SHELF] = os.getpid()

    def rest(self) -> None:
        """This process waits for the queue."""
        self._busy[os.getpid() % SHELF] = 0

    def _driver(self, place: int) -> Process:
        return Process(*self._drivers[2 * place : 2 * place + 2])


class _Here:
    board: Board | None = None


def opened(workers: int) -> Board:
    """The board of the cluster that begins in this process; its children inherit it."""
    _Here.board = Board(workers)
    return _Here.board


def current(workers: int = 1) -> Board:
    """The board of this process's cluster; a new one where there is no cluster."""
    return _Here.board or opened(workers)
