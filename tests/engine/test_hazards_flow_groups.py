"""Hazards of nodes side by side, and of what recovers: one join, nothing twice, and nothing undone too early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from saga_app import Backoff, Child, ForEach, Parallel, Pivot, Saga, Try, Wait, executor, ref, step
from saga_app.models import Execution
from tests import ledger
from tests.engine.drives import DATABASES, dies, killed
from tests.engine.flows import later, run, settled, statuses
from tests.harness import (
    CANCELLED,
    DONE,
    OK,
    UNWOUND,
    calls,
    children,
    do,
    end,
    fail,
    halted,
    held,
    lapse,
    now,
    ok,
    order,
    outcomes,
    per,
    rec,
    reject,
    waiting_at,
)
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

IN_AN_HOUR = Backoff(first=3600, max=3600, jitter=0)
LINES = ref("input.lines")


def test_a_sibling_ends_while_another_waits_to_be_tried_again() -> None:
    """Hazard B61. Hazard B62. What will be tried again has not failed, and the group waits for it."""
    b = do("b", fail(OSError), ok(), attempts=2, backoff=IN_AN_HOUR, comp=OK)
    x = run(Saga("side", Parallel(do("a", comp=OK), b, do("c", comp=OK)), do("end")))
    assert now(x).status == "waiting" and statuses(x) == {"a": "completed", "b": "queued", "c": "completed"}
    assert end(later(x, 3601)) == DONE and calls("b") == 2 and calls("a") == calls("c") == calls("end") == 1


def test_a_sibling_ends_while_another_runs() -> None:
    """Hazard B60. What is in a worker's hands is nobody else's, whatever wakes the execution meanwhile."""
    x = Saga("side", Parallel(do("a", dies(), ok(), attempts=2), do("b"), do("c")), do("end")).start()
    executor.drive(x.pk, holder="host:2")  # puts them into the queue
    killed(x, lapses=False)
    x = settled(x)
    assert calls("a") == calls("b") == calls("c") == 1 and calls("end") == 0 and rec(x, "a").status == "running"
    lapse()
    assert end(settled(x)) == DONE and calls("a") == 2 and calls("b") == 1


def test_a_sibling_ends_while_another_waits_for_its_child() -> None:
    """Hazard B59. Hazard B58. Each look finds the child that is there; there is never a second."""
    slow = do("c", fail(OSError), ok(), attempts=2, backoff=IN_AN_HOUR)
    x = run(Saga("side", Parallel(kid=Child(Saga("kid", Wait("go"))), b=[do("b"), slow])))
    x = later(x, 3601)
    assert now(x).status == "waiting" and calls("c") == 2 and len(children(x)) == 1
    children(x)[0].signal("go")
    assert end(settled(x)) == DONE and len(children(x)) == 1


def test_looking_again_queues_nothing_again() -> None:
    """Hazard B134. However often the execution is driven meanwhile, each item is queued and called once."""
    p = do("p", per("line", {"A": [fail(OSError), ok()]}), attempts=2, backoff=IN_AN_HOUR, takes="line")
    x = Saga("each", ForEach("line", LINES, p, concurrency=2), Wait("go")).start(lines=["A", "B", "C"])
    for _ in range(4):
        x.signal("go")
        executor.drive(x.pk, holder="host:1")
    x = later(settled(x), 3601)
    assert end(x) == DONE and sorted(ledger.paths()) == ["line[0]/p", "line[0]/p", "line[1]/p", "line[2]/p"]


@pytest.mark.parametrize("concurrency", [2, 3])
def test_so_many_at_a_time(concurrency: int) -> None:
    """Hazard B134. No more items have begun than may be under way, and the next begins when one is over."""
    x = Saga("each", ForEach("line", LINES, do("p", takes="line"), concurrency=concurrency)).start(lines=list(range(5)))
    executor.drive(x.pk, holder="host:1")
    while now(x).status != "completed":
        open_ones = x.steps.filter(name="p", status__in=["queued", "running", "waiting"]).count()
        assert open_ones <= concurrency
        executor.drive(x.pk, holder="host:1")
    assert calls("p") == 5


def test_nobody_is_called_while_a_sibling_can_go_on() -> None:
    """Hazard B165. Design §9.3: one that only an operator can help stops nothing that can go on."""
    b = do("b", fail(OSError), ok(), attempts=2, backoff=IN_AN_HOUR)
    x = Saga("s", Pivot(), Parallel(do("a", dies()), b=[b, do("c")])).start()
    executor.drive(x.pk, holder="host:1")
    killed(x)
    x = settled(x)
    assert now(x).status == "waiting" and now(x).stuck_reason == ""
    assert end(later(x, 3601)) == held("outcome_unknown") and calls("c") == 1 and calls("a") == 1


@pytest.mark.parametrize("concurrency", [2, 5])
def test_results_in_the_order_of_the_items(concurrency: int) -> None:
    """Hazard B130. Hazard B131. The first to begin ends last; what follows waits for all of them."""
    plan = per("line", {0: [fail(OSError), ok("r0")], 1: [fail(OSError), ok("r1")]}, [ok(lambda line: f"r{line}")])
    p = do("p", plan, attempts=2, backoff=IN_AN_HOUR, takes="line")
    each = ForEach("line", LINES, p, concurrency=concurrency).named("line", provides="all")
    x = run(Saga("each", each, do("end", ok(lambda all: all), takes="all")), lines=[0, 1, 2, 3, 4])  # noqa: A006
    assert calls("end") == 0 and rec(x, "line[0]/p").status == "queued"
    x = later(x, 3601)
    assert end(x) == DONE and rec(x, "end").output == ["r0", "r1", "r2", "r3", "r4"] and calls("p") == 7


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_an_item_that_fails_for_good(concurrency: int) -> None:
    """Hazard B135. It is not missing in a list of results: the loop fails with it, and what others did is undone."""
    p = do("p", per("line", {2: [fail(ValueError("bad line"))]}), comp=OK, takes="line")
    x = run(Saga("each", ForEach("line", LINES, p, concurrency=concurrency), do("end")), lines=[0, 1, 2, 3, 4])
    assert end(x) == UNWOUND and calls("end") == 0 and "bad line" in now(x).error.message
    ran = {one.path for one in ledger.begun() if one.name == "p"}
    assert {path for path, outcome in outcomes(x).items() if outcome == "compensated"} == ran


def test_one_compensation_is_stuck_in_a_group() -> None:
    """Hazard B155. Its siblings are undone all the same; what started before the group waits for an operator."""
    b = [do("b1", comp=OK), do("b2", comp=[fail(OSError), ok()]), do("b3", comp=OK)]
    x = run(Saga("s", do("t", comp=OK), Parallel(do("a", comp=OK), do("c", comp=OK), b=b), do("z", fail(OSError))))
    assert end(x) == halted("compensation_failed")
    done, waits = "compensated", ""
    assert outcomes(x) == {"t": waits, "a": done, "c": done, "b1": waits, "b2": "failed", "b3": done}
    x.resume(reason="it is back")
    x = settled(x)
    assert end(x) == UNWOUND and set(outcomes(x).values()) == {done} and order()[-3:] == ["~b2", "~b1", "~t"]


@pytest.mark.parametrize("concurrent", [False, True])
def test_driven_where_it_was_started(concurrent: bool) -> None:
    """Hazard B166. Saga.run() drives the siblings too, and does not come back while one of them can go on."""
    p = do("p", per("line", {1: [fail(ValueError)]}), comp=OK, takes="line")
    each = ForEach("line", LINES, p, concurrency=2 if concurrent else 1)
    x = Saga("s", Parallel(a=do("a", comp=OK), b=each)).run(lines=[0, 1])
    assert end(x) == UNWOUND


def test_the_branches_join_once() -> None:
    """Hazard B128. What follows two branches that come together begins once."""
    inner = Parallel(do("b"), c=[do("c1"), do("c2")])
    x = run(Saga("s", Parallel(do("a"), b=[inner, do("d")]), do("end")))
    assert end(x) == DONE and order().count("end") == order().count("d") == 1 and order()[-1] == "end"


def test_waiting_siblings_are_cut_and_running_ones_settle() -> None:
    """Hazard B165. Hazard B167. A gate is closed at once, what never began is skipped, what ran is undone."""
    later_on = [Wait("go"), do("d", comp=OK)]
    retried = do("c", fail(OSError), attempts=2, backoff=IN_AN_HOUR, comp=OK)
    x = run(Saga("s", Parallel(do("a", comp=OK), retried, do("b", fail(ValueError)), gate=later_on)))
    assert end(x) == UNWOUND and statuses(x)["go"] == "skipped" and calls("d") == 0
    assert outcomes(x) == {"a": "compensated", "c": "compensated"} and statuses(x)["c"] == "failed"


# what recovers


def careful(body: Callable[[], list[Any]], *after: Any) -> Execution:
    return run(Saga("careful", Try(*body(), catch=(OSError,), recover=[do("r", comp=OK)]), *after))


def test_recovered_is_not_undone() -> None:
    """Hazard B187. It went on, so nothing is undone; what the body did stays owed, and is undone if it fails later."""
    x = careful(lambda: [do("a", comp=OK), do("b", fail(OSError), comp=OK)], do("z"))
    assert end(x) == DONE and order() == ["a", "b", "r", "z"] and set(outcomes(x).values()) == {""}
    ledger.clear()
    x = careful(lambda: [do("a", comp=OK), do("b", fail(OSError), comp=OK)], do("z", fail(ValueError)))
    assert end(x) == UNWOUND and order() == ["a", "b", "r", "z", "~r", "~b", "~a"]


def test_what_a_recovered_group_left_waiting() -> None:
    """Hazard B187. Hazard B165. It ended with its group: no gate opens and no attempt is made behind its back."""
    retried = do("c", fail(OSError), ok(), attempts=2, backoff=IN_AN_HOUR)
    group = Parallel(do("a"), retried, do("b", fail(KeyError)), gate=[Wait("go"), do("never")])
    x = run(Saga("s", Try(group, catch=(KeyError,), recover=[do("r")]), Wait("go").named("again"), do("z")))
    assert waiting_at(x) == "again" and statuses(x)["go"] == "skipped" and calls("r") == 1
    x = later(x, 3601)
    assert calls("c") == 1 and waiting_at(x) == "again"
    x.signal("go")
    assert end(settled(x)) == DONE and calls("never") == 0 and rec(x, "go").output is None


def test_the_recovery_fails_too() -> None:
    """Hazard B188. Then it has failed; all of it is undone, and the newer error is why."""
    recover = [do("r", fail(ValueError("no way out")), comp=OK)]
    body = [do("a", comp=OK), do("b", fail(OSError))]
    x = run(Saga("s", do("t", comp=OK), Try(*body, catch=(OSError,), recover=recover)))
    assert end(x) == UNWOUND and order() == ["t", "a", "b", "r", "~r", "~a", "~t"]
    assert now(x).error.message == "no way out"


def test_a_result_that_recovery_left_out() -> None:
    """Hazard B189. Whoever may miss it has a default; nobody waits for it."""

    @step
    def read(b: str = "nothing") -> str:
        return b

    x = careful(lambda: [do("b", fail(OSError), provides="b")], read)
    assert end(x) == DONE and rec(x, "read").output == "nothing"


def test_it_recovers_once() -> None:
    """Hazard B190. A worker that dies as it recovers, and one that looks again, begin no second recovery."""
    recover = [do("r", dies(), ok(), attempts=2), Wait("go"), do("q")]
    x = Saga("s", Try(do("b", fail(OSError)), catch=(OSError,), recover=recover), do("z")).start()
    killed(x)
    x = settled(x)
    x.signal("go")
    assert end(settled(x)) == DONE and order() == ["b", "r", "r", "q", "z"] and rec(x, "r").attempt == 2


@pytest.mark.parametrize("error", [ValueError, KeyError])
def test_what_is_not_caught_goes_on_up(error: type[Exception]) -> None:
    """Hazard B187. Through a Try that means another error, to one that means it."""
    inner = Try(do("b", fail(error)), catch=(ZeroDivisionError,), recover=[do("no")])
    x = run(Saga("s", Try(inner, catch=(ValueError,), recover=[do("yes")])))
    assert end(x)[0] == ("completed" if error is ValueError else "failed")
    assert calls("no") == 0 and calls("yes") == (error is ValueError)


def test_nobody_recovers_from_a_cancel_or_a_deadline() -> None:
    """Hazard B187. These mean the whole execution, whatever it would catch."""
    anything = Try(do("a", comp=OK), Wait("go"), catch=(BaseException,), recover=[do("r")])
    x = run(Saga("s", anything))
    x.cancel()
    assert end(settled(x)) == CANCELLED and order() == ["a", "~a"]
    ledger.clear()
    clock.set(clock.now())
    x = later(run(Saga("t", anything, timeout=60)), 61)
    assert end(x) == UNWOUND and order() == ["a", "~a"] and "DeadlineExceeded" in now(x).error.type


def test_a_refusal_in_a_group() -> None:
    """Hazard B165. What is known to have done nothing is not undone, nor what never began."""
    x = run(Saga("s", Parallel(do("b", comp=OK), do("a", reject("no room"), comp=OK), do("never", comp=OK))))
    assert (
        end(x) == UNWOUND
        and outcomes(x) == {"b": "compensated", "a": "", "never": ""}
        and "no room" in now(x).error.message
    )
