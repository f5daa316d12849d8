"""Whether there is anything to do, and how much: executions that are due, queued steps, and batches."""

from __future__ import annotations

from saga_app.models import Execution, StepRecord
from saga_app.store import batches
from saga_app.store.claims import Queues

BATCHES = ""  # the queue whose workers carry out batches: that of the default cluster


def count(using: str, *, queues: Queues = None) -> int:
    """How many claims could be made now."""
    executions = Execution.objects.using(using).in_queues(queues).due().order_by()
    steps = StepRecord.objects.using(using).in_queues(queues).due().order_by()
    return executions.count() + steps.count() + (batches.due(using).order_by().count() if serve_batches(queues) else 0)


def at_most(limit: int, using: str, *, queues: Queues = None) -> int:
    """The same, counted no further than that."""
    executions = Execution.objects.using(using).in_queues(queues).due().order_by()
    found = len(executions.values_list("pk")[:limit])
    if found >= limit:
        return found
    steps = StepRecord.objects.using(using).in_queues(queues).due().order_by()
    found += len(steps.values_list("pk")[: limit - found])
    if found >= limit or not serve_batches(queues):
        return found
    return found + len(batches.due(using).order_by().values_list("pk")[: limit - found])


def serve_batches(queues: Queues) -> bool:
    """Whether workers that serve these queues carry out batches."""
    return queues is None or BATCHES in queues


def anything(using: str, *, queues: Queues = None) -> bool:
    """Whether there is anything to claim now."""
    return at_most(1, using, queues=queues) > 0
