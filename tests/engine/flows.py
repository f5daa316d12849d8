"""Words for tests of nodes that hold others: drive in this process until nothing is due, and read what became of it."""

from __future__ import annotations

from typing import Any

from saga_app import Saga
from saga_app.models import Execution
from saga_app.queue import inline
from tests.reading import now
from tests.shared_clock import clock


def run(saga: Saga[Any], **values: Any) -> Execution:
    """Start it, and drive whatever is due until nothing is."""
    return settled(saga.start(**values))


def settled(x: Execution) -> Execution:
    """Drive whatever is due, of this one and of all others; this one as it is then."""
    inline.run_until_idle()
    return now(x)


def later(x: Execution, seconds: float) -> Execution:
    """The same, so many seconds later."""
    clock.set(clock.now())
    clock.forward(seconds)
    return settled(x)


def paths(x: Execution, *kinds: str) -> list[str]:
    """The paths of its records in the order they started; of some kinds only, where they are named."""
    return [one.path for one in x.steps.order_by("seq") if not kinds or one.kind in kinds]


def statuses(x: Execution) -> dict[str, str]:
    """Path → how the record's forward call stands."""
    return {one.path: one.status for one in x.steps.order_by("seq")}
