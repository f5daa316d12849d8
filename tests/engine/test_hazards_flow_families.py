"""Hazards of two that are driven apart: what one of them is asked, told or denied while the other goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from saga_app import Child, ForEach, Milestone, Parallel, Pivot, Saga, Sleep, Try, Wait, While, executor, ref
from tests.engine.drives import DATABASES
from tests.engine.flows import later, run, settled, statuses
from tests.harness import (
    CANCELLED,
    DONE,
    OK,
    UNWOUND,
    calls,
    child,
    children,
    do,
    end,
    error,
    fail,
    fix,
    halted,
    held,
    now,
    ok,
    order,
    outcomes,
    rec,
    told,
    waiting_at,
)
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

T = datetime(2024, 5, 1, tzinfo=UTC)


def kid(*nodes: Any, **options: Any) -> Child:
    return Child(Saga("kid", *nodes, **options))


def test_a_child_ends_while_its_parent_is_suspended() -> None:
    """Hazard B121. The fact is kept; the parent does not move before it is resumed, and then goes on at once."""
    x = run(Saga("p", kid(Wait("go")), do("b")))
    x.suspend(reason="a pause")
    x = settled(x)
    child(x, "kid").signal("go")
    assert settled(x).status == "suspended" and end(child(x, "kid")) == DONE and calls("b") == 0
    x.resume()
    assert end(settled(x)) == DONE


@pytest.mark.parametrize("cause", ["failure", "cancel"])
def test_a_suspended_child_does_not_keep_its_parent_from_going_back(cause: str) -> None:
    """Hazard B195. A cancel lifts the pause of whoever is asked."""
    turn = [Wait("turn"), do("c", fail(ValueError))]
    x = run(Saga("p", do("a", comp=OK), Parallel(kid=kid(do("k", comp=OK), Wait("go")), turn=turn)))
    child(x, "kid").suspend()
    settled(x)
    assert child(x, "kid").status == "suspended"
    x.cancel() if cause == "cancel" else x.signal("turn")
    assert end(settled(x)) == (CANCELLED if cause == "cancel" else UNWOUND)
    assert end(child(x, "kid")) == CANCELLED and calls("~k") == 1


def test_a_child_that_is_suspended_while_it_is_undone() -> None:
    """Hazard A115. Its parent waits with it, and neither goes on to anything else."""
    x = run(Saga("p", do("a", comp=OK), kid(do("k1", comp=OK), do("k2", comp=[fail(OSError)])), do("b", fail(OSError))))
    one = child(x, "kid")
    assert end(x) == halted("child_stuck")
    fix("~k2", fail(OSError), ok())
    one.resume()
    one.suspend()
    x = settled(x)
    assert (child(x, "kid").status, now(x).status, calls("~a")) == ("suspended", "compensating", 0)
    assert told(one.cancel) == "suspended"
    one.resume()
    x = settled(x)
    one.resume() if now(one).status == "stuck" else None
    assert end(settled(x)) == UNWOUND and calls("~k1") == calls("~a") == 1


def test_another_child_for_one_that_failed() -> None:
    """Hazard A119. Resumed after a failure: another is born in the place of the one that failed."""
    x = run(Saga("p", do("a", comp=OK), kid(do("k1", comp=OK), do("k2", fail(OSError))), do("b"), on_failure="hold"))
    assert end(x) == held("step_failed") and end(children(x)[0]) == UNWOUND
    fix("k2", ok())
    x.resume(reason="it is back")
    x = settled(x)
    assert end(x) == DONE and [end(one) for one in children(x)] == [UNWOUND, DONE]
    assert order() == ["a", "k1", "k2", "~k1", "k1", "k2", "b"] and rec(x, "kid").attempt == 2


def test_the_one_that_took_its_place_is_undone() -> None:
    """Hazard B178. Hazard B179. And the first one, which has undone itself, is not."""
    x = run(Saga("p", kid(do("k1", comp=OK), do("k2", fail(OSError))), Wait("go"), on_failure="hold"))
    fix("k2", ok())
    x.resume(reason="it is back")
    x = settled(x)
    x.cancel()
    x = settled(x)
    assert end(x) == CANCELLED and [end(one) for one in children(x)] == [UNWOUND, CANCELLED] and calls("~k1") == 2


@pytest.mark.parametrize("happened", [True, False])
def test_an_operator_says_what_became_of_a_child(happened: bool) -> None:
    """Hazard R12. The parent goes on with what they say; nothing of it is owed that nobody could undo."""
    x = run(
        Saga(
            "p",
            kid(do("k", fail(OSError)), output=ref("k")),
            do("b", takes="kid"),
            on_failure="hold",
            output=ref("kid"),
        )
    )
    assert end(x) == held("step_failed")
    x.skip("kid", happened=happened, output=7, reason="done by hand")
    x = settled(x)
    assert end(x) == (DONE if happened else held("step_failed")) and (not happened or x.output == 7)


def test_a_deadline_turns_a_family_back() -> None:
    """Hazard A126. The parent's time is up: a live child is cancelled first, whatever time it has itself."""
    clock.set(T)
    x = run(Saga("p", do("a", comp=OK), kid(do("k", comp=OK), Wait("go"), timeout=9000), timeout=60))
    assert now(x).due_at == now(x).deadline_at
    x = later(x, 60)
    assert end(x) == UNWOUND and end(child(x, "kid")) == CANCELLED and order() == ["a", "k", "~k", "~a"]
    assert "DeadlineExceeded" in now(x).error.type


