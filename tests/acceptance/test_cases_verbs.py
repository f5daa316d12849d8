"""Cases about operators' verbs: cancel at any moment, and no way back past the pivot."""

from __future__ import annotations

from typing import Any

from saga_app import Backoff, Happened, Pivot, Saga
from tests.harness import (
    CANCELLED,
    DONE,
    OK,
    UNWOUND,
    calls,
    clear,
    clock,
    do,
    end,
    fail,
    fix,
    halted,
    hang,
    held,
    now,
    ok,
    order,
    outcomes,
    reached,
    rows_of,
    run,
    settle,
    told,
    why,
    work,
    working,
)
from tests.script import Entry
from tests.site.models import Declined

IN_AN_HOUR = Backoff(first=3600, max=3600, jitter=0)


def test_c40_cancel_between_two_attempts() -> None:
    """Case C40. Cancel while the run is between retries: honoured at once, and it does not wake again."""
    flaky = do("flaky", fail(OSError), attempts=9, backoff=IN_AN_HOUR)
    x = run(Saga("x", do("a", comp=[hang(1) >> ok()]), flaky, do("down")))
    assert now(x).status == "waiting"
    with working(1):
        assert told(x.cancel, reason="replaced") == ""
        told(x.cancel)
        settle()
    assert end(x) == CANCELLED and order()[-1] == "~a" and calls("~a") == 1
    assert calls("down") == 0 and calls("flaky") <= 1
    before = rows_of(x)
    clock.forward(2 * 86_400)
    work()
    assert rows_of(x) == before
    assert told(x.cancel) != ""


def test_c40_a_running_step_is_let_finish() -> None:
    """Case C40. Then it is undone like any other."""
    x = Saga("y", do("a", hang(3) >> ok(), comp=OK), do("b")).start()
    with working(1):
        reached("a began")
        x.cancel()
        settle()
    assert end(x) == CANCELLED and order() == ["a", "~a"] and outcomes(x) == {"a": "compensated"}


def test_c40_a_failed_compensation_halts_a_cancel_too() -> None:
    """Case C40. The operator reads why it was cancelled, and ends it."""
    waits = do("w", fail(OSError), attempts=2, backoff=IN_AN_HOUR)
    x = run(Saga("z", do("t", comp=OK), do("a", comp=[fail(OSError)]), waits))
    x.cancel(reason="no longer wanted")
    work()
    assert end(x) == halted("compensation_failed") and outcomes(x) == {"t": "", "a": "failed"}
    assert "no longer wanted" in why(x)
    x.abandon(reason="by hand")
    assert end(x) == ("cancelled", "abandoned", "") and outcomes(x) == {"t": "abandoned", "a": "failed"}


def test_c40_nothing_has_begun() -> None:
    """Case C40. There is nothing to undo."""
    x = Saga("n", do("a", comp=OK)).start()
    x.cancel()
    work()
    assert end(x) == ("cancelled", "not_applicable", "") and order() == []


def deal(pay: Entry, ship: Entry = ok(), **options: Any) -> Saga:  # noqa: B008 - immutable
    paid = do("pay", pay, comp=OK, timeout=1, **options)
    return Saga("x", do("a", comp=OK), paid, Pivot(), do("ship", ship, attempts=3))


def test_c46_past_the_pivot_only_forward() -> None:
    """Case C46. Past the pivot there is no way back."""
    x = run(deal(ok(), fail(OSError)))
    assert end(x) == held("failed_past_pivot") and order() == ["a", "pay", "ship", "ship", "ship"]
    assert outcomes(x) == {"a": "", "pay": ""}
    fix("ship", ok())
    x.resume(reason="carrier is back")
    work()
    assert end(x) == DONE and calls("pay") == 1 and calls("ship") == 4 and calls("~a") == calls("~pay") == 0


def test_c46_the_step_before_the_pivot_still_unwinds() -> None:
    """Case C46. Unless nobody knows whether it happened: then nothing is guessed."""
    x = run(deal(fail(Declined), rejected_on=(Declined,)))
    assert end(x) == UNWOUND and order() == ["a", "pay", "~a"]
    x = run(deal(fail(OSError)))
    assert end(x) == UNWOUND and order() == ["a", "pay", "~pay", "~a"]
    x = run(deal(hang(60)))
    assert end(x) == held("outcome_unknown") and order() == ["a", "pay"]
    x.unwind(reason="the bank says: not charged")
    work()
    assert end(x) == UNWOUND and order() == ["a", "pay", "~pay", "~a"]
    x = run(deal(hang(60), find=Happened("c1")))
    assert end(x) == DONE and order() == ["a", "pay", "ship"]


def test_c46_cancel_past_it_is_refused() -> None:
    """Case C46. While the step behind it runs."""
    clear()
    x = deal(ok(), hang(3) >> ok()).start()
    with working(1):
        reached("ship began")
        code = told(x.cancel)
        settle()
    assert code != "" and end(x) == DONE and order() == ["a", "pay", "ship"]
