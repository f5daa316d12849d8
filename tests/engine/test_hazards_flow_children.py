"""Hazards of executions in executions, on the way forward: nobody polls, and what became of a child is in its rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from saga_app import Backoff, Child, ForEach, Parallel, Pivot, Saga, Wait, executor, ref
from saga_app.models import Execution
from saga_app.queue import inline
from tests.engine.drives import DATABASES, dies, killed
from tests.engine.flows import later, run, settled
from tests.harness import (
    DONE,
    NOTHING_OWED,
    OK,
    UNWOUND,
    calls,
    child,
    children,
    do,
    end,
    error,
    events,
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
)
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

T = datetime(2024, 5, 1, tzinfo=UTC)
IN_AN_HOUR = Backoff(first=3600, max=3600, jitter=0)


def parent(*nodes: Any, **options: Any) -> Saga[Any]:
    """A parent of one child of these nodes, with a step before it and one after."""
    return Saga("p", do("a", comp=OK), Child(Saga("kid", *nodes, **options)), do("b", comp=OK))


def test_a_parent_that_waits_holds_nobody() -> None:
    """Hazard R8. Hazard B120. Hazard B123. One worker drives both; the parent is not due before the child has ended."""
    x = Saga("p", *[Child(Saga(f"kid{i}", Wait("go"))).named(f"kid{i}") for i in range(2)]).start()
    x = settled(x)
    assert (x.status, x.due_at, x.lease_holder) == ("waiting", None, None)
    assert inline.run_until_idle() == 0
    for _ in range(2):
        children(x)[-1].signal("go")
        x = settled(x)
    assert end(x) == DONE


def test_what_a_child_returns() -> None:
    """Hazard B121. Hazard B126. It is read from the child's row; its end wakes its parent."""
    kid = Saga("kid", do("k", ok(Decimal("1.50"))), output=ref("k"))
    x = Saga("p", Child(kid).named("paid"), do("b", ok(lambda paid: paid + 1), takes="paid")).start()
    executor.drive(x.pk, holder="host:1")
    executor.drive(child(x, "kid").pk, holder="host:2")
    assert end(child(x, "kid")) == DONE and now(x).due_at <= clock.now()
    x = settled(x)
    assert end(x) == DONE and rec(x, "paid").output == Decimal("1.50") and rec(x, "b").output == Decimal("2.50")


def test_a_child_is_driven_by_anybody() -> None:
    """Hazard A121. Hazard A122. Its row is due from its birth on, whatever becomes of who made it."""
    x = Saga("p", do("a", dies("after"), ok(), attempts=2), Child(Saga("kid", do("k", comp=OK))), do("b")).start()
    killed(x)
    executor.drive(x.pk, holder="host:1", go_on=lambda: not children(x))
    kid = child(x, "kid")
    assert kid.due_at <= clock.now() and executor.drive(kid.pk, holder="host:2")
    assert end(settled(x)) == DONE and len(children(x)) == 1 and calls("k") == 1


def test_a_child_that_fails() -> None:
    """Hazard A114. Hazard R21. Hazard B179. Its record has failed, in its own words; it has undone itself."""
    x = run(parent(do("k1", comp=OK), do("k2", fail(ValueError("no money")))))
    assert end(x) == UNWOUND and order() == ["a", "k1", "k2", "~k1", "~a"]
    assert rec(x, "kid").status == "failed" and "kid failed" in error(x, "kid")
    assert "no money" in now(x).error.message and now(x).failing_path == "kid" and "kid" not in outcomes(x)


@pytest.mark.parametrize("before", [True, False])
def test_a_child_that_fails_with_nothing_to_undo(before: bool) -> None:
    """Hazard B183. An ordinary failure: what its parent did is undone, if it did anything."""
    kid = Child(Saga("kid", do("k", fail(ValueError))))
    x = run(Saga("p", do("a", comp=OK), kid) if before else Saga("p", kid))
    assert end(x) == (UNWOUND if before else NOTHING_OWED) and end(child(x, "kid")) == NOTHING_OWED


def test_a_child_that_is_cancelled_by_itself() -> None:
    """Hazard B122. Hazard B186. That is no success: its parent's node has failed, and is undone already."""
    x = run(parent(do("k1", comp=OK), Wait("go")))
    child(x, "kid").cancel(reason="not this one")
    x = settled(x)
    assert end(x) == UNWOUND and order() == ["a", "k1", "~k1", "~a"] and "kid cancelled" in error(x, "kid")
    y = run(parent(do("k1", comp=OK), Wait("go")))
    y.cancel()
    child(y, "kid").cancel()
    assert end(settled(y))[0] == "cancelled" and calls("~k1") == 2


def test_a_stuck_child_on_the_way_forward() -> None:
    """Hazard A117. Hazard A118. Its parent waits with it, for however long; resumed, both go on."""
    x = run(parent(do("k1", comp=OK), do("k2", fail(OSError), ok()), on_failure="hold"))
    kid = child(x, "kid")
    assert end(kid) == held("step_failed") and (now(x).status, now(x).due_at) == ("waiting", None)
    clock.set(clock.now() + timedelta(days=30))
    assert inline.run_until_idle() == 0 and now(x).status == "waiting"
    kid.resume(reason="fixed")
    assert end(settled(x)) == DONE and calls("b") == 1 and calls("k2") == 2


