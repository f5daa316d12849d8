"""What a compensation is told about its step, and what an execution still says of its failure when all is undone."""

from __future__ import annotations

from typing import Any

import pytest

from saga_app import GiveUp, Happened, Saga, Unknown, engine, step
from tests.engine.drives import DATABASES, dies, drive, killed
from tests.engine.standing import begun
from tests.harness import (
    NOTHING_OWED,
    OK,
    UNWOUND,
    calls,
    do,
    end,
    fail,
    halted,
    held,
    now,
    ok,
    rec,
    seen,
)

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def test_what_an_atomic_body_did_before_it_died() -> None:
    """Design §9.2. Nothing, whatever is asked about it: its transaction is gone with its worker, so nothing is owed."""
    pay = do("pay", dies(), fail(OSError), atomic=True, attempts=2, comp=OK, find=Unknown())
    x = Saga("s", pay).start()
    killed(x)
    killed(x)
    assert rec(x, "pay").status == "running"
    assert end(drive(x)) == NOTHING_OWED
    assert calls("~pay") == 0 and rec(x, "pay").may_have_happened is False


def test_what_was_found_on_the_way_back() -> None:
    """Design §9.2. It raised, and reconcile finds that it happened all the same: its compensation hears no less."""
    x = begun(do("pay", fail(OSError), comp=OK, needs_result=True, find=Happened(9)))
    assert end(x) == UNWOUND and calls("?pay") == 1
    (told,) = seen("~pay")
    assert (told["result"], told["outcome"]) == (9, "completed")


def test_the_error_of_what_is_said_to_have_happened() -> None:
    """Design §12. Skipped as happened it is a step that completed: its compensation hears of no error."""
    heard: list[Any] = []

    @step(attempts=1)
    def a() -> None:
        raise ValueError

    @a.compensate
    def undo(error: Any, result: Any) -> None:
        heard.append((error, result))

    x = begun(a, do("b", fail(GiveUp("no"))), on_failure="hold")
    assert end(x) == held("step_failed")
    drive(engine.skip(x, "a", happened=True, output=1, reason="seen there"))
    engine.unwind(x)
    assert end(drive(x)) == UNWOUND and heard == [(None, 1)]


def test_the_cause_outlives_a_halted_unwind() -> None:
    """Design §9.8. It halted for another reason meanwhile; in the end it says again why it failed, grouped by that."""

    def failed(*undo: Any) -> Any:
        return begun(do("a", comp=undo), do("b", fail(GiveUp("why"))))

    plainly, x = failed(ok()), failed(fail(OSError), ok())
    assert end(x) == halted("compensation_failed")
    halting = now(x)
    assert halting.failing_path == "a" and halting.cause not in ("", plainly.cause)
    engine.resume(x)
    assert end(drive(x)) == UNWOUND
    assert (now(x).cause, now(x).failing_path, now(x).error) == (plainly.cause, "b", plainly.error)
