"""Every node on a real database, driven in this process: what runs, in which order, and how it is undone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from saga_app import (
    Branch,
    Child,
    Compute,
    ForEach,
    If,
    Milestone,
    Parallel,
    Pivot,
    Repeat,
    Saga,
    Sleep,
    Try,
    Wait,
    While,
    ref,
    step,
)
from saga_app.models import Execution
from saga_app.queue import inline
from tests.engine.drives import DATABASES
from tests.harness import CANCELLED, DONE, OK, UNWOUND, do, end, fail, held, now, per, told
from tests.reading import outcomes, rec
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def run(saga: Saga[Any], **values: Any) -> Execution:
    """Start it and drive until nothing is due."""
    x = saga.start(**values)
    inline.run_until_idle()
    return now(x)


def test_if_and_branch_take_one_way() -> None:
    """Design §8.9: the choice is a record, and what was not chosen has none."""
    big = If(lambda n: n > 1, do("yes"), otherwise=[do("no")]).named("big")
    way = Branch(lambda n: "a" if n == 2 else "b", a=do("a"), b=[do("b"), do("c")]).named("way")
    x = run(Saga("choose", big, way), n=2)
    assert end(x) == DONE
    assert [(r.path, r.kind, r.choice) for r in x.steps.all()] == [
        ("big", "compute", "true"),
        ("yes", "step", ""),
        ("way", "compute", "a"),
        ("a", "step", ""),
    ]


def test_loops_take_turns() -> None:
    """Paths of turns; a While sees in its condition what its body provided last time."""

    @step
    def count(total: int = 0) -> int:
        return total + 1

    again = While(lambda total=0: total < 3, count.named("more", provides="total")).named("again")
    done = Repeat(do("x"), until=lambda iteration: iteration == 1).named("done")
    x = run(Saga("turns", again, done))
    assert end(x) == DONE
    assert [r.path for r in x.steps.all()] == [
        "again[0]", "again[0]/more", "again[1]", "again[1]/more", "again[2]", "again[2]/more", "again[3]",
        "done[0]/x", "done[0]", "done[1]/x", "done[1]",
    ]  # fmt: skip


@pytest.mark.parametrize("concurrency", [1, 2, 10])
def test_for_each_item(concurrency: int) -> None:
    """Each item has records of its own, and the results come in the order of the items."""

    @step
    def double(line: int) -> int:
        return line * 2

    @step
    def total(lines: list[int]) -> int:
        return sum(lines)

    each = ForEach("line", ref("input.numbers"), double, concurrency=concurrency).named("line", provides="lines")
    x = run(Saga("each", each, total, output=ref("total")), numbers=[1, 2, 3, 4])
    assert end(x) == DONE, x.error
    assert x.output == 20
    assert sorted(r.path for r in x.steps.all() if r.kind == "step") == [
        *(f"line[{i}]/double" for i in range(4)),
        "total",
    ]


def test_parallel_joins() -> None:
    """All branches run, then what follows."""
    x = run(Saga("side", Parallel(do("a"), hotel=[do("b"), do("c")]), do("d")))
    assert end(x) == DONE
    assert [r.path for r in x.steps.all()][-1] == "d"


def test_a_group_that_fails_is_undone() -> None:
    """One branch fails: what runs is waited for, then everything is undone."""
    x = run(Saga("side", do("t", comp=OK), Parallel(do("a", comp=OK), do("b", fail(OSError), comp=OK)), do("d")))
    assert end(x) == UNWOUND
    assert set(outcomes(x).values()) == {"compensated"}


def test_try_catches() -> None:
    """What the body did stays owed; the recovery goes on."""
    x = run(
        Saga("careful", Try(do("a", comp=OK), do("b", fail(OSError)), catch=(OSError,), recover=[do("r")]), do("z"))
    )
    assert end(x) == DONE
    x = run(Saga("careful2", Try(do("b", fail(OSError)), catch=(ValueError,), recover=[do("r")]), do("z")))
    assert end(x)[0] == "failed"


def test_a_gate_opens_and_times_out() -> None:
    """Parked without a due time; a signal wakes it; a timeout takes the other way."""
    saga = Saga("gate", do("a"), Wait("go", timeout=60, on_timeout=[do("late")]), do("b"))
    x = run(saga)
    assert end(x)[0] == "waiting"
    x.signal("go", {"n": 1})
    inline.run_until_idle()
    assert end(x) == DONE
    assert x.steps.get(path="go").output == {"n": 1}
    clock.set(clock.now())
    y = run(saga)
    clock.forward(61)
    inline.run_until_idle()
    assert end(y) == DONE
    assert [r.path for r in y.steps.all()] == ["a", "go", "late", "b"]


def test_a_child_runs_and_is_undone() -> None:
    """Exactly one child; undone by its own unwind in its place."""
    kid = Saga("kid", do("k1", comp=OK), do("k2", comp=OK))
    x = run(Saga("p", do("a", comp=OK), Child(kid), do("b", comp=OK)))
    assert end(x) == DONE, x.error
    x = run(Saga("q", do("a", comp=OK), Child(kid), do("b", comp=OK), do("c", fail(ValueError))))
    assert end(x) == UNWOUND
    child = x.children.get()
    assert end(child) == CANCELLED
    assert outcomes(child) == {"k1": "compensated", "k2": "compensated"}


def test_an_unwind_rests_at_a_milestone() -> None:
    """Only what came after it is undone."""
    x = run(Saga("rest", do("a", comp=OK), Milestone("safe"), do("b", comp=OK), do("c", fail(OSError))))
    assert (end(x), now(x).rested_at) == (("failed", "rested", ""), "safe")
    assert outcomes(x) == {"a": "", "b": "compensated"}


def test_sleep_and_compute() -> None:
    """A sleep parks; a compute is a record."""
    clock.set(clock.now())
    x = run(Saga("nap", Compute("half", lambda n: n // 2), Sleep(timedelta(hours=1)), Pivot(), do("z")), n=8)
    assert end(x)[0] == "waiting"
    clock.forward(3601)
    inline.run_until_idle()
    assert end(x) == DONE
    assert x.steps.get(path="half").output == 4


def test_what_a_group_cut_short_goes_on_with_it() -> None:
    """Past the pivot a group fails and is stuck. Once the failure is explained nothing of the group is left out."""
    many = ForEach("n", ref("input.numbers"), do("a", per("n", {1: [fail(OSError)]}), takes="n"), concurrency=2)
    gate = Parallel(x=[do("bad", fail(OSError))], y=[Wait("go"), do("after")])
    for saga, path in ((Saga("m", Pivot(), many), "n[0]/a"), (Saga("g", Pivot(), gate), "bad")):
        x = run(saga, numbers=[1, 2, 3, 4]) if saga.name == "m" else run(saga)
        assert end(x) == held("failed_past_pivot")
        x.skip(path, happened=True, output=1, reason="done by hand")
        inline.run_until_idle()
        if saga.name == "g":
            assert end(x)[0] == "waiting"
            x.signal("go")
            inline.run_until_idle()
        assert end(x) == DONE
        steps = [one for one in x.steps.all() if one.kind == "step"]
        assert len(steps) == (4 if saga.name == "m" else 2) and {one.status for one in steps} == {"completed"}


def test_what_an_operator_says_a_compute_returned_is_judged() -> None:
    """A choice is made of it: what its node cannot go on with is refused, and nothing has changed."""

    def choose() -> str:
        raise OSError

    x = run(Saga("s", Branch(choose, a=do("a"), b=do("b")), on_failure="hold"))
    assert end(x) == held("step_failed")
    assert told(x.skip, "choose", happened=True, output="c", reason="guessed") == "output_invalid"
    x.skip("choose", happened=True, output="b", reason="asked")
    inline.run_until_idle()
    assert end(x) == DONE
    assert x.steps.filter(path="b").exists()


@pytest.mark.parametrize("concurrency", [1, 5])
def test_a_long_loop_remembers_how_far_it_is(concurrency: int) -> None:
    """What is over is not walked through again and again: the loop's record says from where on."""
    each = ForEach("n", ref("input.numbers"), do("a", takes="n"), concurrency=concurrency)
    x = run(Saga("long", each, do("end")), numbers=list(range(90)))
    assert end(x) == DONE
    assert 60 <= rec(x, "n").turn <= 90
