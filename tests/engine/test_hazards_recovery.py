"""Hazards of recovery: a worker dies on the way back, again and again, or where nobody can tell how far it came."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from saga_app import Happened, Saga
from saga_app import clock as ours
from saga_app.conf import settings
from saga_app.models import Execution
from saga_app.store import claims
from tests.engine.drives import DATABASES, dies, drive, killed
from tests.engine.standing import begun
from tests.harness import (
    CANCELLED,
    DONE,
    OK,
    UNWOUND,
    calls,
    clear,
    do,
    end,
    fail,
    halted,
    held,
    keys,
    lapse,
    now,
    ok,
    order,
    outcomes,
    rec,
    told,
)
from tests.shared_clock import clock
from tests.store.conftest import claimed

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


@pytest.mark.parametrize("when", ["inside", "after"])
def test_dead_in_the_middle_of_an_unwind(when: str) -> None:
    """The next worker goes on behind what has its outcome.

    Hazard A65. Hazard B143. Hazard B161. Hazard B162. Hazard B163.
    The interrupted compensation is tried again as an attempt that counts, with the same key; no step goes forward.
    """
    b = do("b", comp=[dies(when), ok()], comp_attempts=2)
    x = Saga("s", do("a", comp=OK), b, do("c", comp=OK), do("d", fail(OSError))).start()
    killed(x)
    assert outcomes(x) == {"a": "", "b": "running", "c": "compensated"}
    assert end(drive(x)) == UNWOUND
    assert order() == ["a", "b", "c", "d", "~c", "~b", "~b", "~a"]
    assert len(keys("~b")) == 1 and rec(x, "b").compensation_attempt == 2


def test_the_last_attempt_of_a_compensation_was_lost() -> None:
    """Nobody knows whether it happened: an operator, not a second call.

    Hazard A68. Hazard A86. Hazard R11. Hazard B194.
    It is stuck and says why; resume tries once more, resolve takes the operator's word.
    """

    def stuck() -> Execution:
        x = Saga("s", do("z", comp=OK), do("a", comp=[dies("after"), ok()]), do("b", fail(OSError))).start()
        killed(x)
        called = calls("~a")
        assert end(drive(x)) == halted("compensation_failed") and calls("~a") == called
        assert "its worker died" in rec(x, "a").compensation_error.text
        return x

    x = stuck()
    x.resume()
    assert end(drive(x)) == UNWOUND and outcomes(x) == {"z": "compensated", "a": "compensated"}
    y = stuck()
    y.resolve("a", reason="the money is back")
    assert end(drive(y)) == UNWOUND and outcomes(y) == {"z": "compensated", "a": "resolved"}


def test_a_failure_that_somebody_finds_again() -> None:
    """A row that says it goes back, with a failed compensation in it, halts again: it is not walked past.

    Hazard A66.
    """
    x = begun(do("a", comp=OK), do("b", comp=[fail(OSError)]), do("c", fail(OSError)))
    again = {"status": "compensating", "stuck_reason": "", "rollback_status": "", "due_at": x.created_at}
    Execution.objects.filter(pk=x.pk).update(**again)
    assert end(drive(x)) == halted("compensation_failed")
    assert (calls("~b"), calls("~a")) == (1, 0)


def test_nothing_owed_and_nobody_there() -> None:
    """Hazard A82. An unwind that has nothing to do ends when it is found, instead of being found for ever."""
    x = Saga("s", do("a"), do("b", dies())).start()
    killed(x)
    assert end(drive(x)) == ("failed", "not_applicable", "")
    assert not claims.is_due("default")


def test_an_orphan_is_left_in_peace_first() -> None:
    """Design §8.8. Hazard R24, Hazard B54. Its worker may still be inside: it is neither asked about nor undone yet.

    Until its lease and the grace are over, nobody compensates or reconciles what it is about to do.
    """
    clock.set(clock.now())
    for find in (None, Happened(3)):
        clear()
        x = Saga("s", do("a", dies(), comp=OK, find=find)).start()
        killed(x, lapses=False)
        clock.set(now(x).due_at)
        waits = drive(x)
        assert waits.due_at == clock.now() + timedelta(seconds=settings.HARD_STOP_GRACE)
        assert (calls("?a"), calls("~a")) == (0, 0) and rec(x, "a").status == "running"
        clock.set(waits.due_at)
        assert end(drive(x)) == (DONE if find else UNWOUND)
        assert (calls("?a"), calls("~a")) == ((1, 0) if find else (0, 1))


def test_cancelled_while_its_worker_was_dead() -> None:
    """Design §9.1. The orphan is settled by the write that begins the unwind, as failed and unknown."""
    x = Saga("s", do("a", comp=OK), do("b", dies(), comp=OK, attempts=5)).start()
    killed(x)
    x.cancel(reason="not wanted")
    assert end(drive(x)) == CANCELLED
    assert order() == ["a", "b", "~b", "~a"] and rec(x, "b").outcome_known is False


def test_a_body_that_kills_its_workers() -> None:
    """Design §7.3. Hazard B55, Hazard B87. It is not handed to one after another for ever, in either direction."""
    forward = Saga("s", do("a", comp=OK), do("b", dies(), attempts=99)).start()
    backward = Saga("t", do("a", comp=[dies()], comp_attempts=99), do("b", fail(OSError))).start()
    for x, called, ends in [(forward, "b", held("worker_lost")), (backward, "~a", halted("worker_lost"))]:
        while now(x).deaths < 3:
            killed(x)
        times = calls(called)
        assert end(drive(x)) == ends and now(x).failing_path == called.strip("~")
        assert calls(called) == times <= 4
    forward.skip("b", happened=False, reason="look at the logs first")
    assert end(drive(forward)) == DONE


def test_deaths_before_an_atomic_body_are_counted_too() -> None:
    """Design §8.3. Hazard A4. Its first attempt leaves no intent; after a death it does, so that the count goes on."""
    x = Saga("s", do("a", dies(), dies(), ok(), atomic=True, attempts=2)).start()
    killed(x)
    assert not x.steps.exists()
    for attempt in (1, 2):
        killed(x)
        assert rec(x, "a").attempt == attempt
    assert end(drive(x)) == held("worker_lost") and calls("a") == 3
    x.resume(reason="more memory")
    assert end(drive(x)) == DONE


def test_a_heartbeat_that_comes_after_the_release() -> None:
    """Hazard B57. The lease that was given back is not taken again by a renewal that was under way."""
    x = Saga("s", do("a")).start()
    claim, _ = claimed(x)
    claim.lease_ends = 0.0
    assert claims.beat(claim)
    Execution.objects.filter(pk=x.pk).update(lease_holder=None, due_at=x.created_at)
    claim.lease_ends = 0.0
    assert not claims.beat(claim)
    assert (now(x).lease_holder, now(x).due_at) == (None, x.created_at)


def test_when_leases_end_is_said_by_one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Design §7.7. Hazard B63, Hazard A143. A worker whose own clock is wrong steals nothing: the database is asked."""
    x = Saga("s", do("a")).start()
    claimed(x)
    sql = str(Execution.objects.due().query)
    if connection.vendor == "postgresql":
        monkeypatch.setattr(ours, "now", lambda: datetime(2099, 1, 1, tzinfo=UTC))
        assert "STATEMENT_TIMESTAMP()" in sql
    assert not claims.is_due("default", x.pk)


def test_a_verb_meanwhile_is_seen_by_who_takes_over() -> None:
    """Hazard A33, Hazard B73. Nothing said to a held execution is lost with its holder."""
    x = Saga("s", do("a", dies(), attempts=9), do("b")).start()
    killed(x, lapses=False)
    x.suspend(reason="look first")
    assert told(x.suspend) == "suspend_requested"
    lapse()
    assert (drive(x).status, order()) == ("suspended", ["a"])
    assert x.resume().status == "running"
