"""Notices a wedged cluster: django-q2 stops for ever when a worker is killed while it holds the queue's lock.

A worker that is killed inside a body does not do that, one killed while idle may. From outside it looks healthy: all
processes live, and nothing is ever taken from the queue between them.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress

from saga_app.conf import settings
from saga_app.queue.board import Board


class Wedge:
    """Judges by what stays the same: the oldest ticket waits, and a worker is idle all the while."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._oldest = 0
        self._since: float | None = None
        self._declared_at: float | None = None

    def changed(self, now: float, is_anything_due: Callable[[], bool]) -> bool | None:
        """True when it is wedged since now, False when it is no longer, None when nothing has changed."""
        board = self._board
        if board.stopping:
            return None
        oldest = min(board.waiting().values(), default=0)
        all_busy = len(board.busy_workers()) == board.workers
        if not oldest or oldest != self._oldest or all_busy:
            self._oldest, self._since = oldest, now
            if self._declared_at is None:
                return None
            self._declared_at = None
            return False
        if self._declared_at is not None or self._since is None or now - self._since < settings.WEDGED_AFTER:
            return None
        if not is_anything_due():
            return None
        self._declared_at = now
        return True

    def is_final(self, now: float) -> bool:
        """It is wedged, and the workers that were inside a body have had their time to come out."""
        if self._declared_at is None:
            return False
        return not self._board.busy_workers() or now - self._declared_at >= settings.WEDGED_AFTER


def end_processes(pids: Iterable[int]) -> None:
    """Kill these processes by number, in this order. SIGTERM would not do: a wedged cluster waits for its workers."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
