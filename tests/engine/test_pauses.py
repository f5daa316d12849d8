"""Waits and pauses: what ends them, what they leave as it was, and moments that clocks on walls show twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connections

from saga_app import Backoff, Saga, driving, engine, testing
from saga_app.models import Execution
from tests.engine.drives import DATABASES, drive
from tests.engine.standing import pending
from tests.harness import CANCELLED, DONE, OK, calls, do, end, fail, now, ok
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

PATIENCE = 20.0  # seconds; what is ended takes a moment, what is not takes longer than this


def test_a_pause_before_it_is_due_starts_nothing_early() -> None:
    """Design §12. Suspended and resumed long before the moment it was started for: it still waits for that."""
    clock.set(clock.now())
    due = clock.now() + timedelta(hours=1)
    x = Saga("s", do("a")).using(due=due).start()
    engine.suspend(x)
    assert drive(x).status == "suspended"
    clock.forward(60)
    engine.resume(x)
    assert (drive(x).status, now(x).due_at, calls("a")) == ("waiting", due, 0)
    clock.set(due)
    assert end(drive(x)) == DONE


@pytest.mark.parametrize(("verb", "ends"), [(engine.cancel, CANCELLED), (engine.suspend, ("suspended", "", ""))])
def test_a_wait_that_is_slept_in_place(
    verb: Callable[[Execution], Execution], ends: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design §8.5. Hazard B196. A request that comes meanwhile ends it: nobody waits for a worker to wake up."""
    monkeypatch.setattr(driving, "SLEPT_IN_PLACE", 60.0)
    slow = Backoff(first=2 * PATIENCE, max=2 * PATIENCE, jitter=0)
    x = Saga("s", do("a", fail(OSError), ok(), attempts=2, backoff=slow, comp=OK)).start()

    def ask() -> None:
        try:
            while not x.steps.filter(status="waiting").exists():
                time.sleep(0.02)
            verb(x)
        finally:
            connections.close_all()

    asking = threading.Thread(target=ask)
    began = time.monotonic()
    asking.start()
    drive(x)
    asking.join()
    assert time.monotonic() - began < PATIENCE
    assert end(x) == ends and calls("a") == 1


def test_a_pause_where_nobody_knows_the_saga() -> None:
    """Design §7.8. A worker that does not know it can still put it aside, and one that does goes on when told to."""
    x = pending()
    with testing.isolate_sagas():
        engine.suspend(x)
        assert drive(x).status == "suspended"
    Saga("s", do("a", comp=OK), do("b"))
    engine.resume(x)
    assert end(drive(x)) == DONE


@pytest.mark.parametrize("hour", [5, 6])
def test_an_hour_that_comes_twice(hour: int, settings: Any) -> None:
    """Design §7.7. At half past one in New York when summer ends, twice: each is the moment that was written."""
    settings.USE_TZ, settings.TIME_ZONE = False, "America/New_York"
    x = pending()
    at = datetime(2026, 11, 1, hour, 30, tzinfo=UTC)
    Execution.objects.filter(pk=x.pk).update(due_at=at)
    assert now(x).due_at == at and Execution.objects.filter(pk=x.pk, due_at=at).exists()
