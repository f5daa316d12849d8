"""Cases about steps that fail: what is owed then, how often they are tried, and what they leave behind."""

from __future__ import annotations

import itertools
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection

from saga_app import Backoff, DefinitionError, GiveUp, Happened, NotHappened, Saga, step
from saga_app.models import Execution
from tests import ledger
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
    halted,
    hang,
    keys,
    now,
    ok,
    order,
    outcomes,
    rec,
    run,
    seen,
    why,
    work,
)
from tests.script import Entry
from tests.site.models import Declined, Tag


def pay(*plan: Entry, comp: Any = OK, **options: Any) -> Saga:
    return Saga("p", do("hold", comp=OK), do("charge", *plan, comp=comp, **options))


def test_c13_what_did_nothing_is_not_undone_and_what_may_have_is() -> None:
    """Case C13. The failed step may have worked."""
    x = run(pay(fail(Declined), rejected_on=(Declined,)))
    assert end(x) == UNWOUND and order() == ["hold", "charge", "~hold"]
    assert outcomes(x) == {"hold": "compensated", "charge": ""}
    x = run(pay(fail(Declined)))
    assert end(x) == UNWOUND and order() == ["hold", "charge", "~charge", "~hold"]
    assert seen("~charge")[0]["outcome"] == "failed"
    x = run(pay(hang(60), timeout=1))
    assert end(x) == UNWOUND and order() == ["hold", "charge", "~charge", "~hold"]
    assert seen("~charge")[0]["outcome"] == "unknown"
    assert keys("charge") == {seen("~charge")[0]["forward_key"]} and keys("~charge").isdisjoint(keys("charge"))


@pytest.mark.parametrize(("plan", "options"), [(hang(60), {"timeout": 1}), (fail(Declined), {})])
def test_c13_a_compensation_that_needs_a_result_is_not_called_without_one(plan: Entry, options: Any) -> None:
    """Case C13. Nobody knows the charge: an operator decides, and is told the cures."""
    x = run(pay(plan, needs_result=True, **options))
    assert end(x) == halted("outcome_unknown") and order() == ["hold", "charge"]
    assert outcomes(x) == {"hold": "", "charge": ""} and "reconcile" in why(x)
    x.resolve("charge", reason="the bank says: no charge")
    work()
    assert end(x) == UNWOUND and outcomes(x) == {"hold": "compensated", "charge": "resolved"}
    assert calls("~charge") == 0


def test_c13_reconcile_may_know() -> None:
    """Case C13. It happened; it did not; it did not, and is tried again with the same key."""
    x = run(pay(hang(60), timeout=1, needs_result=True, find=Happened("c1")))
    assert end(x) == DONE and order() == ["hold", "charge"] and calls("?charge") == 1
    assert rec(x, "charge").output == "c1"
    x = run(pay(hang(60), timeout=1, find=NotHappened()))
    assert end(x) == UNWOUND and order() == ["hold", "charge", "~hold"]
    x = run(pay(hang(60), ok(), timeout=1, attempts=2, find=NotHappened()))
    assert end(x) == DONE and calls("charge") == 2 and len(keys("charge")) == 1


def test_c17_a_body_may_do_what_it_likes_to_transactions() -> None:
    """Case C17. Step code breaks the engine's transaction."""

    def dup() -> int:
        with suppress(IntegrityError):
            Tag.objects.create(name="x")  # already there
        return Tag.objects.get(name="x").pk

    def dup_and_no_more() -> None:
        with suppress(IntegrityError):
            Tag.objects.create(name="x")

    def bad() -> int:
        return Tag.objects.create(name="x").pk

    def leaves_open() -> None:
        connection.set_autocommit(False)

    one = step(attempts=1)
    Tag.objects.create(name="x")
    x = run(Saga("x", one(dup), do("b")))
    assert end(x) == DONE and order() == ["b"]
    x = run(Saga("y", do("t", comp=OK), one(bad)))
    assert end(x) == UNWOUND and order() == ["t", "~t"]
    assert "IntegrityError" in error(x, "bad") and now(x).deaths == 0
    for swallows in (dup, dup_and_no_more):  # one asks the database again, and one does not notice at all
        x = run(Saga("z", do("t", comp=OK), step(atomic=True, attempts=1)(swallows)))
        assert end(x) == UNWOUND and order() == ["t", "~t"] and "IntegrityError" in error(x, swallows.__name__)
    x = run(Saga("w", one(leaves_open), do("b")))
    assert end(x) == DONE and order() == ["b"]


