"""Executions in every state that there is, made as users make them: by driving, and by verbs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saga_app import Backoff, Pivot, Saga, executor
from saga_app.models import Execution
from tests.engine.drives import dies, drive, killed
from tests.harness import OK, do, fail, ok

LATER = Backoff(first=60, max=60, jitter=0)


def begun(*nodes: Any, **options: Any) -> Execution:
    """Started and driven until it parks or ends."""
    return drive(Saga("s", *nodes, **options).start())


def pending() -> Execution:
    return Saga("s", do("a", comp=OK), do("b")).start()


def held() -> Execution:
    """Somebody holds it: a worker that died a moment ago, whose lease still lasts."""
    return killed(Saga("s", do("a", dies(), ok(), attempts=2, comp=OK), do("b")).start(), lapses=False)


def between_steps() -> Execution:
    """It has had its time, and is due again at once."""
    x = pending()
    executor.drive(x.pk, holder="host:1", go_on=lambda: False)
    return x


def waiting() -> Execution:
    return begun(do("a", comp=OK), do("b", fail(OSError), ok(), attempts=2, backoff=LATER))


def waiting_past_the_pivot() -> Execution:
    return begun(do("a", comp=OK), Pivot(), do("b", fail(OSError), ok(), attempts=2, backoff=LATER))


def suspended() -> Execution:
    x = waiting()
    x.suspend(reason="the shop is closed")
    return drive(x)


def stuck_forward() -> Execution:
    return begun(do("a", comp=OK), do("b", fail(OSError), ok()), on_failure="hold")


def stuck_past_the_pivot() -> Execution:
    return begun(do("a", comp=OK), Pivot(), do("b", fail(OSError), ok()))


def compensating() -> Execution:
    """Its compensation waits for its next attempt."""
    return begun(do("a", comp=[fail(OSError), ok()], comp_attempts=2, backoff=LATER), do("b", fail(OSError)))


def stuck_backwards() -> Execution:
    return begun(do("a", comp=OK), do("b", comp=[fail(OSError), ok()]), do("c", fail(ValueError)))


def completed() -> Execution:
    return begun(do("a", comp=OK))


def failed() -> Execution:
    return begun(do("a", comp=OK), do("b", fail(OSError)))


def cancelled() -> Execution:
    x = waiting()
    x.cancel(reason="not wanted")
    return drive(x)


STATES: dict[str, Callable[[], Execution]] = {
    one.__name__: one
    for one in (
        pending, held, between_steps, waiting, waiting_past_the_pivot, suspended, stuck_forward, stuck_past_the_pivot,
        compensating, stuck_backwards, completed, failed, cancelled,
    )
}  # fmt: skip
