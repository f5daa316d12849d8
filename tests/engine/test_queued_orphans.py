"""Queued steps whose workers die: what another worker does, and what only when that is certain."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from saga_app import Backoff, GiveUp, Happened, NotHappened, Parallel, Pivot, Saga, Unknown, engine, executor
from saga_app.conf import settings
from tests import ledger
from tests.engine.drives import DATABASES, dies
from tests.engine.queued_steps import arranged, begun, killed, settled, to_the_end, until
from tests.faults import lapse
from tests.gates import Gate, somebody
from tests.harness import DONE, OK, UNWOUND, do, end, fail, hang, now, ok, outcomes, rec, records
from tests.script import Entry
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def test_it_is_called_again_with_the_same_key() -> None:
    """The attempt was counted before the body began, and the one that was lost says so."""
    x = arranged(Saga("s", Parallel(do("a", dies(), ok(), attempts=2), do("b")), do("c")))
    killed(x)
    assert (rec(x, "a").status, rec(x, "a").attempt, rec(x, "a").row_deaths) == ("running", 1, 1)
    assert end(settled(x)) == DONE
    assert ledger.calls("a") == 2 and len(ledger.keys("a")) == 1
    assert [entry["outcome"] for entry in rec(x, "a").attempts] == ["lost", "returned"]
    assert rec(x, "a").row_deaths == 0


@pytest.mark.parametrize(
    ("says", "called", "ends"),
    [(ok("found"), 1, DONE), (ok(NotHappened()), 2, DONE), (ok(Unknown()), 2, DONE), (fail(OSError), 2, DONE)],
    ids=["happened", "not", "unknown", "raises"],
)
def test_reconcile_is_asked_by_whoever_takes_it_over(says: Entry, called: int, ends: tuple[str, str, str]) -> None:
    """Design §8.8. Its answer completes the row, or sends it back to the queue."""
    find = ok(Happened("found")) if says.values == ("found",) else says
    x = arranged(Saga("s", Parallel(do("a", dies(), ok("again"), attempts=2, find=find), do("b"))))
    killed(x)
    assert end(settled(x)) == ends
    assert (ledger.calls("?a"), ledger.calls("a")) == (1, called)
    assert rec(x, "a").output == ("found" if called == 1 else "again")


def test_without_attempts_left_it_has_failed_and_is_undone() -> None:
    """Nobody knows how far it came: failed, owed, and its siblings that did not begin are skipped."""
    x = arranged(Saga("s", Parallel(do("a", dies(), comp=OK), do("b", comp=OK))))
    killed(x)
    assert end(settled(x)) == UNWOUND
    assert [(r.path, r.status) for r in records(x)] == [("a", "failed"), ("b", "skipped")]
    assert outcomes(x) == {"a": "compensated", "b": ""}
    assert ledger.seen("~a")[0]["outcome"] == "unknown"


def test_right_before_the_pivot_nobody_guesses() -> None:
    """Its outcome stays unknown: it leaves the queue, and the execution stops in front of an operator."""
    x = arranged(Saga("s", do("a", dies(), queue="slow"), Pivot(), do("b")))
    killed(x)
    assert end(settled(x)) == ("stuck", "", "outcome_unknown")
    assert rec(x, "a").row_due_at is None
    engine.skip(x, "a", happened=True, output=None, reason="seen", version=now(x).version)
    assert end(settled(x)) == DONE


def test_a_timeout_is_an_unknown_outcome() -> None:
    """With attempts left it waits in the queue; with none, and nobody to ask, it has failed and is owed."""
    x = arranged(Saga("s", Parallel(do("a", hang(5), attempts=2, timeout=0.2, comp=OK), do("b", comp=OK))))
    assert end(settled(x)) == UNWOUND
    assert [entry["outcome"] for entry in rec(x, "a").attempts][:2] == ["timed_out", "timed_out"]
    assert outcomes(x) == {"a": "compensated", "b": "compensated"} and ledger.calls("a") == 2


def test_a_row_of_a_group_that_has_failed_is_not_called_again() -> None:
    """Design §8.10. Its worker died; a sibling has failed meanwhile: it is settled by whoever claims it."""
    x = arranged(Saga("s", Parallel(do("a", dies(), ok(), attempts=5, comp=OK), do("b", fail(GiveUp("no"))))))
    killed(x, lapses=False)
    executor.drive_next(holder="host:2")
    assert (rec(x, "b").status, rec(x, "a").status, end(x)[0]) == ("failed", "running", "waiting")
    lapse()
    assert end(settled(x)) == UNWOUND
    assert ledger.calls("a") == 1 and outcomes(x)["a"] == "compensated"


def test_it_is_asked_about_before_it_is_settled() -> None:
    """Design §8.10. Begun, and its group has failed: reconciled first, so that what happened is known when undone."""
    a = do("a", dies(), ok(), attempts=5, comp=OK, needs_result=True, find=ok(Happened("found")))
    x = arranged(Saga("s", Parallel(a, do("b", fail(GiveUp("no"))))))
    killed(x, lapses=False)
    executor.drive_next(holder="host:2")
    lapse()
    assert end(settled(x)) == UNWOUND
    assert (ledger.calls("a"), ledger.calls("?a")) == (1, 1)
    assert ledger.seen("~a")[0]["result"] == "found"


def test_a_retry_of_a_group_that_has_failed_is_not_made() -> None:
    """Its sibling failed while it ran: what it is told then is recorded, and not tried again."""
    gate = Gate()
    a = do("a", Entry(gate) >> fail(OSError), ok(), attempts=5, comp=OK)
    x = arranged(Saga("s", Parallel(a, do("b", fail(GiveUp("no"))))))
    with somebody(partial(executor.drive, x.pk, holder="host:1")) as other:
        gate.reached()
        executor.drive(x.pk, holder="host:2")
        assert rec(x, "b").status == "failed"
        gate.open()
        other.result()
    assert end(settled(x)) == UNWOUND
    assert ledger.calls("a") == 1 and outcomes(x)["a"] == "compensated"


@pytest.mark.parametrize("pause", [0, 2])
def test_it_is_not_undone_before_the_first_worker_is_gone(pause: int) -> None:
    """Design §8.8. Later attempts fail for good; the first may still land: its compensation waits until it cannot."""
    clock.set(clock.now())
    backoff = Backoff(first=pause, max=pause, jitter=0)
    a = do("a", dies(), fail(OSError), fail(GiveUp("no")), attempts=5, backoff=backoff, comp=OK)
    x = arranged(Saga("s", Parallel(a, do("b"))))
    killed(x, lapses=False)
    until(rec(x, "a").row_due_at)
    quiet = clock.now() + timedelta(seconds=settings.HARD_STOP_GRACE)
    to_the_end(x)
    assert end(x) == UNWOUND
    assert begun("~a") >= quiet and ledger.calls("a") == 3


def test_the_same_call_again_does_not_wait() -> None:
    """Design §8.8. With the same key it does no harm while the first may be under way; nor does what follows it."""
    clock.set(clock.now())
    x = arranged(Saga("s", Parallel(do("a", dies(), ok(), attempts=2), do("b")), do("c")))
    killed(x, lapses=False)
    until(rec(x, "a").row_due_at)
    quiet = clock.now() + timedelta(seconds=settings.HARD_STOP_GRACE)
    assert end(settled(x)) == DONE
    assert begun("c") < quiet


def test_a_cancel_waits_for_it_too() -> None:
    """Refused because of a cancel, and begun: settled when its worker cannot be inside any more."""
    clock.set(clock.now())
    x = arranged(Saga("s", Parallel(do("a", dies(), attempts=2, comp=OK), do("b"))))
    killed(x, lapses=False)
    engine.cancel(x)
    until(rec(x, "a").row_due_at)
    quiet = clock.now() + timedelta(seconds=settings.HARD_STOP_GRACE)
    to_the_end(x)
    assert end(x) == ("cancelled", "completed", "") and begun("~a") >= quiet and ledger.calls("a") == 1


def test_two_deaths_in_an_atomic_body_are_counted() -> None:
    """Without an intent a death is not seen; the next claim counts its attempt first, so that it ends."""
    a = do("a", dies(), atomic=True, attempts=2)
    x = arranged(Saga("s", Parallel(a, do("b"))))
    for _ in range(3):
        killed(x)
    assert end(settled(x)) == ("failed", "not_applicable", "")
    assert (rec(x, "a").attempt, rec(x, "a").status, rec(x, "a").may_have_happened) == (2, "failed", False)


def test_a_death_in_a_compensation_on_a_queue() -> None:
    """It is called again with its key, as often as it may be tried."""
    a = do("a", comp=[dies(), ok(None)], comp_attempts=2, queue="slow")
    x = Saga("s", a, do("b", fail(GiveUp("no")))).start()
    killed(x)
    assert (rec(x, "a").compensation_status, rec(x, "a").compensation_attempt) == ("running", 1)
    assert end(settled(x)) == UNWOUND
    assert ledger.calls("~a") == 2 and len(ledger.keys("~a")) == 1


def test_a_compensation_whose_workers_all_died_stops() -> None:
    """Its attempts are used up: an operator decides."""
    a = do("a", comp=[dies()], queue="slow")
    x = Saga("s", a, do("b", fail(GiveUp("no")))).start()
    killed(x)
    assert end(settled(x)) == ("stuck", "stuck", "compensation_failed")
    assert rec(x, "a").row_due_at is None
