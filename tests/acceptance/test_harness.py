"""The harness itself: what a test says happens, does happen, and what it asks is answered truly."""

from __future__ import annotations

import os
import time

import pytest

from saga_app import Backoff, Saga
from saga_app.models import StepRecord
from saga_app.store.transactions import alias
from tests import ledger
from tests.harness import (
    DONE,
    OK,
    UNWOUND,
    block,
    calls,
    check_promises,
    clear,
    clock,
    die,
    do,
    elsewhere,
    end,
    error,
    fail,
    fix,
    hang,
    kill_worker,
    lapse,
    lease,
    logged,
    now,
    ok,
    order,
    outcomes,
    paths,
    pause_worker,
    per,
    pids,
    race,
    reached,
    rec,
    reject,
    run,
    same,
    seen,
    settle,
    told,
    until,
    work,
    working,
)


def test_bodies_follow_their_plans() -> None:
    s = Saga(
        "s",
        do("a", ok(lambda v: v + 1), comp=OK, takes="v"),
        do("b", fail(OSError), ok(), attempts=2),
        do("c", reject()),
    )
    x = run(s, v=1)
    assert end(x) == UNWOUND and order() == ["a", "b", "b", "c", "~a"] and paths() == order()
    assert seen("a") == [{"v": 1}] and seen("~a")[0] | {"forward_key": ""} == {
        "v": 1, "result": 2, "outcome": "completed", "forward_key": "",
    }  # fmt: skip
    assert outcomes(x) == {"a": "compensated"}
    assert os.getpid() not in pids()


def test_a_plan_may_depend_on_an_argument() -> None:
    s = Saga("s", do("a", per("v", {2: [fail(OSError), ok()]}), attempts=2, takes="v"))
    run(s, v=1)
    assert calls("a") == 1
    run(s, v=2)
    assert calls("a") == 2


def test_a_new_plan_reaches_every_process() -> None:
    s = Saga("s", do("a", fail(OSError), attempts=50), do("b", until("go began")))
    x = s.start()
    with working(1):
        reached("a raised")
        fix("a", fail(ValueError), ok(7))
        reached("a done")
        assert elsewhere(lambda: calls("a")) == calls("a")
        s2 = Saga("go", do("go"))
        s2.run()
        settle()
    assert end(x) == DONE and rec(x, "a").output == 7


@pytest.mark.parametrize(
    ("when", "called", "attempt"), [("before", 1, 2), ("inside", 2, 2), ("after", 2, 2), ("recorded", 1, 1)]
)
def test_a_worker_dies_when_it_is_told_to(when: str, called: int, attempt: int) -> None:
    x = Saga("s", do("a", die(when), ok(), attempts=2), do("b", attempts=2)).start()
    work()
    assert now(x).lease_holder and len(pids()) == (when != "before")
    lapse()
    work()
    assert end(x) == DONE and calls("a") == called and calls("b") == 1 and rec(x, "a").attempt == attempt


@pytest.mark.parametrize("when", ["before", "inside", "after", "recorded"])
def test_a_worker_dies_in_an_atomic_body(when: str) -> None:
    """Its first attempt is counted with its commit, so that the plan's first entry is for the second one as well."""
    x = Saga("s", do("a", die(when), ok(), attempts=3, atomic=True), do("b")).start()
    work()
    assert now(x).status == ("running" if when == "recorded" else "pending") and now(x).lease_holder
    for _ in range(2):
        lapse()
        work()
    assert end(x) == DONE and calls("a") == {"before": 1, "inside": 3, "after": 3, "recorded": 1}[when]
    assert calls("b") == 1


def test_nothing_reaches_a_blocked_body_but_the_hard_stop() -> None:
    x = Saga("s", do("a", block(20), timeout=0.5)).start()
    with lease(1), working(1):
        settle()
    assert end(x)[0] == "failed" and rec(x, "a").outcome_known is False and "WorkerLost" in error(x, "a")


def test_workers_can_be_killed_and_frozen() -> None:
    x = Saga("s", do("a", hang(20), ok(), attempts=2)).start()
    with lease(1), working(1):
        reached("a began")
        kill_worker(x)
        settle()
    assert end(x) == DONE and calls("a") == 2 and len(pids()) == 2
    clear()
    y = Saga("t", do("a", hang(0.3) >> ok())).start()
    with working(1):
        reached("a began")
        wake = pause_worker(y)
        time.sleep(0.4)
        assert not ledger.has("a done")
        wake()
        settle()
    assert end(y) == DONE


def test_the_clock_is_one_for_all_processes() -> None:
    x = Saga("s", do("a", fail(OSError), ok(), attempts=2, backoff=Backoff(first=60, max=60))).start()
    with working(1):
        reached("a raised")
        clock.forward(61)
        reached("a done")
        settle()
    assert end(x) == DONE
    work(skip=True)


def test_races_and_other_processes() -> None:
    me = os.getpid()
    assert elsewhere(os.getpid) != me and race(os.getpid, os.getpid) == [me, me]
    with pytest.raises(ZeroDivisionError):
        elsewhere(lambda: 1 / 0)
    x = Saga("s", do("a")).start()
    work()
    assert told(x.cancel) == "terminal"


def test_a_worker_logs_where_the_test_reads() -> None:
    with lease(0.5), working(1):
        x = Saga("s", do("a", hang(1), ok(), attempts=2)).start()
        reached("a began")
        wake = pause_worker(x)
        lapse()
        work()
        wake()
        settle()
    assert logged("driven by somebody else", "WARNING") or logged("lost", "WARNING")


def test_same_means_the_same_types() -> None:
    assert same({"a": [1, (2.0, None)]}, {"a": [1, (2.0, None)]})
    assert not same({"a": 1}, {"a": True}) and not same([1.0], [1]) and not same((1,), [1])


def test_a_broken_promise_is_found() -> None:
    x = run(Saga("s", do("a", comp=OK), do("b", fail(OSError))))
    rows = StepRecord.objects.using(alias()).filter(execution_id=x.pk, name="a")
    rows.update(compensation_status="")
    with pytest.raises(AssertionError, match=r"P2 s .* a: owed"):
        check_promises()
    rows.update(compensation_status="compensated", idempotency_key="another")
    with pytest.raises(AssertionError, match="P4 s"):
        check_promises()
    rows.update(idempotency_key=seen("~a")[0]["forward_key"], attempt=0)
    with pytest.raises(AssertionError, match="P1 s"):
        check_promises()
    rows.update(attempt=1)
