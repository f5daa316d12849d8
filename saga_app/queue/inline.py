"""Drives executions in this process: `saga.run()`, tests, `manage.py saga drain`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from saga_app import engine, executor
from saga_app.core.saga import Saga
from saga_app.models import Execution
from saga_app.queue.processes import me
from saga_app.store.transactions import alias, refuse_inside_transaction


def run(
    saga: Saga[Any],
    input: Any = None,
    *,
    key: str | None = None,
    actor: Any = None,
    priority: int = 0,
    due: datetime | None = None,
) -> Execution:
    """Start a saga and drive it here until it parks or ends. Raises NotReady inside a transaction."""
    refuse_inside_transaction("run()")
    return drive(engine.start(saga, input, key=key, actor=actor, priority=priority, due=due))


def drive(execution: Execution) -> Execution:
    """Drive one execution here for as long as it is due; the execution as it is then."""
    while executor.drive(execution.pk, holder=me()):
        pass
    return Execution.objects.using(alias()).get(pk=execution.pk)


def run_until_idle(limit: int | None = None) -> int:
    """Drive whatever is due until nothing is, or so many claims have been made; how many were."""
    claims = 0
    while (limit is None or claims < limit) and executor.drive(None, holder=me()):
        claims += 1
    return claims
