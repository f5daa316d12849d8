"""Groups, children and gates driven by real processes that die, and by a real qcluster."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from saga_app import Child, ForEach, Parallel, Saga, Sleep, Wait, ref
from tests.harness import (
    CANCELLED,
    DONE,
    OK,
    UNWOUND,
    calls,
    child,
    clear,
    cluster,
    die,
    do,
    end,
    fail,
    hang,
    keys,
    kill_worker,
    lapse,
    lease,
    meet,
    now,
    ok,
    order,
    outcomes,
    pids,
    reached,
    rec,
    run,
    settle,
    until,
    work,
    working,
)


def group(*plan: Any, **options: Any) -> Saga[Any]:
    """Three branches, of which the second follows the plan."""
    return Saga("g", do("t", comp=OK), Parallel(do("a"), do("b", *plan, comp=OK, **options), do("c")), do("end"))


@pytest.mark.parametrize("when", ["before", "inside", "after", "recorded"])
@pytest.mark.parametrize("n", [1, 3])
def test_a_worker_dies_in_a_branch(when: str, n: int) -> None:
    """Case C11. The branch is begun again with its key, and the group joins once."""
    clear()
    x = group(die(when), ok(), attempts=2).start()
    work(n)
    lapse()
    work(n)
    assert end(x) == DONE and calls("a") == calls("c") == calls("end") == 1
    assert len(keys("b")) == 1 and calls("b") == (1 if when in ("before", "recorded") else 2)
    assert rec(x, "b").attempt == (1 if when == "recorded" else 2)


def test_nobody_waits_for_a_worker_that_died_in_a_branch() -> None:
    """Case C14. Its lease runs out, and another takes the branch up; the others go on all the time."""
    with lease(2), working(2):
        x = group(hang(30), ok(), attempts=2).start()
        reached("b began")
        reached("c done")
        kill_worker(x)
        settle()
    assert end(x) == DONE and calls("b") == 2 and calls("a") == calls("c") == 1


def test_one_worker_is_enough() -> None:
    """Case C11. Nobody idles for a group: one worker runs its branches one after the other."""
    x = run(Saga("g", Parallel(a=[do("a1"), do("a2")], b=[do("b1"), Child(Saga("kid", do("k")))]), do("end")))
    assert end(x) == DONE and len(pids()) == 1 and calls("end") == 1


def test_branches_run_at_once() -> None:
    """Case C11. With enough workers each branch has one: they meet."""
    together = [do(f"b{i}", meet(3, at_most=20) >> ok()) for i in range(3)]
    x = run(Saga("g", Parallel(*together)), n=3)
    assert end(x) == DONE and len(pids()) == 3


def test_items_run_so_many_at_once() -> None:
    """Case C28. With concurrency=2 two workers have items, and a third has none."""
    p = do("p", until("p began") >> hang(0.05) >> ok(lambda line: line), takes="line")
    each = ForEach("line", ref("input.lines"), p, concurrency=2).named("line", provides="results")
    ends = do("end", ok(lambda results: results), takes="results")
    x = run(Saga("e", each, ends), n=3, lines=list(range(8)))
    assert end(x) == DONE and rec(x, "end").output == list(range(8)) and calls("p") == 8


def test_a_cancel_while_a_child_runs() -> None:
    """Case C40. Children first: the step that runs in one is let finish, then it is undone, then its parent is."""
    kid = Saga("kid", do("k", hang(2) >> ok(), comp=OK), do("never"))
    x = Saga("p", do("a", comp=OK), Child(kid), do("b")).start()
    with working(2):
        reached("k began")
        x.cancel(reason="not wanted")
        settle()
    assert end(x) == CANCELLED and end(child(x, "kid")) == CANCELLED
    assert order() == ["a", "k", "~k", "~a"]


def test_a_branch_fails_while_a_child_runs_in_another() -> None:
    """Case C41. It is cancelled, waited for, and the parent goes back only then."""
    kid = Child(Saga("kid", do("k", hang(2) >> ok(), comp=OK), do("never")))
    x = run(Saga("p", do("a", comp=OK), Parallel(kid=kid, b=do("b", until("k began") >> fail(OSError)))), n=2)
    assert end(x) == UNWOUND and end(child(x, "kid")) == CANCELLED
    assert calls("never") == 0 and order()[-2:] == ["~k", "~a"] and outcomes(x) == {"a": "compensated"}


def test_all_of_it_under_a_real_cluster() -> None:
    """Case C01. All nodes under django-q2; a timer is a poll late at most, and a busy machine a little more."""
    kid = Child(Saga("kid", do("k", comp=OK)))
    side = Parallel(do("b", comp=OK), c=[do("c1"), kid], d=ForEach("line", lambda: [1, 2], do("p", takes="line")))
    s = Saga("p", do("a", comp=OK), side, Sleep(1), do("d"), Wait("go", timeout=60), do("e"))
    with cluster(3):
        xs = [s.start() for _ in range(3)]
        reached("d done")
        settle()
        assert {now(x).status for x in xs} == {"waiting"} and calls("d") == 3
        for x in xs:
            record, after = rec(x, "sleep"), rec(x, "d")
            assert timedelta() <= after.started_at - record.due_at < timedelta(seconds=2)
        xs[0].cancel()
        for x in xs[1:]:
            x.signal("go")
        settle()
    assert [end(x) for x in xs] == [CANCELLED, DONE, DONE] and calls("k") == 3 and calls("~k") == 1
