"""Hazards of the way back: what is undone, in which order, what halts it, and what is told afterwards."""

from __future__ import annotations

import pytest
from django.db import IntegrityError

from saga_app import Context, GiveUp, Happened, NotHappened, Pivot, Saga, Unknown, engine, step
from saga_app.models import Execution
from tests import ledger
from tests.engine.drives import DATABASES, dies, drive, killed
from tests.engine.standing import LATER, STATES, begun
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
    order,
    outcomes,
    rec,
    seen,
    told,
)

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def test_the_step_that_failed_is_undone_first() -> None:
    """Hazard A62, Hazard B146, Hazard B147, Hazard B148. Its effect may have landed: it is undone, told that it failed.

    Then the others, the latest start first; a step without a handler blocks nothing.
    """
    x = begun(do("a", ok(1), comp=OK), do("b"), do("c", ok(3), comp=OK), do("d", fail(OSError), comp=OK))
    assert end(x) == UNWOUND
    assert order() == ["a", "b", "c", "d", "~d", "~c", "~a"]
    assert [seen(name)[0]["outcome"] for name in ("~d", "~c", "~a")] == ["failed", "completed", "completed"]
    assert [seen(name)[0].get("result") for name in ("~d", "~c", "~a")] == [None, 3, 1]
    assert outcomes(x) == dict.fromkeys("acd", "compensated")


def test_every_outcome_is_recorded() -> None:
    """Hazard A64. Of each step that owed one, what became of its compensation can be read: also that it succeeded."""
    x = begun(do("a", comp=[fail(OSError), ok()], comp_attempts=2), do("b", comp=OK), do("c", fail(OSError)))
    assert end(x) == UNWOUND
    record = rec(x, "a")
    assert (record.compensation_status, record.compensation_attempt) == ("compensated", 2)
    assert record.compensation_finished_at is not None and record.compensation_error is None
    assert rec(x, "c").compensation_status == ""


def test_it_halts_at_the_first_that_fails() -> None:
    """What started earlier stays, without an outcome, as the plan says.

    Hazard A63. Hazard A67. Hazard B154. Hazard A92.
    Nothing is called on top of a standing effect, and the rollback is stuck, not done.
    """
    x = begun(
        do("a", comp=OK), do("b", comp=[fail(OSError)], comp_attempts=2), do("c", comp=OK), do("d", fail(ValueError))
    )
    assert end(x) == halted("compensation_failed")
    assert order() == ["a", "b", "c", "d", "~c", "~b", "~b"]
    assert outcomes(x) == {"a": "", "b": "failed", "c": "compensated"}
    assert [(one.path, one.action) for one in engine.plan(x)] == [
        ("d", "nothing"), ("c", "done"), ("b", "halt"), ("a", "blocked"),
    ]  # fmt: skip


def test_two_facts_about_a_failure() -> None:
    """Why it failed and what became of the rollback: neither is lost.

    Promise P9. Hazard A93. Hazard B152. Hazard A11.
    """
    x = begun(do("a", comp=[fail(OSError("refund refused"))]), do("b", fail(ValueError("out of stock"))))
    assert (now(x).error.text, rec(x, "a").compensation_error.text) == (
        "ValueError: out of stock", "OSError: refund refused",
    )  # fmt: skip
    x.resolve("a", reason="by hand")
    assert end(drive(x)) == UNWOUND
    assert now(x).error.text == "ValueError: out of stock" and error(x, "b") == "ValueError: out of stock"


def test_nothing_to_undo_is_a_plain_failure() -> None:
    """Hazard B149, Hazard R22, Hazard A82. Where no handler ran because none was owed, it does not say rolled back."""
    assert end(begun(do("a"), do("b", fail(OSError)))) == NOTHING_OWED
    assert end(begun(do("a", fail(OSError)))) == NOTHING_OWED
    assert end(begun(do("a", comp=OK, atomic=True), do("b", fail(OSError), comp=OK, atomic=True))) == UNWOUND
    assert calls("~b") == 0 and calls("~a") == 1


def test_what_succeeds_undoes_nothing() -> None:
    """No handler is called; a forward call knows nothing of undoing.

    Hazard B145. Hazard B156. Hazard B157.
    """

    @step
    def a(ctx: Context) -> list[str]:
        return [ctx.outcome, ctx.forward_idempotency_key]

    x = begun(a, do("b", comp=OK), Pivot(), do("c", comp=OK))
    assert end(x) == DONE and order() == ["b", "c"]
    assert rec(x, "a").output == ["", ""]
    assert now(x).rollback_status == "" and now(x).unwinding_at is None


def test_opted_out_in_this_place() -> None:
    """`compensate=False` is honoured at the first step and at any; and stored.

    Hazard B150. Hazard B142. Hazard B144.
    """
    pay = do("pay", comp=OK)
    x = begun(pay.named("first", compensate=False), pay, pay.named("last", compensate=False), do("z", fail(OSError)))
    assert end(x) == UNWOUND
    assert order() == ["pay", "pay", "pay", "z", "~pay"]
    assert [rec(x, path).owes for path in ("first", "pay", "last")] == [False, True, False]


