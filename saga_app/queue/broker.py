"""The django-q2 brokers: what `Q_CLUSTER["broker_class"]` names. They hand out tickets, and serve ordinary tasks.

OrmBroker and RedisBroker carry ordinary django-q2 tasks as their namesakes do; SagaBroker carries none.
"""

from __future__ import annotations

from typing import Any

from django.db import connections
from django_q.brokers import Broker
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.models import OrmQ

from saga_app import clock, timeouts
from saga_app.core.errors import NotReady
from saga_app.queue.desk import my_queues
from saga_app.queue.tickets import Message, SagaTickets
from saga_app.store import dues
from saga_app.store.transactions import alias


class OrmBroker(SagaTickets, ORM):  # type: ignore[misc]
    """Executions, and ordinary tasks from the table of django-q2's ORM broker."""

    @staticmethod
    def get_connection(list_key: str | None = None) -> Any:
        """As the ORM broker, but a body that enqueues a task does not lose the connections it works with."""
        if timeouts.depth() or any(one.in_atomic_block for one in connections.all(initialized_only=True)):
            return OrmQ.objects.using(Conf.ORM)
        return ORM.get_connection(list_key)


class SagaBroker(SagaTickets, Broker):  # type: ignore[misc]
    """Executions alone: no ordinary tasks, no schedules."""

    def ping(self) -> bool:
        """There is nothing else to reach."""
        super().ping()
        return True

    def enqueue(self, task: object) -> None:
        """Refuse: the message would never be read."""
        raise NotReady(
            "SagaBroker carries no ordinary tasks: set Q_CLUSTER['broker_class'] to saga_app.queue.broker.OrmBroker "
            "or RedisBroker for async_task() and schedules"
        )

    def dequeue(self) -> list[Message] | None:
        """Tickets, or a pause until the next look."""
        desk = self._my_desk()
        tickets = super().dequeue()
        if not tickets:
            clock.sleep(desk.until_next_look() or Conf.POLL)
        return tickets

    def queue_size(self) -> int:
        """How many executions and queued steps are due."""
        return dues.count(alias(), queues=my_queues())

    def lock_size(self) -> int:
        """No message waits for a receipt."""
        return 0

    def info(self) -> str:
        """For django-q2's monitors."""
        return "Sagas"


def __getattr__(name: str) -> Any:
    """RedisBroker stands in a module of its own: it needs the redis package, which the others do not."""
    if name == "RedisBroker":
        from saga_app.queue.redis import RedisBroker  # noqa: PLC0415

        return RedisBroker
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
