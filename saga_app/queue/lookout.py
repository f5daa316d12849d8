"""A thread of the pusher that says which workers live, and whether anything is taken from the queue at all."""

from __future__ import annotations

import logging
import os
import socket
import threading

from django.db import connections
from django_q.conf import Conf

from saga_app import clock
from saga_app.conf import settings
from saga_app.queue.board import Board
from saga_app.queue.desk import my_queues
from saga_app.queue.wedge import Wedge, end_processes
from saga_app.store import dues, workers
from saga_app.store.transactions import alias

logger = logging.getLogger("saga_app")

ROUND = 1.0  # seconds between two looks around
SEEN_EVERY = 5.0  # seconds between two writes that say who lives


class Lookout:
    """Looks around once a second.

    A thread, because the pusher itself is blocked when the queue is full; which it stays when nobody takes from it.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self.host = socket.gethostname()
        self.cluster = f"{Conf.CLUSTER_NAME}@{board.sentinel}"
        self.wedge = Wedge(board)
        self._parent = board.sentinel
        self._seen_at = float("-inf")
        self._troubled = False

    def start(self) -> None:
        """Begin to look around, for the rest of this process's life."""
        threading.Thread(target=self._run, name="saga-lookout", daemon=True).start()

    def _run(self) -> None:
        pause = threading.Event()  # never set: a test clock does not move it
        while not pause.wait(ROUND):
            if os.getppid() != self._parent:
                os._exit(1)  # the guard is gone, and the pusher may be blocked for ever
            try:
                self.look_around()
                self._troubled = False
            except Exception:
                level = logging.DEBUG if self._troubled else logging.ERROR
                logger.log(level, "The rows of the workers could not be written; tried again.", exc_info=True)
                self._troubled = True
                connections.close_all()

    def look_around(self) -> None:
        """One round."""
        now = clock.monotonic()
        if now - self._seen_at >= SEEN_EVERY:
            workers.seen(self.host, self.board.workers_alive(), self.cluster)
            self._seen_at = now
        changed = self.wedge.changed(now, self._is_anything_due)
        if changed is not None:
            self._say(wedged=changed)
        if settings.EXIT_WHEN_WEDGED and self.wedge.is_final(now):
            logger.critical("The cluster %s ends its processes, for its supervisor to start it again.", self.cluster)
            end_processes([*self.board.family(), os.getpid()])

    def _is_anything_due(self) -> bool:
        return dues.anything(alias(), queues=my_queues())

    def _say(self, *, wedged: bool) -> None:
        if wedged:
            logger.error(
                "The cluster %s on %s takes nothing from its queue: executions are due, a worker is idle, and for "
                "%.0f s no ticket was begun with. A worker was probably killed while it held the queue's lock. Kill "
                'every process of the cluster and start it again, or write SAGA["EXIT_WHEN_WEDGED"] = True.',
                self.cluster,
                self.host,
                settings.WEDGED_AFTER,
            )
            if settings.EXIT_WHEN_WEDGED:
                self.board.stop()
        else:
            logger.warning("The cluster %s takes tickets again.", self.cluster)
        workers.wedged(self.host, self.cluster, is_so=wedged)