def test_past_the_pivot_nothing_is_undone() -> None:
    """Hazard A91. What the world was told stands, before the pivot and after it, whatever fails later."""
    x = begun(do("a", comp=OK), Pivot(), do("b", comp=OK), do("c", fail(OSError), comp=OK))
    assert end(x) == held("failed_past_pivot")
    assert engine.plan(x) == []
    assert told(x.cancel) == told(x.unwind) == "past_pivot"
    x.abandon(reason="let it be")
    assert end(x) == NOTHING_OWED
    assert order() == ["a", "b", "c"]


def test_the_pivot_is_passed_when_what_is_before_it_has_run() -> None:
    """Hazard A91. A failure right before the pivot still goes back."""
    assert end(begun(do("a", comp=OK), do("b", fail(OSError)), Pivot(), do("c"))) == UNWOUND
    assert end(begun(do("a", comp=OK), do("b", fail(OSError), required=False), Pivot(), do("c"))) == DONE


def test_the_last_attempt_comes_first() -> None:
    """Hazard B62, Hazard B164. As long as it may be tried again nothing is undone, and once it is, nothing is tried."""
    x = begun(do("a", comp=OK), do("b", fail(OSError), comp=OK, attempts=2, backoff=LATER))
    assert (x.status, order()) == ("waiting", ["a", "b"])
    x.cancel(reason="not wanted")
    assert end(drive(x)) == ("cancelled", "completed", "")
    assert order() == ["a", "b", "~b", "~a"]
    assert rec(x, "b").status == "failed" and rec(x, "b").attempt == 1


def test_a_compensation_is_tried_again_by_itself() -> None:
    """Hazard B153. It has attempts of its own; GiveUp ends them."""
    x = begun(do("a", comp=[fail(OSError), fail(OSError), ok()], comp_attempts=3), do("b", fail(OSError), attempts=2))
    assert end(x) == UNWOUND and calls("~a") == 3 and calls("b") == 2
    ledger.clear()
    y = begun(do("a", comp=[fail(GiveUp("closed account")), ok()], comp_attempts=3), do("b", fail(OSError)))
    assert end(y) == halted("compensation_failed") and calls("~a") == 1


def test_a_compensation_that_needs_a_result() -> None:
    """Design §3. Hazard A94. It is never called without one: reconcile is asked, else an operator."""

    def story(find: object, *, lost: bool) -> Execution:
        a = do("a", dies() if lost else fail(OSError), comp=OK, needs_result=True, find=find)
        x = Saga("s", do("z", comp=OK), a).start()
        if lost:
            killed(x)
        return drive(x)

    for lost in (True, False):
        ledger.clear()
        x = story(NotHappened(), lost=lost)
        assert end(x) == UNWOUND and order() == ["z", "a", "~z"]
        assert ("reconcile says that it did nothing" if lost else "OSError") in now(x).error.text
        ledger.clear()
        x = story(Unknown(), lost=lost)
        assert end(x) == halted("outcome_unknown") and calls("~a") == 0 and calls("?a") == 1
        x.resolve("a", reason="nothing there")
        assert end(drive(x)) == UNWOUND
        ledger.clear()
        x = story(Happened("c1"), lost=lost)
        assert end(x) == (DONE if lost else UNWOUND)
        assert lost or seen("~a")[0]["result"] == "c1"


def test_terminal_means_that_the_rollback_is_decided() -> None:
    """The table refuses a failed row whose rollback nobody has decided.

    Hazard R15. Hazard A89. Hazard A83. Hazard B201.
    The write that says that it failed is the one that says what was undone; there is no moment between the two.
    """
    for state in ("failed", "cancelled"):
        rows = Execution.objects.filter(pk=STATES[state]().pk)
        for undecided in ("", "stuck"):
            with pytest.raises(IntegrityError):
                rows.update(rollback_status=undecided)
    x = begun(do("a", comp=[fail(OSError)]), do("b", fail(OSError)))
    assert now(x).finished_at is None and now(x).rollback_status == "stuck"


def test_all_of_an_execution_in_sequence_not_by_clock() -> None:
    """The order of the starts is a number of its own, whatever the clocks said.

    Hazard A95. Hazard B175.
    """
    x = begun(do("a", comp=OK), do("b", comp=OK), do("c", comp=OK), do("d", fail(OSError)), on_failure="hold")
    for place, path in enumerate("cab"):
        x.steps.filter(path=path).update(started_at=x.created_at.replace(microsecond=place), finished_at=x.created_at)
    x.unwind()
    assert end(drive(x)) == UNWOUND
    assert order() == ["a", "b", "c", "d", "~c", "~b", "~a"]
