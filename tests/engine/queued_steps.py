"""What tests of queued steps share: an execution whose steps wait, and workers that die or come late."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from saga_app import Saga, executor
from saga_app.core.status import DRIVEN
from saga_app.models import Execution, StepRecord
from saga_app.queue import inline
from tests import ledger
from tests.faults import lapse
from tests.harness import now
from tests.mortal import Life
from tests.shared_clock import clock
from tests.site.models import Question


def arranged(saga: Saga[Any], **values: Any) -> Execution:
    """An execution whose steps wait in their queues."""
    x = saga.start(**values)
    executor.drive(x.pk, holder="host:0")
    return x


def settled(x: Execution) -> Execution:
    inline.run_until_idle()
    return now(x)


def killed(x: Execution, *, lapses: bool = True) -> None:
    """Drive until this process dies in a body; then all leases run out."""
    one = Life()
    one.points.append("a body")
    with one.lived():
        executor.drive_next(holder="host:1")
    assert one.dead, "it was to die here"
    if lapses:
        lapse()


def writes(_call: Any) -> None:
    Question.objects.create(title="?")


def until(moment: datetime) -> None:
    clock.set(max(moment, clock.now()))


def begun(name: str) -> datetime:
    """When that body was called last."""
    (*_, note) = ledger.begun("name = %s", name)
    return datetime.fromtimestamp(note.at, tz=clock.now().tzinfo)


def to_the_end(x: Execution) -> None:
    """Drive, and move the clock over what waits."""
    for _ in range(30):
        inline.run_until_idle()
        row = now(x)
        if row.status not in DRIVEN:
            return
        steps = StepRecord.objects.filter(row_due_at__isnull=False).values_list("row_due_at", flat=True)
        until(min(moment for moment in (row.due_at, *steps) if moment is not None))
    raise AssertionError(f"still {now(x).status}")
