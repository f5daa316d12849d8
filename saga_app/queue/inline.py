"""Drives executions in this process: `saga.run()`, tests, `manage.py saga drain`."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from saga_app import batches, engine, executor
from saga_app.core.saga import Saga
from saga_app.models import Execution, StepRecord
from saga_app.queue.processes import me
from saga_app.store.transactions import alias, refuse_inside_transaction


def run(
    saga: Saga[Any],
    input: Any = None,
    *,
    key: str | None = None,
    actor: Any = None,
    queue: str | None = None,
    priority: int = 0,
    due: datetime | None = None,
) -> Execution:
    """Start a saga and drive it here until it parks or ends. Raises NotReady inside a transaction."""
    refuse_inside_transaction("run()")
    return drive(engine.start(saga, input, key=key, actor=actor, queue=queue, priority=priority, due=due))


def drive(execution: Execution) -> Execution:
    """Drive one execution here, and its children, for as long as something of them is due; the execution as it is."""
    while _drive(execution.pk) or _drive_a_child(execution.pk):
        pass
    return Execution.objects.using(alias()).get(pk=execution.pk)


def _drive(execution_id: UUID | None) -> bool:
    return executor.drive_step(execution_id, holder=me()) or executor.drive(execution_id, holder=me())


def _drive_a_child(execution_id: UUID) -> bool:
    """Drive a child, or a child of one, that is due; whether there was one."""
    parents = [execution_id]
    while parents:
        children = Execution.objects.using(alias()).open().filter(parent__in=parents)
        parents = list(children.values_list("pk", flat=True))
        due = [*children.due()[:1].values_list("pk", flat=True), *_with_due_step(parents)]
        if any(_drive(child) for child in due):
            return True
    return False


def _with_due_step(executions: list[UUID]) -> list[UUID]:
    steps = StepRecord.objects.using(alias()).due().filter(execution__in=executions)
    return list(steps.values_list("execution", flat=True)[:1])


def run_until_idle(limit: int | None = None) -> int:
    """Drive whatever is due until nothing is, or so many claims have been made; how many were."""
    claims = 0
    while (limit is None or claims < limit) and (_drive(None) or batches.drive_next(holder=me())):
        claims += 1
    return claims
