"""Code that changes under running executions: revisions missing, shapes changed, handlers vanished (design §11)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from saga_app import Saga, engine, testing
from saga_app.models import Execution
from tests.engine.drives import DATABASES, drive
from tests.harness import (
    DONE,
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
    order,
    outcomes,
    rec,
    told,
    why,
)
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

MISSING, CHANGED = "definition_missing", "definition_changed"


def elsewhere_defined(x: Execution) -> Execution:
    """Drive it in a process that knows no saga at all."""
    with testing.isolate_sagas():
        return drive(x)


def waits_until_stuck(x: Execution) -> list[float]:
    """Seconds for which it is put back each time, by a worker that does not know its saga."""
    found = []
    while elsewhere_defined(x).status != "stuck":
        row = now(x)
        assert row.definition_missing_since is not None, "the reason is shown"
        assert row.lease_holder is None and row.due_at is not None
        found.append((row.due_at - clock.now()).total_seconds())
        clock.set(row.due_at)
    return found


def test_an_unknown_saga_is_put_back_and_then_stuck() -> None:
    """Design §7.8. Hazard R20, Hazard B91, Hazard B207. 30 s, doubled, within the grace; then an operator sees why.

    Nothing is called and no attempt is used; once the definition is back, resume goes on.
    """
    clock.set(clock.now())
    x = Saga("s", do("a"), do("b")).start()
    assert waits_until_stuck(x) == [30, 60, 120, 240, 150]
    assert end(x) == held(MISSING)
    assert "s\n1" in why(x)
    assert order() == []
    x.resume(reason="deployed")
    assert end(drive(x)) == DONE
    assert now(x).definition_missing_since is None


def test_the_waits_end_at_five_minutes(settings: Any) -> None:
    """Design §7.8. However long the grace, somebody looks every five minutes."""
    settings.SAGA = {"DEFINITION_GRACE": 1500}
    clock.set(clock.now())
    x = Saga("s", do("a")).start()
    assert waits_until_stuck(x) == [30, 60, 120, 240, 300, 300, 300, 150]


def test_a_worker_that_knows_it_goes_on_after_one_that_does_not() -> None:
    """Design §7.8. In a rolling deploy an old worker's look costs a wait and leaves nothing behind."""
    clock.set(clock.now())
    x = Saga("s", do("a")).start()
    assert elsewhere_defined(x).status == "waiting"
    assert drive(x).status == "waiting", "not due yet"
    clock.forward(30)
    assert end(drive(x)) == DONE
    assert now(x).definition_missing_since is None


def test_missing_in_the_middle_of_an_unwind() -> None:
    """It keeps its direction while it waits, is stuck and is resumed; what has its outcome keeps it."""
    clock.set(clock.now())
    x = Saga("s", do("a", comp=OK), do("b", comp=[fail(OSError), ok()]), do("c", fail(OSError))).start()
    assert end(drive(x)) == halted("compensation_failed")
    x.resume()
    assert elsewhere_defined(x).status == "compensating"
    clock.forward(timedelta(hours=1))
    assert end(elsewhere_defined(x)) == halted(MISSING)
    assert outcomes(x) == {"a": "", "b": ""}
    x.resume()
    assert end(drive(x)) == UNWOUND
    assert order() == ["a", "b", "c", "~b", "~b", "~a"]


@pytest.mark.parametrize("verb", ["cancel", "abandon"])
def test_missing_and_not_wanted_any_more(verb: str) -> None:
    """Hazard A74. Without any definition at hand an operator can still end it: what is owed has an outcome."""
    clock.set(clock.now())
    x = Saga("s", do("a", comp=OK), do("b", fail(OSError)), on_failure="hold").start()
    drive(x)
    x.resume()
    elsewhere_defined(x)
    clock.forward(timedelta(hours=1))
    assert end(elsewhere_defined(x)) == held(MISSING)
    with testing.isolate_sagas():
        assert engine.plan(x) == []
        getattr(engine, verb)(x, reason="no longer wanted")
    if verb == "abandon":
        assert end(x) == ("failed", "abandoned", "") and outcomes(x) == {"a": "abandoned"}
    else:
        assert end(drive(x)) == ("cancelled", "completed", "") and outcomes(x) == {"a": "compensated"}


def test_revisions_live_side_by_side() -> None:
    """Hazard A129, Hazard B177, Hazard B206. Each keeps the revision it was started under; a name means the last."""
    one = Saga("s", do("a", comp=OK), do("b", fail(OSError)))
    x = one.start()
    Saga("s", do("z"), revision=2)
    y = engine.start("s")
    assert (x.revision, y.revision) == (1, 2)
    drive(x)
    drive(y)
    assert (end(x), end(y)) == (UNWOUND, DONE)
    assert order() == ["a", "b", "~a", "z"]


def stopped_after_two() -> Execution:
    """An execution whose first two steps have run, and whose third has failed and is held."""
    saga = Saga("s", do("a"), do("b"), do("c", fail(OSError), ok()), on_failure="hold")
    x = saga.start()
    assert end(drive(x)) == held("step_failed")
    return x


