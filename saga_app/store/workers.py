"""The rows of worker processes: who was seen, who claimed, whose cluster is wedged, and which queues have nobody."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from saga_app import clock
from saga_app.conf import queue_of
from saga_app.models import Execution, StepRecord, Worker
from saga_app.store import batches, dues
from saga_app.store.transactions import alias, durable

UNHEARD = 60.0  # seconds after which a worker that was not seen serves nobody
KEPT = timedelta(hours=1)  # for how long the row of a worker that is gone can still be looked at


def seen(host: str, pids: Iterable[int], cluster: str) -> None:
    """These processes are alive; rows of those that have not been for long are removed."""
    using, now = alias(), clock.now()
    rows = [
        Worker(id=f"{host}:{pid}", host=host, pid=pid, cluster=cluster, started_at=now, seen_at=now) for pid in pids
    ]
    workers = Worker.objects.using(using)
    with durable(using):
        mine = workers.filter(pk__in=[row.pk for row in rows], cluster=cluster)
        known = set(mine.values_list("pk", flat=True))
        mine.update(seen_at=now)
        workers.bulk_create(  # a number that was another cluster's process is a new worker's now
            [row for row in rows if row.pk not in known],
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=["host", "pid", "cluster", "started_at", "seen_at", "claimed_at", "wedged_at"],
        )
        workers.filter(seen_at__lt=now - KEPT).delete()


def claimed(worker: str) -> None:
    """This process has claimed an execution a moment ago: its cluster is not wedged."""
    using, now = alias(), clock.now()
    with durable(using):
        Worker.objects.using(using).filter(pk=worker).update(claimed_at=now, seen_at=now, wedged_at=None)


def wedged(host: str, cluster: str, *, is_so: bool) -> None:
    """Nothing is taken from the queue of this cluster; or something is, again."""
    using = alias()
    with durable(using):
        rows = Worker.objects.using(using).filter(host=host, cluster=cluster)
        rows.update(wedged_at=clock.now() if is_so else None)


def served(using: str) -> set[str]:
    """The queues that living workers serve; "" is that of the default cluster."""
    clusters = Worker.objects.using(using).alive(within=UNHEARD).order_by().values_list("cluster", flat=True).distinct()
    return {serves(cluster) for cluster in clusters}


def serves(cluster: str) -> str:
    """The queue that a cluster serves, by what its workers' rows call it: its name and the process that guards it."""
    return queue_of(cluster.rpartition("@")[0])


def unserved(using: str) -> list[str]:
    """The queues in which something is due, and which no living worker serves."""
    executions = Execution.objects.using(using).due().order_by().values_list("queue", flat=True).distinct()
    steps = StepRecord.objects.using(using).due().order_by().values_list("queue", flat=True).distinct()
    lots = [dues.BATCHES] if batches.is_due(using) else []
    return sorted({*executions, *steps, *lots} - served(using))


def command(queue: str) -> str:
    """What to run for that queue to be served."""
    return f"Q_CLUSTER_NAME={queue} manage.py qcluster" if queue else "manage.py qcluster"
