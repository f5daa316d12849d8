"""What an execution waits for, as its pages and the API tell it: a signal, a person, a time, a child, a worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from saga_app.core import registry
from saga_app.core.nodes import Approval, Wait
from saga_app.core.saga import Saga
from saga_app.core.status import TERMINAL, UNSETTLED, CompensationStatus, Status, StepStatus
from saga_app.models import Execution, StepRecord
from saga_app.store import workers
from saga_app.store.transactions import alias

MOST = 20  # of a thousand children, more than anybody reads
SIGNAL, APPROVAL, SLEEP, ATTEMPT, CHILD, WORKER, CALL = (
    "signal", "approval", "sleep", "attempt", "child", "worker", "call",
)  # fmt: skip
GATES = {"wait": SIGNAL, "approval": APPROVAL, "sleep": SLEEP, "child": CHILD}
UNDER_WAY = [CompensationStatus.RUNNING, CompensationStatus.WAITING]


@dataclass(frozen=True, slots=True)
class Awaited:
    """One thing that an execution waits for.

    Attributes:
        kind: `signal`, `approval`, `sleep`, `attempt` (the next one), `child`, `worker` (of its queue), or `call`
            (a worker is at it).
        path: of the step record.
        signal: the name of the signal that opens the gate.
        permission: what who decides has to have.
        until: when that time is up; None: never.
        child: the execution, without what may be large.
        queue: the queue whose workers it waits for.
        served: whether a living worker serves that queue.
        holder: the worker that is at it.
    """

    kind: str
    path: str
    signal: str = ""
    permission: str = ""
    until: datetime | None = None
    child: Execution | None = None
    queue: str = ""
    served: bool = True
    holder: str = ""


@dataclass(frozen=True, slots=True)
class Waits:
    """What an execution waits for: the first of it, and how much more there is."""

    first: tuple[Awaited, ...] = ()
    more: int = 0


def waits_for(execution: Execution, most: int = MOST) -> Waits:
    """What it waits for now, the latest first: stuck, for an operator, perhaps at a child; ended, for nothing."""
    waiting = Q(compensation_status__in=UNDER_WAY) | Q(status__in=UNSETTLED)
    if execution.status == Status.STUCK:
        waiting = Q(kind="child", child__status=Status.STUCK)
    elif execution.status in TERMINAL:
        return Waits()
    records = execution.steps.using(alias()).light().filter(waiting)
    rows = list(records.order_by("-seq")[: most + 1])
    more = records.count() - most if len(rows) > most else 0
    return Waits(tuple(_told(execution, rows[:most])), more)


def _told(execution: Execution, records: list[StepRecord]) -> Iterator[Awaited]:
    saga = registry.get(execution.saga, execution.revision)
    ids = [record.child_id for record in records if record.child_id]
    children = Execution.objects.using(alias()).light().in_bulk(ids) if ids else {}
    served = workers.served(alias()) if any(record.row_due_at for record in records) else set()
    for record in records:
        if record.row_due_at is not None:
            yield _in_queue(record, served)
        elif record.kind == "child":
            yield Awaited(CHILD, record.path, child=children.get(record.child_id))
        elif record.compensation_status:
            until = record.compensation_due_at
            yield Awaited(ATTEMPT if until else CALL, record.path, until=until)
        else:
            yield _forward(saga, record)


def _in_queue(record: StepRecord, served: set[str]) -> Awaited:
    if record.row_holder:
        return Awaited(CALL, record.path, queue=record.queue, holder=record.row_holder)
    return Awaited(WORKER, record.path, until=record.row_due_at, queue=record.queue, served=record.queue in served)


def _forward(saga: Saga[Any] | None, record: StepRecord) -> Awaited:
    kind = GATES.get(record.kind) or (ATTEMPT if record.status == StepStatus.WAITING else CALL)
    node = saga.node(record.path) if saga else None
    return Awaited(
        kind,
        record.path,
        signal=node.signal if isinstance(node, Wait) else "",
        permission=(node.permission or "") if isinstance(node, Approval) else "",
        until=record.due_at,
    )
