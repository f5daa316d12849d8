"""A process that dies at a chosen point, and comes by every point at which one can die.

Its points are: each transaction on the saga tables' database (before its commit, and after it) and each call of a body
(before it, inside it when its effect has landed, after it has ended). Between one point and the next nothing is done
that lasts, so there are no others: who dies before a transaction begins, died at the point before.

A simulated death loses all memory: from then on every statement of that process raises `Died`.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from django.db import connections

from saga_app.models import Execution
from saga_app.store.transactions import alias

MAIN = os.getpid()


class Died(BaseException):
    """The process is gone."""


class Life:
    """The life of this process, simulated.

    Args:
        ends_at: the number of the point at which it dies; None: it does not.
    """

    def __init__(self, ends_at: int | None = None) -> None:
        self.ends_at = ends_at
        self.points: list[str] = []
        self.dead = False
        self.execution: Execution | None = None
        self._thread = threading.get_ident()

    def about(self, execution: Execution) -> None:
        """What this life is spent on."""
        self.execution = execution

    def at(self, point: str) -> None:
        """It comes by a point, and may die there."""
        self.leaving(point)
        self.going_on()

    def leaving(self, point: str) -> None:
        """The same at the end of a body: death comes after the body has returned."""
        self.going_on()
        self.points.append(point)
        self.dead = len(self.points) - 1 == self.ends_at

    def going_on(self) -> None:
        """It does something, if it is not dead."""
        if self.dead:
            raise Died(self.points[-1])

    def is_mine(self) -> bool:
        """Whether it is this thread that lives it."""
        return threading.get_ident() == self._thread

    @contextmanager
    def lived(self) -> Iterator[None]:
        """What this thread does inside, it does in this life."""
        connection = connections[alias()]
        with _lives(self, connection), connection.execute_wrapper(self._statement):
            try:
                yield
            except Died:
                assert self.dead and not connection.in_atomic_block

    def _statement(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.going_on()
        return execute(sql, params, many, context)


class WorkersLife(Life):
    """One life for all worker processes that are forked inside `lived`: the one that comes by the point is killed."""

    def __init__(self, ends_at: int | None = None) -> None:
        super().__init__(ends_at)
        self._count = mmap.mmap(-1, 8)

    @property
    def count(self) -> int:
        """How many points they have come by."""
        return int(struct.unpack("q", self._count[:8])[0])

    def leaving(self, point: str) -> None:
        number = self.count
        self._count[:8] = struct.pack("q", number + 1)
        if number == self.ends_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def is_mine(self) -> bool:
        return os.getpid() != MAIN and threading.current_thread() is threading.main_thread()

    @contextmanager
    def lived(self) -> Iterator[None]:
        with _lives(self, type(connections[alias()])):  # forked workers have connections of their own
            yield


class _Nobody(Life):
    """While nobody is to die, nothing is counted."""

    def leaving(self, point: str) -> None:
        pass


_now: list[Life] = [_Nobody()]


def life() -> Life:
    """The one that is lived here and now."""
    return _now[-1] if _now[-1].is_mine() else _now[0]


@contextmanager
def _lives(one: Life, connection: Any) -> Iterator[None]:
    """While somebody lives, their commits are points: on that connection, or on all of that class."""
    bound = connection._commit
    real = bound if isinstance(connection, type) else lambda _self: bound()

    def commit(self: Any = connection) -> None:
        if self.alias != alias():
            return real(self)
        try:
            life().at("commit")
        except Died:
            self._rollback()  # as the server does when its client is gone
            raise
        real(self)
        life().at("committed")
        return None

    _now.append(one)
    try:
        with mock.patch.object(connection, "_commit", commit):
            yield
    finally:
        _now.remove(one)
