"""Hazards of stopping: a cancel or a suspend that comes before, while, and after something happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saga_app import Context, Pivot, Saga, engine, executor, step
from saga_app.models import Execution
from tests.engine.drives import DATABASES, drive
from tests.engine.standing import LATER, STATES, begun, compensating, pending, stuck_forward, suspended, waiting
from tests.forking import race
from tests.harness import (
    CANCELLED,
    DONE,
    OK,
    calls,
    do,
    end,
    events,
    fail,
    halted,
    held,
    now,
    ok,
    order,
    rec,
    rows_of,
    told,
)
from tests.script import Entry
from tests.threads import at_once

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def meanwhile(verb: Callable[..., Any]) -> Entry:
    """An entry of a plan: somebody else uses a verb on whatever runs, on a connection of their own."""

    def call(_call: Any) -> int:
        (x,) = Execution.objects.filter(lease_holder__isnull=False)
        at_once(lambda: verb(x.pk))
        return 1

    return Entry(call)


def test_cancelled_while_a_step_runs() -> None:
    """The step is let finish, no other begins, and all that happened is undone.

    Hazard B204. Hazard B201. Hazard B202.
    """
    x = begun(do("a", comp=OK), do("b", meanwhile(engine.cancel), comp=OK), do("c"))
    assert end(x) == CANCELLED
    assert order() == ["a", "b", "~b", "~a"]
    assert rec(x, "b").status == "completed"


def test_cancelled_while_the_step_before_the_pivot_runs() -> None:
    """Design §8.2. Hazard A91. A cancel that was accepted is never written over by the pivot, nor by the end."""
    x = begun(do("a", comp=OK), do("b", meanwhile(engine.cancel), comp=OK), Pivot(), do("c"))
    assert end(x) == CANCELLED and now(x).pivoted_at is None
    y = begun(do("a", meanwhile(engine.cancel), comp=OK))
    assert end(y) == CANCELLED


def test_a_failure_and_a_cancel_at_once() -> None:
    """Design §9.8. The cancel wins the end, and the error stays."""
    x = begun(do("a", comp=OK), do("b", meanwhile(engine.cancel) >> fail(ValueError("real"))))
    assert end(x) == CANCELLED and now(x).error.text == "ValueError: real"
    assert (now(x).unwind_cause, calls("~a")) == ("cancel", 1)


def test_a_step_may_ask() -> None:
    """A long body sees that it is no longer wanted, and may end early by raising."""

    @step
    def a(ctx: Context) -> bool:
        before = ctx.cancel_requested
        at_once(lambda: engine.cancel(ctx.execution_id))
        return before is False and ctx.cancel_requested

    x = begun(a)
    assert end(x) == ("cancelled", "not_applicable", "") and rec(x, "a").output is True


@pytest.mark.parametrize(
    ("make", "calls_then"),
    [(pending, []), (waiting, ["a", "b", "~a"]), (suspended, ["a", "b", "~a"]), (stuck_forward, ["a", "b", "~a"])],
)
def test_cancelled_while_nobody_drives_it(make: Callable[[], Execution], calls_then: list[str]) -> None:
    """Hazard B196, Hazard B197, Hazard B62. It is due at once; what it did is undone, the reason is kept.

    A step in backoff is not tried again. With nothing done, nothing is said to have been rolled back.
    """
    x = make()
    x.cancel(reason="the customer called")
    assert now(x).stuck_reason == "" and now(x).due_at is not None
    assert end(drive(x)) == (CANCELLED if calls_then else ("cancelled", "not_applicable", ""))
    assert (order(), now(x).cancel_reason) == (calls_then, "the customer called")


def test_cancelled_twice() -> None:
    """Hazard B198. The second is told that there was a first; what was done is undone once."""
    x = waiting()
    x.cancel(reason="one")
    assert told(x.cancel, reason="two") == "cancel_requested"
    assert end(drive(x)) == CANCELLED and calls("~a") == 1
    assert told(x.cancel, reason="three") == "terminal"
    assert now(x).cancel_reason == "one" and len(events(x, "cancel")) == 1


@pytest.mark.parametrize("state", ["completed", "failed", "cancelled", "compensating", "stuck_backwards"])
def test_too_late_to_cancel(state: str) -> None:
    """Hazard B199. What has ended, or goes back already, is left as it is."""
    x = STATES[state]()
    before = rows_of(x)
    assert told(x.cancel, reason="?") in ("terminal", "unwinding")
    assert rows_of(x) == before


def test_a_cancel_against_the_end() -> None:
    """Hazard B201, Hazard B202. Whoever is first, wins; there is no third end."""
    for _ in range(5):
        x = Saga("s", do("a", comp=OK)).start()
        refusal, _ = race(lambda x=x: told(engine.cancel, x.pk), lambda x=x: executor.drive(x.pk, holder="host:1"))
        drive(x)
        assert end(x) in ([DONE] if refusal else [CANCELLED, ("cancelled", "not_applicable", "")])


def test_a_cancel_whose_unwind_halts() -> None:
    """Hazard B194, Hazard B93. It stays a cancel: whatever an operator does, it ends cancelled."""
    x = begun(do("a", comp=[fail(OSError), ok()]), do("b", fail(OSError), attempts=2, backoff=LATER))
    x.cancel(reason="no")
    assert end(drive(x)) == halted("compensation_failed")
    x.resume(reason="again")
    assert end(drive(x)) == CANCELLED


def test_suspended_while_a_step_runs() -> None:
    """The step finishes and is recorded; nothing begins until somebody resumes, whatever wakes it."""
    x = begun(do("a", meanwhile(engine.suspend)), do("b"))
    assert (x.status, order(), x.due_at) == ("suspended", ["a"], None)
    assert drive(x).status == "suspended"
    x.resume()
    assert end(drive(x)) == DONE and order() == ["a", "b"]


def test_suspended_and_then_stuck_or_ended() -> None:
    """What comes first stays: a step that fails for good while a suspend waits is suspended first, and stuck after."""
    x = begun(do("a", meanwhile(engine.suspend) >> fail(OSError)), on_failure="hold")
    assert x.status == "suspended"
    x.resume()
    assert end(drive(x)) == held("step_failed")
    assert compensating().status == "compensating"


def test_both_are_asked_for() -> None:
    """Both are honoured: it turns back, pauses there, and once resumed it undoes what was done."""
    x = waiting()
    x.suspend(reason="wait")
    x.cancel(reason="no")
    x = drive(x)
    assert (x.status, x.unwind_cause, order()) == ("suspended", "cancel", ["a", "b"])
    assert end(drive(x.resume())) == CANCELLED
