"""Hazards of one step: keys, attempts, errors, what is called again and what never is."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections

from saga_app import GiveUp, Pivot, RetryLater, Saga, ref, step
from tests import ledger
from tests.engine.drives import DATABASES, dies, drive, killed
from tests.engine.standing import LATER, begun
from tests.harness import (
    DONE,
    NOTHING_OWED,
    OK,
    UNWOUND,
    calls,
    do,
    end,
    error,
    fail,
    held,
    keys,
    now,
    ok,
    order,
    outcomes,
    rec,
    records,
    reject,
    seen,
)
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def test_one_key_whatever_happens() -> None:
    """All attempts carry one key: over retries, deaths, resumes.

    Hazard A1. Hazard A94. Hazard B9. Hazard B12. Hazard R28.
    It is stored with the intent, made of execution, path and direction, and handed to the compensation, which has its
    own.
    """
    a = do("a", fail(OSError), dies(), fail(OSError), ok(), attempts=3, comp=[fail(OSError), ok()], comp_attempts=2)
    x = Saga("s", a, do("b", fail(OSError)), on_failure="hold").start()
    killed(x)
    assert rec(x, "a").idempotency_key == f"saga:{x.pk}:a:forward"
    assert end(drive(x)) == held("step_failed")
    x.resume()
    drive(x)
    x.unwind()
    assert end(drive(x)) == UNWOUND
    assert keys("a") == {f"saga:{x.pk}:a:forward"} and calls("a") == 4
    assert keys("~a") == {f"saga:{x.pk}:a:compensate"} and calls("~a") == 2
    assert {one["forward_key"] for one in seen("~a")} == keys("a")


def test_a_step_used_twice_has_two_keys() -> None:
    """Hazard B4, Hazard B11, Hazard B176. Each use is a call of its own: own key, own output, own compensation."""
    pay = do("pay", ok(lambda amount: amount), comp=OK, takes="amount")
    tip = pay.bind(amount=2).named("tip")
    x = drive(Saga("s", pay, tip, do("c", fail(OSError))).start(amount=9))
    assert keys("pay") == {f"saga:{x.pk}:{path}:forward" for path in ("pay", "tip")}
    assert [one["result"] for one in seen("~pay")] == [2, 9]
    assert outcomes(x) == {"pay": "compensated", "tip": "compensated"}


def test_attempts_are_counted_over_deaths() -> None:
    """Counted before the call: deaths use attempts up, and a claim begins no new count.

    Hazard A4. Hazard A17. Hazard B55.
    A step found running is not taken for done.
    """
    x = Saga("s", do("a", dies(), dies("after"), fail(OSError), attempts=3, comp=OK)).start()
    for attempt in (1, 2):
        killed(x)
        assert (rec(x, "a").attempt, rec(x, "a").status) == (attempt, "running")
    assert end(drive(x)) == UNWOUND
    assert order() == ["a", "a", "a", "~a"]
    assert [one["outcome"] for one in rec(x, "a").attempts] == ["lost", "lost", "raised", "returned"]


def test_the_last_attempt_was_lost() -> None:
    """Hazard R4, Hazard R31. Nobody knows whether it happened: it failed, says why, and is compensated as unknown."""
    x = Saga("s", do("a", comp=OK), do("b", dies(), comp=OK)).start()
    killed(x)
    assert end(drive(x)) == UNWOUND
    assert order() == ["a", "b", "~b", "~a"]
    assert "its worker died" in error(x, "b") and "its worker died" in now(x).error.text
    assert (seen("~b")[0]["outcome"], rec(x, "b").outcome_known) == ("unknown", False)


def test_what_is_completed_is_not_called_again() -> None:
    """Hazard A5. Whoever goes on finds the output of what has run, and calls what has not."""
    x = Saga("s", do("a", ok(5)), do("b", dies(), ok(lambda a: a + 1), takes="a", attempts=2)).start()
    killed(x)
    assert end(drive(x)) == DONE
    assert (calls("a"), rec(x, "b").output) == (1, 6)


def test_what_a_binding_says_is_asked_once() -> None:
    """Hazard A128, Hazard B15, Hazard R26. Arguments are stored before the first attempt; all that follow see the same.

    A compensation too; that the code of the binding has changed its mind matters to nobody.
    """
    asked: list[int] = []

    def price() -> int:
        asked.append(1)
        return len(asked)

    b = do("b", fail(OSError), dies(), fail(OSError), attempts=3, comp=OK, takes="cost").bind(cost=price)
    x = Saga("s", do("a"), b).start()
    killed(x)
    assert end(drive(x)) == UNWOUND
    assert asked == [1] and [one["cost"] for one in seen("b")] == [1, 1, 1] and seen("~b")[0]["cost"] == 1
    assert rec(x, "b").arguments == {"cost": 1}


def test_arguments_that_cannot_be_made() -> None:
    """Hazard R31, Hazard B151. What a binding raises fails the step with its body uncalled: nothing is owed for it."""
    b = do("b", comp=OK, takes="cost", attempts=3).bind(cost=lambda a: a["no such item"])
    x = begun(do("a", ok({}), comp=OK), b)
    assert end(x) == UNWOUND
    assert order() == ["a", "~a"] and "KeyError" in error(x, "b")
    assert rec(x, "b").attempt == 0


@pytest.mark.parametrize(
    "raised", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError("the loop is closing")]
)
def test_an_exception_of_pythons_own_is_a_failed_attempt(raised: BaseException) -> None:
    """Hazard B81, Hazard B203. It ends neither the worker nor the execution in any other way than a failure does."""
    x = begun(do("a", comp=OK), do("b", fail(raised), attempts=3, comp=OK))
    assert end(x) == UNWOUND
    assert order() == ["a", "b", "~b", "~a"]
    assert type(raised).__name__ in error(x, "b")
    assert not connection.in_atomic_block


def test_how_a_failure_is_read() -> None:
    """Hazard R31, Hazard A62. Rejected, and nothing else that was raised, says that nothing is owed."""
    told = {reject(): False, fail(GiveUp("no")): True, fail(OSError): True, fail(RetryLater(0)): True}
    for entry, owed in told.items():
        ledger.clear()
        x = begun(do("a", entry, attempts=2, comp=OK))
        assert end(x) == (UNWOUND if owed else NOTHING_OWED), entry
        assert calls("~a") == owed


def test_a_rejection_does_not_clear_an_earlier_attempt() -> None:
    """Design §9.2. Hazard A62. The first attempt may have happened, whatever the second one is told."""
    x = begun(do("a", fail(OSError), reject("you have it already"), attempts=2, comp=OK))
    assert end(x) == UNWOUND and calls("~a") == 1
    assert seen("~a")[0]["outcome"] == "failed"


@pytest.mark.parametrize("delay", [float("inf"), float("nan"), 1e300, -5, timedelta.max])
def test_any_delay_that_a_body_asks_for(delay: Any) -> None:
    """Endless, no number, or in the past: recorded, and the body is not called before its time.

    Hazard A12. Hazard A112.
    """
    x = begun(do("a", fail(RetryLater(delay)), ok(), attempts=2))
    at_once = not delay > 0 if isinstance(delay, float | int) else False
    assert (now(x).status, calls("a")) == (("completed", 2) if at_once else ("waiting", 1))
    x = x if at_once else x.resume(reason="no, now")
    assert end(drive(x)) == DONE


@pytest.mark.parametrize("atomic", [False, True])
def test_a_very_long_timeout(atomic: bool) -> None:
    """Hazard A12. Ten years fire neither at once nor not at all; no limit of the database or a timer overflows."""
    ten_years = 3660 * 86400
    assert end(begun(do("a", timeout=ten_years, atomic=atomic))) == DONE


def test_no_timeout_is_no_endless_compensation() -> None:
    """A step may run without limit; its compensation is interrupted, and stops for an operator.

    Hazard A68. Hazard A69.
    """

    def wait() -> None:
        while True:
            pass

    @step(timeout=None)
    def a() -> None:
        pass

    a.compensate(timeout=0.05, attempts=1)(wait)
    x = begun(a, do("b", fail(OSError)))
    assert end(x) == ("stuck", "stuck", "compensation_failed")
    assert "StepTimeout" in rec(x, "a").compensation_error.type


@pytest.mark.parametrize("value", [None, 0, False, "", [], {}])
def test_nothing_is_a_value(value: Any) -> None:
    """Hazard B17, Hazard B18. What a step returns is there for the next one, and for who asks, however little it is."""
    saga = Saga("s", do("a", ok(value)), do("b", ok(lambda a: a), takes="a"), output=ref("b"))
    x = drive(saga.start())
    assert x.output == value and type(x.output) is type(value)
    assert seen("b") == [{"a": value}]
    assert x.output_text is not None


def test_what_is_asked_for_is_what_is_done() -> None:
    """One means one: attempts are all tries, here as in every worker; 0 is refused.

    Hazard A3. Hazard B27. Hazard B30.
    """
    for attempts in (1, 2, 5):
        ledger.clear()
        assert end(begun(do("a", fail(OSError), attempts=attempts), do("b"))) == NOTHING_OWED
        assert order() == ["a"] * attempts


def test_a_body_holds_no_transaction_of_ours() -> None:
    """Hazard B52. Neither a lock nor a connection is held over an external body: what it asks of others can happen."""
    inside: list[bool] = []

    @step
    def a() -> None:
        inside.append(any(one.in_atomic_block for one in connections.all(initialized_only=True)))

    assert end(begun(a)) == DONE
    assert inside == [False]


def test_an_optional_step_that_fails() -> None:
    """It is recorded and the saga goes on; what it may have done stays owed, and is undone if a later one fails."""
    x = begun(do("a", fail(OSError), comp=OK, required=False), do("b"))
    assert end(x) == DONE and rec(x, "a").status == "failed" and order() == ["a", "b"]
    ledger.clear()
    y = begun(do("a", fail(OSError), comp=OK, required=False), do("b", fail(KeyError)))
    assert end(y) == UNWOUND and order() == ["a", "b", "~a"]
    assert now(y).error.type == "KeyError" and now(y).failing_path == "b"


def test_a_wait_belongs_to_the_record() -> None:
    """When it is due was recorded once; being looked at, or a death of a worker, moves nothing.

    Hazard B68. Hazard B101.
    """
    clock.set(clock.now())
    x = begun(do("a", fail(OSError), ok(), attempts=2, backoff=LATER), do("b", fail(OSError), ok(), attempts=2))
    due = rec(x, "a").due_at
    assert due == clock.now() + timedelta(seconds=60)
    clock.forward(30)
    assert drive(x).due_at == due
    clock.forward(30)
    assert end(drive(x)) == DONE
    assert [one["attempt"] for record in records(x) for one in record.attempts] == [1, 2, 1, 2]


def test_past_the_pivot_nothing_is_guessed() -> None:
    """Design §8.8. Hazard R4. Where nothing can be undone any more, a lost last attempt is an operator's to judge."""
    for nodes in ([do("a", dies()), Pivot(), do("b")], [do("z"), Pivot(), do("a", dies()), do("b")]):
        ledger.clear()
        x = Saga("s", *nodes).start()
        killed(x)
        assert end(drive(x)) == held("outcome_unknown") and now(x).failing_path == "a"
        x.skip("a", happened=True, output=1, reason="seen there")
        assert end(drive(x)) == DONE and calls("a") == 1
