"""The pusher's desk: looks whether rows are due and hands out tickets for the workers."""

from __future__ import annotations

import logging
import os

from django.db import connections
from django_q.conf import Conf
from django_q.signing import SignedPackage

from saga_app import clock
from saga_app.conf import queue_of
from saga_app.queue.board import Board
from saga_app.queue.processes import Process
from saga_app.store import dues
from saga_app.store.transactions import alias

logger = logging.getLogger("saga_app")

LONGEST_PAUSE = 2.0  # seconds between two looks at a database that does not answer
LOST_AFTER = 3  # reports of an empty queue after which a ticket that nobody has begun with is lost


def my_queues() -> tuple[str]:
    """The queues that this process's cluster serves: one, by its name."""
    return (queue_of(Conf.CLUSTER_NAME),)


class Desk:
    """Hands out at most as many tickets as there are workers.

    A ticket is no claim: it carries numbers, and the worker claims as it starts. One that is lost strands nothing, and
    one too many finds nothing to do.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self.me = Process.of(os.getpid())
        self.parent = board.sentinel
        self._next_look = 0.0
        self._pause = Conf.POLL
        self._given_at: dict[int, int] = {}  # place → reports when its ticket was handed out

    def leave_if_orphaned(self) -> None:
        """End this process when the one that guards it is gone: nobody would ever stop it."""
        if os.getppid() != self.parent:
            logger.error("The process that guards this cluster is gone; its pusher stops.")
            raise SystemExit(1)

    def tickets(self) -> list[tuple[None, str]]:
        """Tickets as messages of django-q2 without a receipt; none, when it is not yet time for another look."""
        now = clock.monotonic()
        if now < self._next_look or self.board.stopping:
            return []
        places = self._places()
        due = self._due(len(places)) if places else 0
        self._next_look = now + self._pause
        return [(None, self._ticket(place)) for place in places[:due]]

    def until_next_look(self) -> float:
        """Seconds for which there is nothing to do here."""
        return max(0.0, self._next_look - clock.monotonic())

    def _places(self) -> list[int]:
        board = self.board
        for place in board.waiting():
            if board.queue_is_empty and board.reports >= self._given_at.get(place, 0) + LOST_AFTER:
                board.take_back(place)
        return board.free_places()

    def _due(self, limit: int) -> int:
        """How many claims could be made, as far as they matter: less those that a ticket is on its way for.

        A database that does not answer must not end this process: it is asked again, less and less often.
        """
        using = alias()
        waiting = len(self.board.waiting())
        try:
            due = dues.at_most(limit + waiting, using, queues=my_queues())
        except Exception:
            level = logging.ERROR if self._pause == Conf.POLL else logging.DEBUG
            logger.log(level, "Due executions could not be looked for; tried again until it works.", exc_info=True)
            connections[using].close()
            self._pause = min(max(self._pause, 0.1) * 2, LONGEST_PAUSE)
            return 0
        if self._pause != Conf.POLL:
            logger.warning("Due executions can be looked for again.")
            self._pause = Conf.POLL
        return max(0, due - waiting)

    def _ticket(self, place: int) -> str:
        """A signed call of tasks.drive_next.

        Not saved: it has no result. The timeout is -1, none: a body has its own, and None would end the worker.
        """
        number = self.board.number()
        self.board.give_out(place, number)
        self._given_at[place] = self.board.reports
        ticket = {
            "id": clock.uuid7().hex,
            "name": f"saga-ticket-{number}",
            "func": "saga_app.queue.tasks.drive_next",
            "args": (*self.me, place, number),
            "kwargs": {},
            "started": clock.now(),
            "save": False,
            "timeout": -1,
        }
        return str(SignedPackage.dumps(ticket))
