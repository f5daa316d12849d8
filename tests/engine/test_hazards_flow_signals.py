"""Hazards of waits and sleeps: a signal opens one gate, once, by when it came; a deadline is a fact, and no timer's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from saga_app import (
    Branch,
    Compute,
    ForEach,
    If,
    Parallel,
    Repeat,
    Saga,
    Sleep,
    Try,
    Wait,
    While,
    engine,
    executor,
    ref,
)
from saga_app.queue import inline
from tests.engine.drives import DATABASES, drive
from tests.engine.flows import later, paths, run, settled
from tests.harness import (
    DONE,
    NOTHING_OWED,
    OK,
    UNWOUND,
    calls,
    do,
    end,
    error,
    events,
    fail,
    halted,
    now,
    order,
    race,
    rec,
    seen,
    told,
    waiting_at,
)
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

T = datetime(2024, 5, 1, tzinfo=UTC)


def waits(**options: Any) -> Saga[Any]:
    return Saga("w", do("a", comp=OK), Wait("go", **options), do("b", takes="go"))


def test_the_same_message_twice() -> None:
    """Hazard A35. By its key it is stored once, as it came first; without one it is another, kept for another gate."""
    x = run(waits())
    assert x.signal("go", "first", key="k").is_new
    assert not x.signal("go", "second", key="k").is_new
    x = settled(x)
    assert not x.signal("go", "third", key="k").is_new  # the end takes nothing back
    assert end(x) == DONE and rec(x, "go").output == "first" and calls("b") == 1


def test_first_in_first_out() -> None:
    """Hazard A42. Each gate takes one, in the order in which they came, also those that came before it was reached."""
    x = Saga("two", Wait("go").named("one"), Wait("go").named("two"), Wait("go").named("three")).start()
    for number in (1, 2):
        x.signal("go", number)
    x = settled(x)
    assert [rec(x, name).output for name in ("one", "two")] == [1, 2] and waiting_at(x) == "three"


@pytest.mark.parametrize("payload", [None, False, 0, "", [], {}])
def test_a_signal_that_brings_nothing(payload: Any) -> None:
    """Hazard A38. Hazard B116. That it came is what counts, wherever that is asked."""
    before = waits(timeout=60).start()
    before.signal("go", payload)
    at_it = run(waits(timeout=60))
    at_it.signal("go", payload)
    clock.set(clock.now())
    clock.forward(120)
    for x in (settled(before), settled(at_it)):
        assert end(x) == DONE and rec(x, "go").output == payload
    assert seen("b") == [{"go": payload}] * 2


@pytest.mark.parametrize("name", ["toString", "constructor", "hasOwnProperty", "keys", "id", "pk"])
def test_a_gate_named_like_something_else(name: str) -> None:
    """Hazard A39. It opens by its signal and by nothing else."""
    x = run(Saga("named", Wait(name)))
    assert waiting_at(x) == name
    x.signal(name, 1)
    assert end(settled(x)) == DONE


def everywhere() -> dict[str, Any]:
    gate = Wait("go")
    return {
        "branch": Branch(lambda: "here", here=gate, default=[do("z")]).named("way"),
        "if": If(lambda: True, gate).named("if_so"),
        "while": While(lambda iteration: iteration < 1, gate).named("again"),
        "repeat": Repeat(gate, until=lambda: True).named("until"),
        "each": ForEach("line", lambda: [1], gate).named("line"),
        "parallel": Parallel(gate, do("z")),
        "try": Try(gate, recover=[do("z")]),
        "timeout": Wait("never", timeout=1, on_timeout=[gate]),
    }


@pytest.mark.parametrize("where", list(everywhere()))
def test_a_gate_inside_of_something(where: str) -> None:
    """Hazard A43. Wherever it stands, nothing goes on behind it before it is opened."""
    clock.set(clock.now())
    x = later(run(Saga("nested", everywhere()[where], do("end"))), 2)
    assert waiting_at(x) == "go" and calls("end") == 0
    x.signal("go")
    assert end(settled(x)) == DONE and calls("end") == 1


@pytest.mark.parametrize("seconds", [60, 10_000])
def test_in_time_but_driven_late(seconds: int) -> None:
    """Hazard A45. Hazard A46. Hazard B104. Hazard A47. The signal has won, and nothing says that time was up."""
    clock.set(T)
    x = run(waits(timeout=60))
    clock.set(T + timedelta(seconds=60))
    x.signal("go", 1)
    clock.set(T + timedelta(seconds=seconds))
    x = settled(x)
    assert end(x) == DONE and rec(x, "go").output == 1 and rec(x, "go").choice != "timeout"
    assert not [one for one in events(x) if "time" in one.type] and calls("~a") == 0


def test_too_late_but_driven_later_still() -> None:
    """Hazard A46. Hazard B100. The gate whose time was up stays shut; it is kept for the next one."""
    clock.set(T)
    x = run(Saga("late", Wait("go", timeout=60, on_timeout=[do("late")]).named("one"), Wait("go").named("two")))
    clock.set(T + timedelta(seconds=60, milliseconds=1))
    x.signal("go", 1)
    x = settled(x)
    assert end(x) == DONE and calls("late") == 1
    assert (rec(x, "one").choice, rec(x, "one").output, rec(x, "two").output) == ("timeout", None, 1)


def test_time_is_up_while_a_signal_comes() -> None:
    """Hazard A46. Hazard A47. It comes after the drive has looked and before it writes: the drive looks again."""
    clock.set(T)
    started: list[Any] = []

    def slow() -> int:
        clock.forward(60)
        started[0].signal("go", 1)
        return 1

    gate = [Wait("go", timeout=60, on_timeout=[do("late")])]
    started.append(Saga("side", Parallel(gate=gate, slow=Compute("slow", slow))).start())
    x = settled(started[0])
    assert end(x) == DONE and rec(x, "go").output == 1 and calls("late") == 0


def test_a_year() -> None:
    """Hazard A48. A long wait is not over at once, and ends with its signal."""
    x = run(waits(timeout=timedelta(days=365)))
    assert waiting_at(x) == "go" and (now(x).due_at - clock.now()).days == 364
    x.signal("go")
    assert end(settled(x)) == DONE


def test_the_old_deadline_means_nothing_to_the_next_gate() -> None:
    """Hazard A49. In a loop each turn's gate has a deadline of its own, counted from when it was reached."""
    clock.set(T)
    x = run(Saga("turns", Repeat(Wait("go", timeout=60), until=lambda iteration: iteration == 1).named("twice")))
    clock.set(T + timedelta(seconds=50))
    x.signal("go", 0)
    x = settled(x)
    assert waiting_at(x) == "go" and now(x).due_at == T + timedelta(seconds=110)
    x = later(x, 20)
    assert waiting_at(x) == "go" and paths(x, "wait") == ["twice[0]/go", "twice[1]/go"]
    x = later(x, 40)
    assert end(x) == NOTHING_OWED and "twice" not in now(x).failing_path.split("/")[1]


