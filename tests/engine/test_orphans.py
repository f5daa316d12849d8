"""A step whose worker is gone: what may be done about it at once, and what only when that is certain."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from saga_app import Backoff, GiveUp, Pivot, Saga, engine, executor, testing
from saga_app.conf import settings
from saga_app.core.status import STOPPED
from saga_app.models import Execution
from tests import ledger
from tests.engine.telling import stage
from tests.mortal import Life
from tests.mortal_steps import act
from tests.reading import CANCELLED, UNWOUND, end, held, now
from tests.shared_clock import clock

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "outside"])


@pytest.fixture(autouse=True)
def world() -> Iterator[None]:
    """Each test has a world and sagas of its own, and the clock stands still."""
    with stage(), testing.isolate_sagas():
        clock.set(clock.now())
        yield


class Killed(Life):
    """A life that ends inside a body of that name, in the first attempt of it that this worker makes."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where

    def leaving(self, point: str) -> None:
        super().leaving(point)
        self.dead = point == self.where


def orphaned(saga: Saga, where: str = "inside b") -> tuple[Execution, datetime]:
    """An execution whose worker died there and whose lease has just run out; until when that worker may live on."""
    x = saga.start()
    drive_and_die(where)
    clock.set(now(x).due_at)
    return x, clock.now() + timedelta(seconds=settings.HARD_STOP_GRACE)


def drive_and_die(where: str) -> None:
    life = Killed(where)
    with life.lived():
        executor.drive_next(holder="host:1")
    assert life.dead


def to_the_end(x: Execution) -> None:
    """Drive, and move the clock over what waits, until nothing does."""
    for _ in range(20):
        executor.drive_next(holder="host:2")
        row = now(x)
        if row.status in STOPPED:
            return
        clock.set(max(row.due_at, clock.now()))
    raise AssertionError(f"still {row.status}")


def began(name: str) -> datetime:
    """When that body was called last."""
    (*_, note) = ledger.begun("name = %s", name)
    return datetime.fromtimestamp(note.at, tz=clock.now().tzinfo)


def test_it_is_called_again_at_once() -> None:
    """Design §8.8. The same call with the same key does no harm while the first may still be under way."""
    x, quiet = orphaned(Saga("s", act("a"), act("b")))
    executor.drive_next(holder="host:2")
    assert now(x).status == "completed" and began("b") < quiet
    assert ledger.calls("b") == 2 and len(ledger.keys("b")) == 1


@pytest.mark.parametrize("pause", [0, 2])
def test_it_is_not_undone_before_the_first_worker_is_gone(pause: int) -> None:
    """Design §8.8. Later attempts fail for good; the first may still land: its compensation waits until it cannot."""
    b = act("b", None, OSError, GiveUp("no"), backoff=Backoff(first=pause, max=pause, jitter=0))
    x, quiet = orphaned(Saga("s", act("a"), b))
    to_the_end(x)
    assert end(x) == UNWOUND and began("~b") >= quiet and ledger.calls("b") == 3


def test_it_is_not_undone_early_because_of_a_cancel() -> None:
    """Design §8.8. Hazard B167. The same where a cancel came meanwhile."""
    x, quiet = orphaned(Saga("s", act("a"), act("b")))
    engine.cancel(x)
    to_the_end(x)
    assert end(x) == CANCELLED and began("~b") >= quiet and ledger.calls("b") == 1


def test_it_is_not_undone_early_after_a_pause() -> None:
    """Design §8.8. Suspended, resumed and cancelled, all before the first worker is gone for certain."""
    x, quiet = orphaned(Saga("s", act("a"), act("b")))
    engine.suspend(x)
    to_the_end(x)
    engine.resume(x)
    engine.cancel(x)
    to_the_end(x)
    assert end(x) == CANCELLED and began("~b") >= quiet


def test_it_is_not_asked_about_early() -> None:
    """Design §8.8. Reconcile would say "not there", and then it comes."""
    x, quiet = orphaned(Saga("s", act("a"), act("b", find="truth")))
    to_the_end(x)
    assert now(x).status == "completed" and began("?b") >= quiet


def test_it_is_not_undone_early_by_the_next_worker() -> None:
    """Design §8.8. Who stops meanwhile hands on what they know: it is not due before that."""
    x, quiet = orphaned(Saga("s", act("a"), act("b", None, OSError, GiveUp("no"))))
    answers = iter([True])
    executor.drive_next(holder="host:2", go_on=lambda: next(answers, False))
    assert now(x).lease_holder is None and ledger.calls("b") == 2
    to_the_end(x)
    assert end(x) == UNWOUND and began("~b") >= quiet


def test_no_operator_looks_for_it_early() -> None:
    """Design §8.8. Right before the pivot nothing is guessed; the operator is asked when it can be known."""
    x, quiet = orphaned(Saga("s", act("a"), act("b", attempts=1), Pivot(), act("c")))
    to_the_end(x)
    assert end(x) == held("outcome_unknown") and now(x).updated_at >= quiet


def test_a_body_that_kills_its_workers_is_tried_as_often_as_it_may() -> None:
    """Hazard B55. A lapsed lease counts as an attempt: no worker dies for a step whose attempts are used up."""
    x = Saga("s", act("a"), act("b", attempts=2)).start()
    for _ in range(2):
        drive_and_die("inside b")
        clock.set(now(x).due_at)
    to_the_end(x)
    assert end(x) == UNWOUND and ledger.calls("b") == 2


def test_what_kills_its_workers_uncounted_is_stopped() -> None:
    """Hazard B55. A reconcile has no attempts to count: three workers die of it, and no fourth."""
    x, _ = orphaned(Saga("s", act("a"), act("b", find="truth")))
    deaths = 0
    while now(x).status not in STOPPED and deaths < 10:
        life = Killed("before ?b")
        with life.lived():
            executor.drive_next(holder="host:2")
        deaths += life.dead
        if (due := now(x).due_at) is not None:
            clock.set(max(due, clock.now()))
    assert end(x) == held("worker_lost") and deaths == 3