def delays(x: Execution, name: str) -> list[float]:
    """Seconds between two calls of that body, by the clock of the test (a record keeps its last attempts only)."""
    moments = [one.at for one in ledger.begun("name = %s AND execution = %s", name, str(x.pk))]
    return [round(later - earlier, 3) for earlier, later in itertools.pairwise(moments)]


def test_c29_waits_grow_to_their_limit_and_never_overflow() -> None:
    """Case C29. Retry budgets: back-off overflow."""
    backoff = Backoff(first=1, factor=5, max=3600, jitter=0)
    x = Saga("x", do("a", *[fail(OSError)] * 60, ok(), attempts=100, backoff=backoff)).start()
    work(skip=True)
    assert end(x) == DONE and calls("a") == 61
    assert max(delays(x, "a")) == 3600 and delays(x, "a")[:3] == [1, 5, 25]


@pytest.mark.parametrize(
    "options",
    [
        {"first": 1, "factor": 2, "max": 1e18},
        {"first": 1e300, "factor": 1e300},
        {"first": 0, "factor": 0},
        {"first": timedelta.max, "max": timedelta.max},
        {"first": 1, "factor": 1e300, "max": timedelta(days=3650)},  # the largest that is accepted
    ],
)
def test_c29_an_absurd_wait_is_refused_or_waited(options: Any) -> None:
    """Case C29. Neither the job nor the worker goes down with it."""
    try:
        s = Saga("y", do("a", fail(OSError), attempts=5, backoff=Backoff(**options)))
    except DefinitionError:
        return
    x = run(s)
    work()
    assert now(x).status in {"waiting", "failed"} and now(x).deaths == 0 and "Overflow" not in error(x, "a")
    work(skip=True)
    assert end(x) == NOTHING_OWED and calls("a") == 5 and "Overflow" not in error(x, "a")


def test_c29_each_direction_has_a_budget_of_its_own() -> None:
    """Case C29. The compensation's own budget, and "do not retry"."""
    undo = [fail(OSError), fail(OSError), ok()]
    x = run(Saga("z", do("a", comp=undo, comp_attempts=3), do("b", fail(OSError), attempts=3)))
    assert end(x) == UNWOUND and order() == ["a", "b", "b", "b", "~a", "~a", "~a"]
    assert len(keys("~a")) == len(keys("b")) == 1
    for text in ("", "card blocked"):
        x = run(Saga("w", do("a", fail(GiveUp(text)), attempts=5)))
        assert end(x) == NOTHING_OWED and calls("a") == 1 and text in error(x, "a")
    x = run(Saga("v", do("a", fail(GiveUp("no")), comp=OK, attempts=5)))
    assert end(x) == UNWOUND and order() == ["a", "~a"]


@pytest.mark.parametrize("bad", [{"attempts": -1}, {"attempts": 0}, {"attempts": 1.5}, {"timeout": -1}])
def test_c29_nonsense_is_refused_when_it_is_written(bad: Any) -> None:
    """Case C29. In a step."""
    with pytest.raises(DefinitionError):
        do("a", **bad)


@pytest.mark.parametrize("bad", [{"factor": float("nan")}, {"first": -5}, {"max": -1}])
def test_c29_nonsense_in_a_backoff_too(bad: Any) -> None:
    """Case C29. In a backoff."""
    with pytest.raises(DefinitionError):
        do("a", backoff=Backoff(**bad))