def test_looking_again_changes_nothing() -> None:
    """Hazard A55. Hazard R23. Hazard B102. A wake is only a look: what waits parks again as it was, without a trace."""
    clock.set(T)
    x = run(Saga("w", Wait("go", timeout=60), Wait("other")))
    before, told_before = rec(x, "go").due_at, len(events(x))
    for _ in range(3):
        x.signal("other")
        assert inline.run_until_idle() == 1
    assert told(x.signal, "nobody", 1) == "no_such_gate" and inline.run_until_idle() == 0
    assert waiting_at(x) == "go" and rec(x, "go").due_at == before == now(x).due_at
    assert [one.type for one in events(x)[told_before:]] == ["signal"] * 3


def test_two_workers_at_one_gate() -> None:
    """Hazard A56. One opens it; the other finds nothing to do."""
    x = run(waits())
    x.signal("go", 1)
    driven = race(*[lambda n=n: executor.drive(x.pk, holder=f"host:{n}") for n in (1, 2)])
    assert True in driven and end(settled(x)) == DONE and calls("b") == 1


def test_a_timeout_is_a_failure_like_any_other() -> None:
    """Hazard A57. Hazard A58. Hazard B106. It unwinds once, and its reason is stored before anything is undone."""
    clock.set(T)
    x = later(run(waits(timeout=60)), 60)
    assert end(x) == UNWOUND and order() == ["a", "~a"]
    assert "GateTimeout: No signal came for `go` until 2024-05-01 00:01:00 UTC" in error(x, "go")
    assert "GateTimeout" in now(x).error.type and now(x).failing_path == "go"
    stuck = Saga("s", do("a", comp=[fail(OSError)]), Wait("go", timeout=60)).start()
    y = later(settled(stuck), 60)
    assert end(y) == halted("compensation_failed") and "GateTimeout" in now(y).error.type


def test_a_deadline_is_recorded_once() -> None:
    """Hazard A59. Nothing that happens to the execution or its worker gives a gate more time."""
    clock.set(T)
    x = run(waits(timeout=60))
    clock.forward(20)
    x.suspend(reason="a pause")
    x = settled(x)
    assert now(x).status == "suspended"
    clock.forward(20)
    x.resume()
    assert executor.drive(x.pk, holder="host:1")
    assert rec(x, "go").due_at == now(x).due_at == T + timedelta(seconds=60)
    assert end(later(x, 20)) == UNWOUND


@pytest.mark.parametrize("late", [0, 5 * 86_400])
def test_a_sleep_ends_by_the_clock(late: int) -> None:
    """Hazard B100. Hazard B49. A look that comes too early ends nothing, one that comes days late ends it once."""
    clock.set(T)
    x = run(Saga("nap", do("a", takes="n"), Sleep(3600), do("b", takes="n")), n=7)
    clock.forward(3599)
    assert drive(x).status == "waiting" and calls("b") == 0
    x = later(x, 1 + late)
    assert end(x) == DONE and seen("b") == [{"n": 7}] and calls("a") == 1
    assert rec(x, "sleep").due_at == T + timedelta(seconds=3600)


def test_gates_side_by_side() -> None:
    """Hazard B99. Each has its own record and takes its own signal, in whatever order they come."""
    x = run(Saga("side", Parallel(a=[Wait("left")], b=[Wait("right")]), do("end", takes="left right")))
    x.signal("right", 2)
    x = settled(x)
    assert (rec(x, "left").status, rec(x, "right").output) == ("waiting", 2)
    x.signal("left", 1)
    assert end(settled(x)) == DONE and seen("end") == [{"left": 1, "right": 2}]


def test_a_gate_of_a_concurrent_loop_is_meant_by_its_path() -> None:
    """Hazard B117. Hazard B96. Its place says which gate it is; the name of the signal alone does not."""
    each = ForEach("line", ref("input.lines"), Wait("ok"), do("p", takes="line ok"), concurrency=3)
    x = run(Saga("each", each), lines=["A", "B", "C"])
    assert told(x.signal, "ok", 1) == "ambiguous_gate" and told(x.signal, "line[0]/no", 1) == "no_such_gate"
    for turn in (2, 0, 1):
        engine.signal(x, f"line[{turn}]/ok", turn)
        x = settled(x)
    assert end(x) == DONE
    assert sorted((one["line"], one["ok"]) for one in seen("p")) == [("A", 0), ("B", 1), ("C", 2)]