def test_a_child_at_a_timed_gate() -> None:
    """Hazard R6. Hazard A126. Its deadline is in its own row, and begins only once."""
    clock.set(T)
    x = run(parent(do("k1", comp=OK), Wait("go", timeout=60)))
    kid = child(x, "kid")
    clock.forward(30)
    kid.suspend()
    settled(x)
    kid.resume()
    x = settled(x)
    assert now(kid).due_at == T + timedelta(seconds=60) and now(x).due_at is None
    x = later(x, 30)
    assert end(x) == UNWOUND and "GateTimeout" in error(x, "kid") and end(kid) == UNWOUND


def test_a_child_that_has_no_more_time() -> None:
    """Hazard A126. Hazard A127. It counts from its birth; then it unwinds, and its parent is told why."""
    clock.set(T)
    x = run(parent(do("k1", comp=OK), do("k2", fail(OSError), attempts=9, backoff=IN_AN_HOUR), timeout=5000))
    assert child(x, "kid").deadline_at == T + timedelta(seconds=5000)
    x = later(x, 3600)
    assert child(x, "kid").deadline_at == T + timedelta(seconds=5000) and calls("k2") == 2
    x = later(x, 1400)
    assert end(x) == end(child(x, "kid")) == UNWOUND and "DeadlineExceeded" in error(x, "kid") and calls("k2") == 2


@pytest.mark.parametrize("act", ["resume", "abandon"])
def test_a_child_outlives_a_parent_that_was_abandoned(act: str) -> None:
    """Hazard A75. Hazard A123. Hazard R7. Hazard R13. It goes on by itself, or is given up as well."""
    one = Child(Saga("kid", Pivot(), do("k", fail(OSError))))
    x = run(Saga("p", do("a", comp=OK), Parallel(kid=one, gate=Wait("go"))))
    x.cancel()
    x = settled(x)
    assert end(x) == held("child_stuck")
    x.abandon(reason="nobody can help")
    assert end(x) == ("cancelled", "abandoned", "") and outcomes(x) == {"a": "abandoned", "kid": "abandoned"}
    kid = child(x, "kid")
    assert end(kid) == held("failed_past_pivot")
    fix("k", ok())
    kid.resume() if act == "resume" else kid.abandon(reason="and this one")
    settled(x)
    assert end(kid) == (DONE if act == "resume" else NOTHING_OWED)
    assert end(x) == ("cancelled", "abandoned", "") and calls("~a") == 0


def test_abandoned_in_the_middle_of_undoing_a_child() -> None:
    """Hazard A75. Hazard A76. Resumed later, the child undoes its own rest and nothing of its parent."""
    kid = Saga("kid", do("k1", comp=OK), do("k2", comp=[fail(OSError), ok()]))
    x = run(Saga("p", do("a", comp=OK), Child(kid), do("b", fail(OSError))))
    assert end(x) == halted("child_stuck") and told(child(x, "kid").cancel) == "unwinding"
    x.abandon(reason="enough")
    assert outcomes(x) == {"a": "abandoned", "kid": "failed"}
    child(x, "kid").resume(reason="at least this")
    x = settled(x)
    assert end(child(x, "kid")) == ("cancelled", "completed", "") and calls("~k1") == 1
    assert end(x) == ("failed", "abandoned", "") and calls("~a") == 0


def test_a_worker_dies_while_a_child_is_undone() -> None:
    """Hazard A124. Hazard A120. The child is told once, by the write that says so."""
    k = do("k", comp=[dies(), ok()], comp_attempts=2)
    x = run(Saga("p", do("a", comp=OK), Child(Saga("kid", k)), Wait("go"), do("b", fail(OSError))))
    x.signal("go")
    for _ in range(9):
        if child(x, "kid").status == "compensating":
            break
        executor.drive(x.pk, holder="host:1")
    killed(child(x, "kid"))
    x = settled(x)
    assert end(x) == UNWOUND and calls("~k") == 2 and calls("~a") == 1
    assert len([one for one in events(child(x, "kid")) if one.type == "unwinding"]) == 1


def test_a_child_for_each_item() -> None:
    """Hazard A119. Hazard A120. One for each turn, however often it is looked at."""
    kid = Saga("kid", do("k", ok(lambda line: line), comp=OK, takes="line"), output=ref("k"))
    each = ForEach("line", ref("input.lines"), Child(kid).bind(line=ref("line")), concurrency=2)
    ends = do("end", ok(lambda results: results), takes="results")
    x = Saga("p", each.named("line", provides="results"), ends).start(lines=[1, 2, 3])
    for number in range(100):
        executor.drive(None, holder="host:1")
        waits = Execution.objects.filter(pk=x.pk, lease_holder=None, status="waiting")
        waits.update(due_at=clock.now() - timedelta(seconds=60) if number % 2 else None)  # looks every other time
    assert end(x) == DONE and rec(x, "end").output == [1, 2, 3] and len(children(x)) == 3
    assert [one.parent_path for one in children(x)] == [f"line[{turn}]/kid" for turn in range(3)]
