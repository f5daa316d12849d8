"""Lapsed leases: how long a takeover waits whatever wakes it, which deaths it counts, and what is done after them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from saga_app import Happened, NotHappened, Saga, engine, testing
from saga_app import clock as engines_clock
from saga_app.conf import settings as ours
from saga_app.driving import Drive
from saga_app.models import Execution
from tests.engine.drives import DATABASES, dies, drive, killed
from tests.harness import (
    CANCELLED,
    DONE,
    NOTHING_OWED,
    OK,
    UNWOUND,
    calls,
    do,
    end,
    fail,
    halted,
    held,
    now,
    outcomes,
    rows_of,
    told,
)
from tests.shared_clock import clock
from tests.store.conftest import claimed

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def taken_over(*nodes: Any) -> Execution:
    """Its worker died inside a body, its lease has just run out, and the next worker waits; the clock stands still."""
    clock.set(clock.now())
    x = Saga("s", *nodes).start()
    killed(x, lapses=False)
    was_due = now(x).due_at
    clock.set(was_due)
    x = drive(x)
    assert (x.status, x.quiet_at) == ("waiting", was_due + timedelta(seconds=ours.HARD_STOP_GRACE))
    return x


@pytest.mark.parametrize("answer", [Happened(1), NotHappened()], ids=["happened", "did not"])
@pytest.mark.parametrize("wakes", ["cancel", "suspend", "suspend cancel", "wake wake cancel wake suspend wake"])
def test_waking_it_ends_no_wait(wakes: str, answer: Any) -> None:
    """Design §8.8. Hazard R24. Whoever wakes it, and however often: it is not asked about or undone before its time."""
    x = taken_over(do("z", comp=OK), do("a", dies(), comp=OK, find=answer))
    until = x.quiet_at
    for verb in wakes.split():
        clock.forward(0.5)
        wake(x) if verb == "wake" else getattr(engine, verb)(x)
        waits = drive(x)
        assert (waits.status, waits.due_at, waits.quiet_at) == ("waiting", until, until), verb
    assert (calls("a"), calls("?a"), calls("~a"), calls("~z")) == (1, 0, 0, 0)
    clock.set(until)
    if drive(x).status == "suspended":
        drive(engine.resume(x))
    found = answer == Happened(1)
    assert end(x) == (CANCELLED if "cancel" in wakes else DONE if found else UNWOUND)
    assert calls("?a") == 1 and calls("~a") == (found and "cancel" in wakes)


def wake(x: Execution) -> None:
    """Something came for it: it is due at once."""
    Execution.objects.filter(pk=x.pk).update(due_at=clock.now(), wakes=F("wakes") + 1)


def test_a_wait_between_two_deaths_hides_neither() -> None:
    """Design §7.3. Hazard B55. A claim given back at once adds no death and forgets none: three, and no more."""
    x = taken_over(do("a", dies(), find=dies()))
    for deaths in (1, 2):
        assert now(x).deaths == deaths
        clock.set(now(x).due_at)
        killed(x, lapses=False)
        clock.set(now(x).due_at)
        assert drive(x).status == "waiting"
    assert now(x).deaths == 3
    clock.set(now(x).due_at)
    assert end(drive(x)) == held("worker_lost") and now(x).failing_path == "a"
    assert calls("?a") == 2


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_project_without_time_zones(zone: str, settings: Any) -> None:
    """Design §7.7. By the database's clock the wait is as long as it should be, whatever zone moments are read in."""
    settings.USE_TZ, settings.TIME_ZONE = False, zone
    x = Saga("s", do("a", dies(), find=Happened(1))).start()
    killed(x, lapses=False)
    lapsed = engines_clock.now() - timedelta(seconds=0.5)
    Execution.objects.filter(pk=x.pk).update(due_at=lapsed)
    x = drive(x)
    grace = timedelta(seconds=ours.HARD_STOP_GRACE)
    assert (x.status, x.due_at, x.quiet_at) == ("waiting", lapsed + grace, lapsed + grace)
    assert drive(x).status == "waiting" and calls("?a") == 0
    Execution.objects.filter(pk=x.pk).update(due_at=lapsed, quiet_at=lapsed)
    assert end(drive(x)) == DONE and calls("?a") == 1


def test_nothing_is_asked_under_a_lease_that_is_over() -> None:
    """Design §8.6. Hazard R24. A worker that was asleep for longer than its lease does not even ask."""
    x = Saga("s", do("a", dies(), find=Happened(1))).start()
    killed(x)
    claim, facts = claimed(x)
    late = Drive(claim, facts)
    late.ends = engines_clock.monotonic() + 30
    claim.lease_ends = engines_clock.monotonic() - 1
    before = rows_of(x)
    late.drive()
    assert calls("?a") == 0 and rows_of(x) == before


def test_a_cancel_before_the_last_death() -> None:
    """Design §12. Hazard B194. It stops for an operator all the same, and whatever they do it ends cancelled."""
    x = Saga("s", do("a", dies(), attempts=9, comp=OK)).start()
    for _ in range(3):
        killed(x)
    engine.cancel(x, reason="not wanted")
    assert end(drive(x)) == held("worker_lost")
    assert now(x).cancel_requested_at is not None
    engine.unwind(x)
    assert end(drive(x)) == CANCELLED and outcomes(x) == {"a": "compensated"}


def test_a_question_on_the_way_back_that_kills_its_workers() -> None:
    """Design §7.3. Hazard B55, Hazard B194. The step it was about is named, and can be resolved by hand."""
    pay = do("pay", fail(OSError), comp=OK, needs_result=True, find=dies())
    x = Saga("s", do("z", comp=OK), pay).start()
    killed(x)
    while now(x).deaths < 3:
        killed(x)
    assert end(drive(x)) == halted("worker_lost") and now(x).failing_path == "pay"
    engine.resolve(x, "pay", reason="there is no such payment")
    assert end(drive(x)) == UNWOUND and outcomes(x) == {"z": "compensated", "pay": "resolved"}


def test_nothing_is_unwound_by_who_does_not_know_the_saga() -> None:
    """Design §12. An atomic body that died has done nothing, which only its definition says: refused without it."""
    x = Saga("s", do("a", dies(), atomic=True, attempts=9, comp=OK)).start()
    while now(x).deaths < 3:
        killed(x)
    assert end(drive(x)) == held("worker_lost")
    before = rows_of(x)
    with testing.isolate_sagas():
        assert told(engine.unwind, x) == "unknown_saga"
    assert rows_of(x) == before
    engine.unwind(x)
    assert end(drive(x)) == NOTHING_OWED and calls("~a") == 0
