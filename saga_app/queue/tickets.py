"""What makes a broker of django-q2 one that drives executions: tickets first, then its own messages."""

from __future__ import annotations

import logging
import os
from typing import Any

from django.db import connections
from django_q.conf import Conf
from django_q.signals import post_execute_in_worker, pre_execute
from django_q.signing import BadSignature, SignedPackage

from saga_app import clock
from saga_app.queue import board
from saga_app.queue.desk import Desk
from saga_app.queue.lookout import Lookout

logger = logging.getLogger("saga_app")

Message = tuple[Any, Any]

LONGEST_PAUSE = 5.0  # seconds for which a broker that fails is left alone


class SagaTickets:
    """Puts tickets for due executions before what the broker beside it in the class's bases has to give.

    Written for django-q2's processes: `ping` and `set_stat` are called in the one that guards the cluster, `dequeue`
    in its pusher.
    """

    _desk: tuple[int, Desk] | None = None  # with the process it belongs to: a fork takes the attribute along
    _pause = 0.0
    _resume_at = 0.0
    _unread = False

    def ping(self) -> bool:
        """The cluster begins: what its processes share has to be there before they are forked."""
        from saga_app.queue import tasks  # noqa: F401, PLC0415 - imported once, and not in each worker

        board.opened(Conf.WORKERS).guard()
        return bool(super().ping())  # type: ignore[misc]

    def set_stat(self, key: str, value: str, timeout: int) -> Any:
        """The guard tells how its cluster is: the one place where django-q2 lets a broker hear that it stops."""
        try:
            stat = SignedPackage.loads(value)
            board.current(Conf.WORKERS).report(
                stopping=stat.status == Conf.STOPPING,
                waiting=stat.task_q_size,
                main=stat.pid,
                monitor=stat.monitor or 0,
                workers=stat.workers,
            )
        except Exception:
            level = logging.DEBUG if self._unread else logging.ERROR
            logger.log(level, "The cluster's own report could not be read: it cannot stop quickly.", exc_info=True)
            self._unread = True
        return super().set_stat(key, value, timeout)  # type: ignore[misc]

    def dequeue(self) -> list[Message] | None:
        """Tickets when executions are due, else ordinary messages; under load they take turns, a poll long."""
        desk = self._my_desk()
        desk.leave_if_orphaned()
        return desk.tickets() or self._ordinary()

    def _my_desk(self) -> Desk:
        if self._desk is None or self._desk[0] != os.getpid():
            shared = board.current(Conf.WORKERS)
            self._desk = os.getpid(), Desk(shared)
            Lookout(shared).start()
        return self._desk[1]

    def _ordinary(self) -> list[Message] | None:
        """What the other broker has. Its failure is not ours: executions are driven on, and it is asked again."""
        if clock.monotonic() < self._resume_at:
            clock.sleep(Conf.POLL)
            return None
        try:
            messages = super().dequeue()  # type: ignore[misc]
        except Exception:
            self._pause = min(max(self._pause, 0.25) * 2, LONGEST_PAUSE)
            self._resume_at = clock.monotonic() + self._pause
            logger.exception("Ordinary tasks could not be fetched; tried again in %.1f s.", self._pause)
            connections.close_all()
            return None
        self._pause = 0.0
        return [message for message in messages or () if _can_be_read(message)]


def _can_be_read(message: Message) -> bool:
    """Whether the pusher survives it. One whose code is gone would end it, again and again."""
    try:
        SignedPackage.loads(message[1])
    except (TypeError, BadSignature):
        return True  # the pusher knows what to do
    except Exception:
        logger.exception("Message %s of the ordinary queue cannot be unpacked here; it is left there.", message[0])
        return False
    return True


def _works(**_: Any) -> None:
    board.current(Conf.WORKERS).work()


def _rests(**_: Any) -> None:
    board.current(Conf.WORKERS).rest()


pre_execute.connect(_works, dispatch_uid="saga_app.works")
post_execute_in_worker.connect(_rests, dispatch_uid="saga_app.rests")
