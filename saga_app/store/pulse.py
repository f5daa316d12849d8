"""How the whole is doing: who works, what is due and how late it is, what is stuck. One statement, on every page.

It reads the partial indexes, and no further than MOST rows of each: on the night that half a million are due, the page
that says so still has to come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connections
from django.db.models import CharField, F, Value

from saga_app import clock
from saga_app.clock import MomentField
from saga_app.models import Execution, StepRecord, Worker
from saga_app.store import batches, dues
from saga_app.store.together import Part, read
from saga_app.store.workers import UNHEARD, serves

MOST = 10_000
LATELY = timedelta(hours=1)
CLUSTER = "SELECT 'cluster', cluster, COUNT(*), NULL, COUNT(wedged_at), host FROM {} GROUP BY host, cluster"
DUE = "SELECT 'due', queue, COUNT(*), MIN(since), 0, '' FROM {} GROUP BY queue"
STUCK = "SELECT 'stuck', '', COUNT(*), NULL, COUNT(CASE WHEN since > %s THEN 1 END), '' FROM {}"


@dataclass(frozen=True, slots=True, order=True)
class Cluster:
    """The living workers of one cluster."""

    host: str
    name: str
    workers: int
    is_wedged: bool


@dataclass(frozen=True, slots=True)
class Due:
    """What is due in one queue: executions, queued steps and batches, at most MOST of each."""

    queue: str
    count: int
    oldest: datetime


@dataclass(frozen=True, slots=True)
class Pulse:
    """How the whole is doing.

    Attributes:
        clusters: those of which a worker lives.
        due: what is due, by queue; "" is that of the default cluster.
        stuck: how many wait for an operator, at most MOST + 1.
        stuck_lately: how many of them came within the last hour.
    """

    clusters: tuple[Cluster, ...] = ()
    due: tuple[Due, ...] = ()
    stuck: int = 0
    stuck_lately: int = 0

    @property
    def workers(self) -> int:
        """How many live."""
        return sum(cluster.workers for cluster in self.clusters)

    @property
    def wedged(self) -> list[Cluster]:
        """Those that take nothing from their queue."""
        return [cluster for cluster in self.clusters if cluster.is_wedged]

    @property
    def unserved(self) -> list[Due]:
        """What is due where no living worker serves."""
        served = {serves(cluster.name) for cluster in self.clusters}
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
    clusters: list[Cluster] = []
    due: list[Due] = []
    stuck = lately = 0
    moment, connection = MomentField(), connections[using]
    for what, name, count, since, more, host in read(using, _parts(using)):
        if what == "cluster":
            clusters.append(Cluster(host, name, count, more > 0))
        elif what == "stuck":
            stuck, lately = count, more
        elif (oldest := moment.from_db_value(since, None, connection)) is not None:
            due.append(Due(name, count, oldest))
    return Pulse(tuple(sorted(clusters)), tuple(_together(due)), stuck, lately)


def _together(found: list[Due]) -> list[Due]:
    """Executions and steps of one queue are one queue."""
    by_queue: dict[str, Due] = {}
    for due in found:
        known = by_queue.get(due.queue, Due(due.queue, 0, due.oldest))
        by_queue[due.queue] = Due(due.queue, known.count + due.count, min(known.oldest, due.oldest))
    return [by_queue[queue] for queue in sorted(by_queue)]


def _parts(using: str) -> Iterator[Part]:
    """Each in the order of its index. The default queue apart, so that a long one hides no other."""
    workers = Worker.objects.using(using).alive(within=UNHEARD)
    due = Execution.objects.using(using).due().values("queue", since=F("due_at"))
    steps = StepRecord.objects.using(using).due().values("queue", since=F("row_due_at"))
    lots = batches.due(using).annotate(queue=Value(dues.BATCHES, CharField())).values("queue", since=F("due_at"))
    stuck = Execution.objects.using(using).stuck().order_by().values(since=F("status_at"))
    hour_ago = MomentField().get_db_prep_value(clock.now() - LATELY, connections[using])
    yield Part(DUE, due.filter(queue="").order_by("priority", "due_at")[:MOST])
    yield Part(DUE, due.filter(queue__gt="").order_by("queue", "priority", "due_at")[:MOST])
    yield Part(DUE, steps.filter(queue="").order_by("row_due_at")[:MOST])
    yield Part(DUE, steps.filter(queue__gt="").order_by("queue", "row_due_at")[:MOST])
    yield Part(DUE, lots[:MOST])
    yield Part(STUCK, stuck[: MOST + 1], (hour_ago,))
    yield Part(CLUSTER, workers.order_by().values("host", "cluster", "wedged_at"))
