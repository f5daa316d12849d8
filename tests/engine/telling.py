"""Tells a story of `mortal_stories` in this process, with a death or a visitor at one point, and judges its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from saga_app import executor, testing
from saga_app.core import registry
from saga_app.core.status import TERMINAL
from saga_app.models import Execution
from tests import ledger, promises
from tests.mortal import Life
from tests.mortal_steps import came_too_late, standing
from tests.mortal_stories import Story
from tests.reading import end, now
from tests.shared_clock import clock

MOST_RESTS = 30  # more than any story has: it would go on for ever


@contextmanager
def stage() -> Iterator[None]:
    """An empty outside world, and a clock that the stories may stop."""
    ledger.prepare()
    try:
        yield
    finally:
        clock.reset()


@contextmanager
def told(story: Story, *lives: Life) -> Iterator[Execution]:
    """Its saga, driven by a worker of each life in turn, and after the last death by one that lives, until it ends."""
    ledger.clear()
    clock.set(clock.now())
    with testing.isolate_sagas():
        x = story.saga().start()
        for number, life in enumerate([*lives, Life()]):
            life.about(x)
            with life.lived():
                until_the_end(x, story, f"host:{number}")
            if not life.dead:
                break
        yield now(x)


def until_the_end(x: Execution, story: Story, worker: str) -> None:
    """Drive what is due, move the clock over what waits, and let the operator act on what stopped."""
    for _ in range(MOST_RESTS):
        executor.drive_next(holder=worker)
        row = now(x)
        if row.status in TERMINAL:
            return
        if row.due_at is not None:
            clock.set(max(row.due_at, clock.now()))
        else:
            assert story.operator, f"{row.status} {row.stuck_reason}: {row.error}"
            story.operator(row)
    raise AssertionError(f"still {row.status}, due {row.due_at}")


def calls(x: Execution) -> Counter[str]:
    """How often each body was called for an execution. To ask costs nothing: reconciles are not counted."""
    return Counter(ledger.order_of(x))


def broken(x: Execution, story: Story) -> list[str]:
    """What is not as the story ends, or as was promised."""
    facts = {
        f"ends {end(x)}": end(x) == story.ends,
        f"leaves {standing(x)}": standing(x) == sorted(story.stands),
    }
    return [text for text, holds in facts.items() if not holds] + broken_promises(x)


def broken_promises(x: Execution) -> list[str]:
    """What is not as was promised, whatever happened."""
    facts = {
        f"calls without counting: {uncounted(x)}": not uncounted(x),
        f"reaches the world when it was undone: {came_too_late(x)}": not came_too_late(x),
    }
    found = [f"{promise} {what}" for promise, what in promises._broken(x)]
    return found + [text for text, holds in facts.items() if not holds]


def uncounted(x: Execution) -> list[str]:
    """The external steps that were called more often than their records say; an atomic one that was is as if never."""
    saga = registry.get(x.saga, x.revision)
    assert saga
    rows = x.steps.exclude(path__in=[step.name for step in saga.steps if step.atomic])
    return [row.path for row in rows if calls(x)[row.path] > row.attempt]
