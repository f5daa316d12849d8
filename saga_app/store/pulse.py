"""How the whole is doing: who works, what is due and how late it is, what is stuck. Two statements, on any page.

They read the partial indexes, and no further than MOST rows of each: on the night that half a million are due, the page
that says so still has to come.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connections
from django.db.models import F, QuerySet

from saga_app import clock
from saga_app.clock import MomentField
from saga_app.models import Execution, StepRecord, Worker
from saga_app.store.workers import UNHEARD, serves

MOST = 10_000
LATELY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Due:
    """What is due in one queue: executions and queued steps, at most MOST of each."""

    queue: str
    count: int
    oldest: datetime


@dataclass(frozen=True, slots=True)
class Pulse:
    """How the whole is doing.

    Attributes:
        workers: those that live.
        due: what is due, by queue; "" is that of the default cluster.
        stuck: how many wait for an operator, at most MOST + 1.
        stuck_lately: how many of them came within the last hour.
    """

    workers: tuple[Worker, ...]
    due: tuple[Due, ...]
    stuck: int
    stuck_lately: int

    @property
    def clusters(self) -> list[tuple[str, str]]:
        """Host and name of each cluster that lives."""
        return sorted({(worker.host, worker.cluster) for worker in self.workers})

    @property
    def wedged(self) -> list[tuple[str, str]]:
        """Those that take nothing from their queue."""
        return sorted({(worker.host, worker.cluster) for worker in self.workers if worker.wedged_at is not None})

    @property
    def unserved(self) -> list[Due]:
        """What is due where no living worker serves."""
        served = {serves(worker.cluster) for worker in self.workers}
        return [due for due in self.due if due.queue not in served]

    @property
    def count(self) -> int:
        """How much is due in all queues."""
        return sum(due.count for due in self.due)

    @property
    def oldest(self) -> datetime | None:
        """Since when the oldest of it is due."""
        return min((due.oldest for due in self.due), default=None)


def pulse(using: str) -> Pulse:
    """How the whole is doing now."""
    workers = Worker.objects.using(using).alive(within=UNHEARD).order_by("host", "cluster", "pid")
    stuck = lately = 0
    due: list[Due] = []
    for what, queue, count, oldest, late in _read(using):
        if what == "stuck":
            stuck, lately = stuck + count, lately + late
        elif count:
            due.append(Due(queue, count, oldest))
    return Pulse(tuple(workers), tuple(_together(due)), stuck, lately)


def _together(found: list[Due]) -> list[Due]:
    """Executions and steps of one queue are one queue."""
    by_queue: dict[str, Due] = {}
    for due in found:
        known = by_queue.get(due.queue, Due(due.queue, 0, due.oldest))
        by_queue[due.queue] = Due(due.queue, known.count + due.count, min(known.oldest, due.oldest))
    return [by_queue[queue] for queue in sorted(by_queue)]


def _read(using: str) -> list[tuple[str, str, int, Any, int]]:
    """The aggregates, as one statement: the ORM joins parts that have a limit on one of the two databases only."""
    connection = connections[using]
    hour_ago = MomentField().get_db_prep_value(clock.now() - LATELY, connection)
    lately = "SUM(CASE WHEN since > %s THEN 1 ELSE 0 END)"
    parts, params = [], []
    for what, rows in _parts(using):
        text, inner = rows.query.get_compiler(using).as_sql()
        last = lately if what == "stuck" else "0"
        parts.append(f"SELECT '{what}', queue, COUNT(*), MIN(since), {last} FROM ({text}) AS found GROUP BY queue")
        params += [*([hour_ago] if what == "stuck" else []), *inner]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), params)
        return [
            (what, queue, count, MomentField().from_db_value(at, None, connection), late)
            for what, queue, count, at, late in cursor.fetchall()
        ]


def _parts(using: str) -> list[tuple[str, QuerySet[Any, Any]]]:
    """Each in the order of its index. The default queue apart, so that a long one hides no other."""
    due = Execution.objects.using(using).due().values("queue", since=F("due_at"))
    steps = StepRecord.objects.using(using).due().values("queue", since=F("row_due_at"))
    stuck = Execution.objects.using(using).stuck().order_by().values("queue", since=F("status_at"))
    return [
        ("due", due.filter(queue="").order_by("priority", "due_at")[:MOST]),
        ("due", due.filter(queue__gt="").order_by("queue", "priority", "due_at")[:MOST]),
        ("due", steps.filter(queue="").order_by("row_due_at")[:MOST]),
        ("due", steps.filter(queue__gt="").order_by("queue", "row_due_at")[:MOST]),
        ("stuck", stuck[: MOST + 1]),
    ]
