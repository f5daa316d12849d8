"""A worker dies at every point at which one can while a group is driven; another takes over, and all promises hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saga_app import GiveUp, Parallel, Saga, executor, testing
from tests import ledger
from tests.engine.drives import DATABASES
from tests.engine.queued_steps import to_the_end
from tests.harness import DONE, UNWOUND, end, records
from tests.mortal import Life
from tests.mortal_steps import act, came_too_late, standing
from tests.shared_clock import clock
from tests.site.models import Question

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def every_point(saga: Callable[[], Saga[Any]], ends: tuple[str, str, str], stands: list[str]) -> int:
    """A worker dies at each point at which one can, another takes over; how many points there were."""
    place = 0
    while True:
        ledger.clear()
        Question.objects.all().delete()
        clock.set(clock.now())
        life = Life(place)
        with testing.isolate_sagas():
            x = saga().start()
            with life.lived():
                executor.drive_next(holder="host:1")
            to_the_end(x)
        where = f"point {place} ({life.points[place] if life.dead else 'none'})"
        assert end(x) == ends, where
        assert standing(x) == stands, where
        assert not came_too_late(x), where
        for record in records(x):
            assert ledger.calls(record.name) <= max(record.attempt, 1) + (record.name in "xyz"), where
        if not life.dead:
            return place
        place += 1


def test_a_death_at_every_point_of_a_group() -> None:
    """External and atomic steps side by side, then one more: all happened once."""

    def saga() -> Saga[Any]:
        return Saga("s", Parallel(act("a"), act("b", find="truth"), act("x", atomic=True)), act("c"))

    assert every_point(saga, DONE, ["a", "b", "c", "x"]) > 20


def test_a_death_at_every_point_of_a_group_that_fails() -> None:
    """Whatever was done is undone, and nothing is done after that."""

    def saga() -> Saga[Any]:
        b = act("b", GiveUp("no"))
        return Saga("s", act("q", queue="slow"), Parallel(act("a"), b, act("x", atomic=True, atomic_undo=True)))

    assert every_point(saga, UNWOUND, []) > 20
