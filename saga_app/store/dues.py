"""Whether there is anything to do, and how much: executions that are due, and queued steps that are."""

from __future__ import annotations

from saga_app.models import Execution, StepRecord
from saga_app.store.claims import Queues


def count(using: str, *, queues: Queues = None) -> int:
    """How many claims could be made now."""
    executions = Execution.objects.using(using).in_queues(queues).due().order_by()
    return executions.count() + StepRecord.objects.using(using).in_queues(queues).due().order_by().count()


def at_most(limit: int, using: str, *, queues: Queues = None) -> int:
    """The same, counted no further than that."""
    executions = Execution.objects.using(using).in_queues(queues).due().order_by()
    found = len(executions.values_list("pk")[:limit])
    if found >= limit:
        return found
    steps = StepRecord.objects.using(using).in_queues(queues).due().order_by()
    return found + len(steps.values_list("pk")[: limit - found])


def anything(using: str, *, queues: Queues = None) -> bool:
    """Whether there is anything to claim now."""
    return at_most(1, using, queues=queues) > 0
