"""Arguments that take code or rows of the project to make: who is hurt when that fails, and what may pass."""

from __future__ import annotations

import time

import pytest
from django.db import DataError, OperationalError

from saga_app import GiveUp, RetryLater, Saga, engine, step
from tests.engine.drives import DATABASES, drive
from tests.engine.standing import begun
from tests.harness import (
    DONE,
    NOTHING_OWED,
    OK,
    UNWOUND,
    calls,
    do,
    end,
    error,
    fail,
    halted,
    held,
    now,
    ok,
    outcomes,
    rec,
)
from tests.site.models import Order

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

both = pytest.mark.parametrize("atomic", [False, True], ids=["external", "atomic"])


class Faulty:
    """A bound callable that raises for so many calls, and then says 7."""

    def __init__(self, raised: BaseException, times: int = 10**9) -> None:
        self.raised, self.times = raised, times
        self.asked = 0

    def __call__(self) -> int:
        self.asked += 1
        if self.asked <= self.times:
            raise self.raised
        return 7


def slow() -> int:
    time.sleep(5)
    return 7


def test_a_row_that_is_gone_matters_to_who_asks_for_it() -> None:
    """Design §11. Other fields of the same input can be read, and a compensation that does not ask for it is called."""
    undone: list[int] = []

    @step
    def a(order: Order) -> int:
        return order.quantity

    @a.compensate
    def undo(result: int) -> None:
        undone.append(result)

    @step
    def b() -> None:
        Order.objects.all().delete()

    c = do("c", ok(lambda n: n), takes="n")
    x = drive(Saga("s", a, b, c, do("d", fail(GiveUp("no")))).start(order=Order.objects.create(quantity=4), n=3))
    assert end(x) == UNWOUND and undone == [4] and rec(x, "c").output == 3


def test_a_row_that_is_gone_is_named_by_who_asks_for_it() -> None:
    """Design §11. The step that takes it fails, with its body uncalled."""
    gone = step(name="b")(lambda: Order.objects.all().delete())
    x = drive(Saga("s", do("a", comp=OK), gone, do("c", takes="order")).start(order=Order.objects.create()))
    assert end(x) == UNWOUND and calls("c") == 0
    assert "Undecodable" in error(x, "c") and "site.Order" in error(x, "c")


@both
@pytest.mark.parametrize("raised", [DataError("out of range"), OperationalError("the database is locked")])
def test_a_database_that_refuses_for_a_moment(raised: Exception, atomic: bool) -> None:
    """Design §8.5. It may pass: the arguments are made once more, and the body is called with them, once."""
    bound = Faulty(raised, times=1)
    x = begun(do("a", ok(lambda n: n), takes="n", attempts=2, atomic=atomic).bind(n=bound))
    assert end(x) == DONE and rec(x, "a").output == 7
    assert (bound.asked, calls("a")) == (2, 1)


@both
@pytest.mark.parametrize("raised", [DataError("out of range"), OperationalError("the database is locked")])
def test_a_database_that_goes_on_refusing(raised: Exception, atomic: bool) -> None:
    """Design §8.5. Each try is an attempt that counts, or it would be for ever; nothing is owed for it."""
    bound = Faulty(raised)
    x = begun(do("a", takes="n", attempts=3, atomic=atomic, comp=OK).bind(n=bound))
    assert end(x) == NOTHING_OWED and now(x).lease_holder is None and now(x).deaths == 0
    assert rec(x, "a").attempt == 3 and calls("a") == 0 and str(raised) in error(x, "a")
    assert bound.asked == (9 if atomic and isinstance(raised, OperationalError) else 3)  # a transaction is run thrice


@both
def test_arguments_that_take_too_long(atomic: bool) -> None:
    """Design §8.7. They are made within the step's own time. That may pass too: an attempt that counts."""
    x = begun(do("a", takes="n", attempts=2, timeout=0.1, atomic=atomic, comp=OK).bind(n=slow))
    assert end(x) == NOTHING_OWED and rec(x, "a").attempt == 2 and calls("a") == 0
    assert "StepTimeout" in error(x, "a")


@both
@pytest.mark.parametrize("raised", [ValueError("no n"), RetryLater(0), SystemExit(1), KeyboardInterrupt()])
def test_anything_else_fails_the_step_at_once(raised: BaseException, atomic: bool) -> None:
    """Hazard R31. A binding that is wrong is wrong tomorrow: it is asked once, and who drives lives on."""
    bound = Faulty(raised)
    x = begun(do("z", comp=OK), do("a", takes="n", attempts=3, atomic=atomic, comp=OK).bind(n=bound))
    assert end(x) == UNWOUND and (bound.asked, calls("a"), calls("~a")) == (1, 0, 0)
    assert type(raised).__name__ in error(x, "a")
    assert end(begun(do("next"))) == DONE


def test_a_step_that_is_said_to_have_happened_and_never_had_arguments() -> None:
    """Design §12. Hazard B194. Its compensation is not called without them: it halts, says which, and is resolved."""
    a = do("a", takes="n", comp=OK).bind(n=Faulty(ValueError("no n")))
    x = begun(do("z", comp=OK), a, do("b", fail(GiveUp("no"))), on_failure="hold")
    assert end(x) == held("step_failed")
    drive(engine.skip(x, "a", happened=True, output=1, reason="seen there"))
    engine.unwind(x)
    assert end(drive(x)) == halted("compensation_failed") and calls("~a") == 0
    assert "parameter `n`" in rec(x, "a").compensation_error.text
    engine.resolve(x, "a", reason="done by hand")
    assert end(drive(x)) == UNWOUND and outcomes(x) == {"z": "compensated", "a": "resolved"}
