"""Hazards of a database that refuses: what a call has told is written or left, never made up for by a second call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.db import OperationalError, connection

from saga_app import Pivot, Saga, executor
from saga_app.models import Event, Execution
from saga_app.queue import inline
from saga_app.telemetry import execution_changed
from tests.engine.drives import DATABASES, drive, refusing, writes_to
from tests.engine.standing import begun, stuck_backwards
from tests.harness import (
    DONE,
    OK,
    UNWOUND,
    calls,
    do,
    end,
    error,
    events,
    fail,
    halted,
    keys,
    lapse,
    now,
    ok,
    order,
    outcomes,
    rec,
)
from tests.script import Entry
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


class Gate:
    """A database that refuses our writes once a body has shut it, for so many statements or for good."""

    def __init__(self) -> None:
        self.left = 0
        self.refused = 0

    def shuts(self, times: int = 10**9) -> Entry:
        """An entry of a plan: from now on so many writes are refused."""

        def shut(_call: Any) -> int:
            self.left = times
            return 1

        return Entry(shut)

    def __call__(self, sql: str) -> bool:
        if not self.left or not writes_to("execution")(sql):
            return False
        self.left -= 1
        self.refused += 1
        return True


@pytest.fixture
def gate() -> Iterator[Gate]:
    """The clock stands still, so that waiting for the database to come back takes no time."""
    clock.set(clock.now())
    one = Gate()
    with refusing(one):
        yield one


def once(x: Execution) -> Execution:
    """Claim it one time and drive it; its lease may be over afterwards, and nobody takes it up."""
    executor.drive(x.pk, holder="host:1")
    return now(x)


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(
    "steps",
    [
        lambda shuts: [do("a", shuts), do("b", fail(ValueError("real")))],
        lambda shuts: [do("a"), do("b", shuts >> fail(ValueError("real")))],
        lambda shuts: [do("a", comp=[shuts]), do("z", comp=[shuts]), do("b", fail(ValueError("real")))],
    ],
    ids=["a success", "a failure", "a compensation"],
)
def test_an_outcome_that_is_refused_is_written_again(gate: Gate, steps: Callable[[Entry], Any], times: int) -> None:
    """Hazard A6, Hazard A9, Hazard A84, Hazard A85, Hazard A87, Hazard R2. The write is repeated, and never the call.

    The error that is kept is the step's own; what succeeded is recorded as that.
    """
    x = drive(Saga("s", *steps(gate.shuts(times))).start())
    assert gate.refused and x.status == "failed"
    assert now(x).error.text == error(x, "b") == "ValueError: real"
    assert all(calls(name) == 1 for name in order())
    assert set(outcomes(x).values()) <= {"compensated"}


def test_a_success_that_cannot_be_recorded_stays_loud(gate: Gate, caplog: pytest.LogCaptureFixture) -> None:
    """Hazard A6, Hazard A88, Hazard B23. Refused until the lease is over: logged with the first error, and left.

    It is not recorded as a failure, nothing else is called, and the next claim finds the attempt as unknown.
    """
    x = once(Saga("s", do("a", gate.shuts(), ok(2), attempts=2), do("b")).start())
    assert (rec(x, "a").status, order(), x.status) == ("running", ["a"], "running")
    assert "the disk is full" in caplog.text and str(x.pk) in caplog.text
    gate.left = 0
    lapse()
    assert end(drive(x)) == DONE
    assert order() == ["a", "a", "b"] and len(keys("a")) == 1


def test_an_unwind_that_cannot_begin(gate: Gate) -> None:
    """Nothing is undone and nothing said before the write that begins it.

    Hazard A83. Hazard A84. Hazard A89. Hazard A90.
    The row still says that it runs, so the next claim finds it, and why it failed is not lost to the database's error.
    """
    x = once(Saga("s", do("a", comp=OK), do("b", gate.shuts() >> fail(ValueError("real")), comp=OK)).start())
    assert (x.status, x.unwinding_at, x.error, order()) == ("running", None, None, ["a", "b"])
    assert [one.type for one in events(x)] == ["start", "late_result"]
    gate.left = 0
    lapse()
    assert end(drive(x)) == UNWOUND
    assert order() == ["a", "b", "~b", "~a"]
    assert "its worker" in now(x).error.text
    assert events(x, "late_result")[0].data["error"] == "ValueError: real"


def test_a_second_intent_that_is_refused(gate: Gate) -> None:
    """Attempt 1 failed, the write that begins attempt 2 is refused: it stays owed, and is not lost sight of.

    Hazard R3.
    """
    a = do("a", gate.shuts() >> fail(ValueError("real")), fail(ValueError("real")), attempts=2, comp=OK)
    x = once(Saga("s", a).start())
    assert (calls("a"), rec(x, "a").attempt) == (1, 1)
    gate.left = 0
    lapse()
    assert end(drive(x)) == UNWOUND
    assert order() == ["a", "a", "~a"] and now(x).error.text == "ValueError: real"


def test_a_compensation_whose_outcome_is_refused_for_good(gate: Gate) -> None:
    """Hazard A85, Hazard A86, Hazard A88, Hazard R11. The unwind stops there: no other compensation runs unrecorded.

    The next claim counts it as an attempt. With none left it does not call again: an operator has both ways out.
    """
    x = once(Saga("s", do("a", comp=OK), do("b", comp=[gate.shuts(), ok()]), do("c", fail(OSError))).start())
    assert (x.status, order()) == ("compensating", ["a", "b", "c", "~b"])
    gate.left = 0
    lapse()
    assert end(drive(x)) == halted("compensation_failed") and calls("~b") == 1
    assert outcomes(x) == {"a": "", "b": "failed"}
    x.resolve("b", reason="it is there")
    assert end(drive(x)) == UNWOUND


def test_a_claim_that_is_refused() -> None:
    """Hazard B66, Hazard B22. Nothing happens to the execution; the next one that looks takes it."""
    x = Saga("s", do("a")).start()
    with refusing(writes_to("execution")), pytest.raises(OperationalError, match="the disk is full"):
        inline.run_until_idle()
    assert (x.status, now(x).epoch, order()) == ("pending", 0, [])
    inline.run_until_idle()
    assert end(x) == DONE


@pytest.mark.parametrize("verb", ["abandon", "resume"])
def test_history_and_rows_are_one_write(verb: str) -> None:
    """No event is told of a change that was not written, nor a change without one.

    Hazard R27. Hazard B67. Hazard A77.
    """
    told: list[str] = []
    receiver = lambda sender, event, **_: told.append(event)  # noqa: E731
    x = stuck_backwards()
    execution_changed.connect(receiver)
    try:
        before = Event.objects.count()
        for table in ("event", "steprecord", "execution"):
            with refusing(writes_to(table)), suppress(OperationalError):
                getattr(x, verb)(reason="?")
        assert (Event.objects.count(), end(x), told) == (before, halted("compensation_failed"), [])
        getattr(x, verb)(reason="?")
        assert Event.objects.count() > before
        drive(x)
    finally:
        execution_changed.disconnect(receiver)


def test_a_listener_that_raises() -> None:
    """Hazard A141. Whoever listens hears after the commit, each by itself, and can break nothing."""
    heard: list[tuple[str, bool]] = []

    def breaks(**_: Any) -> None:
        raise RuntimeError("a listener")

    def listens(*, event: str, execution_id: Any, saga: str, **_: Any) -> None:
        heard.append((event, connection.in_atomic_block))

    for receiver in (breaks, listens):
        execution_changed.connect(receiver)
    try:
        assert end(begun(do("a", comp=OK), do("b", fail(OSError)))) == UNWOUND
        assert heard == [("unwinding", False), ("failed", False)]
    finally:
        for receiver in (breaks, listens):
            execution_changed.disconnect(receiver)


def test_the_history_of_a_life() -> None:
    """Hazard R30, Hazard B212, Hazard B213. Every turn of it leaves one line, in order, whichever way it went.

    Written in the transaction that turns; lines of one moment keep their order.
    """
    clock.set(clock.now())
    x = begun(do("a", comp=[fail(OSError), ok()]), do("b", fail(ValueError)), on_failure="hold")
    x.unwind(reason="no")
    drive(x)
    x.resume(reason="now")
    x.suspend(reason="not now")
    drive(x)
    x.resume(reason="but now")
    drive(x)
    assert [one.type for one in events(x)] == [
        "start", "stuck", "unwind", "unwinding", "stuck", "resume", "suspend", "suspended", "resume", "failed",
    ]  # fmt: skip
    assert len({one.at for one in events(x)}) == 1
    y = begun(do("a"), Pivot(), do("b"))
    assert [one.type for one in events(y)] == ["start", "pivoted", "completed"]
