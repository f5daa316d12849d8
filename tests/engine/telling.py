"""Tells a story of `mortal_stories` in this process, with a death or a visitor at one point, and judges its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from saga_app import executor, testing
from saga_app.core import registry
from saga_app.core.status import DRIVEN, TERMINAL
from saga_app.models import Execution, StepRecord
from saga_app.store.transactions import alias
from tests import ledger, promises
from tests.mortal import Life
from tests.mortal_steps import came_too_late, standing
from tests.mortal_stories import Story
from tests.reading import children, end, now
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
        row, due = now(x), next_due()
        if row.status in TERMINAL:
            return
        if due is not None:
            clock.set(max(due, clock.now()))
        else:
            assert story.operator, f"{row.status} {row.stuck_reason}: {row.error}"
            story.operator(row)
    raise AssertionError(f"still {row.status}, due {row.due_at}")


def next_due() -> datetime | None:
    """When somebody has something to do next: with an execution, or with a queued step; None: nobody has, as it is."""
    executions = Execution.objects.using(alias()).filter(due_at__isnull=False)
    steps = StepRecord.objects.using(alias()).filter(row_due_at__isnull=False, execution__status__in=DRIVEN)
    steps = steps.filter(execution__suspend_requested_at__isnull=True)
    found = [*executions.values_list("due_at", flat=True), *steps.values_list("row_due_at", flat=True)]
    return min((moment for moment in found if moment is not None), default=None)


def family(x: Execution) -> list[Execution]:
    """An execution, its children, and theirs."""
    return [x, *(each for child in children(x) for each in family(child))]


def calls(x: Execution) -> Counter[str]:
    """How often each body was called for an execution and those below. To ask is free: reconciles are not counted."""
    return Counter(name for one in family(x) for name in ledger.order_of(one))


def broken(x: Execution, story: Story) -> list[str]:
    """What is not as the story ends, or as was promised."""
    facts = {
        f"ends {end(x)}": end(x) == story.ends,
        f"leaves {stands(x)}": stands(x) == sorted(story.stands),
    }
    return [text for text, holds in facts.items() if not holds] + broken_promises(x)


def stands(x: Execution) -> list[str]:
    """What stands in the world because of an execution and those below."""
    return sorted(name for one in family(x) for name in standing(one))


def broken_promises(x: Execution) -> list[str]:
    """What is not as was promised, to it or to those below, whatever happened."""
    found = []
    for one in family(x):
        facts = {
            f"calls without counting: {uncounted(one)}": not uncounted(one),
            f"reaches the world when it was undone: {came_too_late(one)}": not came_too_late(one),
        }
        as_if_never = [f"{path}: an attempt began that was not counted" for path in atomics(one)]
        found += [
            f"{promise} {what}" for promise, what in promises._broken(one) if not what.startswith((*as_if_never,))
        ]
        found += [text for text, holds in facts.items() if not holds]
    return found


def uncounted(x: Execution) -> list[str]:
    """The external steps that were called more often than their records say; an atomic one that was is as if never."""
    begun = Counter(one.path for one in ledger.begun("execution = %s", str(x.pk)))
    rows = x.steps.exclude(path__in=atomics(x))
    return [row.path for row in rows if begun[row.path] > row.attempt]


def atomics(x: Execution) -> list[str]:
    """The paths of its atomic steps: a call whose worker dies before the commit is as if it had never been."""
    saga = registry.get(x.saga, x.revision)
    assert saga
    names = [step.name for step in saga.steps if step.atomic]
    return list(x.steps.filter(name__in=names).values_list("path", flat=True))