@pytest.mark.parametrize("stop", ["suspended", "stuck"])
def test_a_deadline_is_not_judged_while_nobody_may_go_on(stop: str) -> None:
    """Hazard B86. What an operator has stopped does not fail behind their back."""
    clock.set(T)
    mid = Wait("go") if stop == "suspended" else do("m", fail(OSError), ok())
    on_failure: Any = "unwind" if stop == "suspended" else "hold"
    x = run(Saga("p", do("a", comp=OK), mid, do("b"), timeout=60, on_failure=on_failure))
    x.suspend() if stop == "suspended" else None
    x = later(settled(x), 600)
    assert now(x).status == stop
    x.resume(reason="go on")
    x = settled(x)
    if stop == "suspended":
        assert end(x) == UNWOUND and "DeadlineExceeded" in now(x).error.type
    else:
        assert end(x) == DONE  # an operator who resumes what is stuck gives it the same time again


def test_who_skips_a_step_means_it_to_go_on() -> None:
    """Hazard B86. A deadline that passed while it was stuck begins anew: it does not fail behind the skip."""
    clock.set(T)
    x = run(Saga("p", do("a", comp=OK), do("m", fail(OSError)), do("b"), timeout=60, on_failure="hold"))
    x = later(x, 600)
    x.skip("m", happened=False, reason="not needed")
    assert end(settled(x)) == DONE and now(x).deadline_at == T + timedelta(seconds=660)


def test_past_the_pivot_a_deadline_stops() -> None:
    """Hazard A91. It is not turned back: an operator has to help it on."""
    clock.set(T)
    x = run(Saga("p", do("a", comp=OK), Pivot(), Wait("go"), do("b"), timeout=60))
    x = later(x, 61)
    assert end(x) == held("failed_past_pivot") and "DeadlineExceeded" in now(x).error.type
    x.resume(reason="it will come")
    x = settled(x)
    assert waiting_at(x) == "go"
    x.signal("go")
    assert end(settled(x)) == DONE


def test_a_cancel_that_waits_when_something_fails() -> None:
    """Hazard B204. Design §9.8: it wins, and the error stays."""
    x = Saga("p", Parallel(do("a", comp=OK), do("b", fail(ValueError("no")), comp=OK)), do("c")).start()
    executor.drive(x.pk, holder="host:1")  # they are in the queue, and nobody has begun
    x.cancel(reason="not wanted")
    x = settled(x)
    assert end(x)[0] == "cancelled" and now(x).unwind_cause == "cancel" and calls("c") == 0


@pytest.mark.parametrize("wait", [lambda: Wait("go"), lambda: Sleep(3600), lambda: kid(Wait("go"))])
def test_what_waits_in_a_failed_group_ends_with_it(wait: Any) -> None:
    """Hazard B165. Hazard B168. Nobody waits an hour, a signal or a person for what is given up."""
    x = run(Saga("s", do("t", comp=OK), Parallel(a=[do("a", comp=OK), wait(), do("never")], b=do("b", fail(OSError)))))
    assert end(x) == UNWOUND and calls("never") == 0 and calls("~a") == calls("~t") == 1
    assert "completed" not in {status for path, status in statuses(x).items() if path in ("go", "sleep", "kid")}


def test_everything_in_everything() -> None:
    """Hazard A43. Nodes in each other go forward and back, each record at a path of its own."""
    inner = Try(ForEach("item", lambda n: list(range(n)), do("x", comp=OK, takes="item")), recover=[do("no")])
    loop = While(lambda iteration: iteration < 2, Milestone("turn"), Parallel(do("p", comp=OK), q=[inner])).named("w")
    x = run(Saga("deep", do("a", comp=OK), loop, do("z", fail(ValueError))), n=2)
    assert end(x) == ("failed", "rested", "") and now(x).rested_at == "turn"
    assert {path for path, outcome in outcomes(x).items() if outcome} == {"w[1]/p", "w[1]/item[0]/x", "w[1]/item[1]/x"}
    assert error(x, "z").startswith("ValueError")