@pytest.mark.parametrize(
    "changed",
    [
        lambda: [do("a"), do("b"), do("c", fail(OSError), ok()), do("d")],
        lambda: [do("a"), do("b"), do("c", fail(OSError), ok()), do("d"), do("e", atomic=True)],
        lambda: [do("a", attempts=7, comp=OK), do("b", required=False), do("c", fail(OSError), ok())],
    ],
    ids=["one more at the end", "two more", "other options"],
)
def test_a_changed_definition_that_fits_goes_on(changed: Callable[[], list[Any]]) -> None:
    """Design §11. What ran is still the beginning of what is written."""
    x = stopped_after_two()
    later = Saga("s", *changed(), on_failure="hold")
    x.resume()
    assert end(drive(x)) == DONE
    assert order() == ["a", "b", "c", "c", *(step.name for step in later.steps[3:])]


@pytest.mark.parametrize(
    "changed",
    [
        lambda: [do("a"), do("c")],
        lambda: [do("a"), do("new"), do("b"), do("c")],
        lambda: [do("b"), do("a"), do("c")],
        lambda: [do("a"), do("renamed"), do("c")],
        lambda: [do("a")],
    ],
    ids=["removed", "inserted", "swapped", "renamed", "cut"],
)
def test_a_changed_definition_that_does_not_fit_stops(changed: Callable[[], list[Any]]) -> None:
    """Hazard A129, Hazard A131, Hazard B208. What ran is not what is written: stuck, and nothing is called.

    A row that never stored a fingerprint is judged by what ran as well. With the code it ran with, it goes on.
    """
    x = stopped_after_two()
    Execution.objects.filter(pk=x.pk).update(fingerprint="")
    with testing.isolate_sagas():
        Saga("s", *changed(), on_failure="hold")
        x.resume()
        assert end(drive(x)) == held(CHANGED)
        assert told(x.skip, "b", happened=True, reason="?") == "step_not_stuck"
    assert order() == ["a", "b", "c"]
    x.resume()
    assert end(drive(x)) == DONE


def unwinding(*, second: Any = None) -> tuple[Saga[Any], Execution]:
    """An execution whose unwind has halted at c's compensation, with two more owed before it."""
    saga = Saga(
        "s", do("a", comp=OK), second or do("b", comp=OK), do("c", comp=[fail(OSError), ok()]), do("d", fail(OSError))
    )
    x = saga.start()
    assert end(drive(x)) == halted("compensation_failed")
    return saga, x


@pytest.mark.parametrize("gone", ["the step", "the handler"])
def test_a_vanished_handler_halts_the_unwind(gone: str) -> None:
    """Design §9.4. Hazard A70, Hazard A71. What owes and has no handler any more is neither dropped nor walked past."""
    _, x = unwinding()
    with testing.isolate_sagas():
        Saga("s", do("a", comp=OK), do("b" if gone == "the handler" else "renamed"), do("c", comp=OK), do("d"))
        x.resume()
        assert end(drive(x)) == halted(CHANGED)
        assert now(x).failing_path == "b"
        assert outcomes(x) == {"a": "", "b": "", "c": "compensated"}
    x.resume()
    assert end(drive(x)) == UNWOUND
    assert order()[4:] == ["~c", "~c", "~b", "~a"]


def test_a_vanished_handler_is_resolved_by_hand() -> None:
    """Hazard A70, Hazard B194. With the code gone for good, an operator does it by hand, and the rest goes on."""
    _, x = unwinding()
    Saga("s", do("a", comp=OK), do("c", comp=OK), do("d"))
    x.resume()
    assert end(drive(x)) == halted(CHANGED)
    x.resolve("b", reason="refunded in the shop's own system")
    assert end(drive(x)) == UNWOUND
    assert outcomes(x) == {"a": "compensated", "b": "resolved", "c": "compensated"}


def test_what_has_vanished_and_is_settled_is_left_alone() -> None:
    """Hazard A72. A renamed step that was compensated already keeps that outcome, and halts nothing."""
    saga = Saga("s", do("a", comp=[fail(OSError), ok()]), do("b", comp=OK), do("c", fail(OSError)))
    x = saga.start()
    assert end(drive(x)) == halted("compensation_failed")
    Saga("s", do("a", comp=OK), do("renamed", comp=OK), do("c"))
    x.resume()
    assert end(drive(x)) == UNWOUND
    assert outcomes(x) == {"a": "compensated", "b": "compensated"}
    assert calls("~b") == 1


def test_what_owes_is_what_had_a_handler_when_it_ran() -> None:
    """Hazard A71, Hazard B150. Without a compensation it owed nothing, whether it vanishes or is given one later."""
    _, x = unwinding(second=do("b"))
    Saga("s", do("a", comp=OK), do("c", comp=OK), do("d"))
    x.resume()
    assert end(drive(x)) == UNWOUND
    assert rec(x, "b").owes is False
    _, y = unwinding(second=do("b"))
    Saga("s", do("a", comp=OK), do("b", comp=OK), do("c", comp=OK), do("d"))
    y.resume()
    assert end(drive(y)) == UNWOUND
    assert calls("~b") == 0


def test_abandoning_over_a_vanished_handler() -> None:
    """Hazard A74. Abandon goes by the same rule as the unwind: what owes and has no outcome is abandoned."""
    _, x = unwinding()
    Saga("s", do("a", comp=OK), do("c", comp=OK), do("d"))
    x.resume()
    drive(x)
    x.abandon(reason="written off")
    assert end(x) == ("failed", "abandoned", "")
    assert outcomes(x) == {"a": "abandoned", "b": "abandoned", "c": "compensated"}
