"""The broker beside a Redis: needs the redis package (`pip install django-saga-app[redis]`)."""

from __future__ import annotations

from typing import Any

from django_q.brokers.redis_broker import Redis
from django_q.conf import Conf

from saga_app.queue.tickets import SagaTickets


class _Brisk(Redis):  # type: ignore[misc]
    """django-q2's, but for how long it waits: a second would be a second for every execution that falls due."""

    def dequeue(self) -> list[tuple[None, Any]] | None:
        found = self.connection.blpop(self.list_key, timeout=Conf.POLL)  # parts of a second: Redis 6 or newer
        return [(None, found[1])] if found else None


class RedisBroker(SagaTickets, _Brisk):
    """Executions, and ordinary tasks from a Redis list."""
