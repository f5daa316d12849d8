"""Hazards of rows that several hands write, and of what a body and an input are told."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest

from saga_app import Context, Saga, clock, engine, ref, step
from saga_app.core.errors import StepTimeout
from saga_app.models import Event, Execution, StepRecord
from tests.engine.drives import DATABASES, drive
from tests.engine.standing import begun, stuck_forward
from tests.forking import race
from tests.harness import DONE, OK, UNWOUND, do, end, events, fail, held, now, ok, rec, rows_of, told

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def test_rows_are_not_written_by_hand() -> None:
    """Nothing that was done can be saved over or removed by accident.

    Hazard A32. Hazard R10. Hazard R16. Hazard B219.
    """
    x = begun(do("a", comp=OK), do("b", fail(OSError)))
    before = rows_of(x)
    for row in (now(x), StepRecord.objects.first(), Event.objects.first()):
        assert row is not None
        for write in (row.save, row.delete):
            with pytest.raises(TypeError, match="by hand"):
                write()
    assert rows_of(x) == before


def test_a_drive_writes_what_it_changed_and_nothing_else() -> None:
    """Hazard A31, Hazard B2, Hazard B93. What others write meanwhile is not written over by an older picture."""

    @step
    def a(ctx: Context) -> None:
        Execution.objects.filter(pk=ctx.execution_id).update(priority=7, suspend_reason="kept")

    @step
    def b(ctx: Context) -> None:
        ctx.progress(0.5, "half way")

    x = begun(a, b)
    assert end(x) == DONE
    assert (now(x).priority, now(x).suspend_reason, rec(x, "b").progress_text) == (7, "kept", "half way")


def test_two_operators_at_once() -> None:
    """Hazard A34, Hazard A79, Hazard R17. Exactly one wins, on two connections as well; the other is told why not."""
    x = stuck_forward()
    version = x.version
    answers = race(*[lambda n=n: told(engine.resume, x, reason=str(n), version=version) for n in range(4)])
    assert sorted(answers) == ["", *["version_changed"] * 3]
    assert len(events(x, "resume")) == 1 and now(x).resume_count == 1


def test_a_body_is_told_that_its_time_is_over() -> None:
    """Hazard A14, Hazard R24. It knows when, is interrupted then, and is over before the next attempt begins."""
    told_: list[Any] = []

    @step(attempts=2, timeout=0.05)
    def a(ctx: Context) -> str:
        assert ctx.deadline is not None
        told_.append(ctx.deadline - clock.now() <= timedelta(seconds=0.05))
        try:
            while ctx.attempt == 1:
                pass
        except StepTimeout:
            told_.append("interrupted")
            raise
        return ctx.idempotency_key

    x = begun(a)
    if x.status == "waiting":
        x = drive(x.resume())
    assert end(x) == DONE
    assert told_ == [True, "interrupted", True]
    assert rec(x, "a").output == rec(x, "a").idempotency_key


def test_an_input_as_its_own_check_made_it() -> None:
    """Hazard A15, Hazard R26. Defaults and what the check replaced are what every step and compensation sees."""

    def order(sku: str, quantity: int = 3) -> dict[str, str]:
        return {"sku": sku.strip().upper()}

    seen: list[tuple[str, int]] = []

    @step
    def a(sku: str, quantity: int) -> None:
        seen.append((sku, quantity))

    @a.compensate
    def undo(sku: str, quantity: int) -> None:
        seen.append((sku, quantity))

    x = drive(Saga("s", a, do("b", fail(OSError)), input=order).start(sku=" a1 "))
    assert end(x) == UNWOUND
    assert x.input == {"sku": "A1", "quantity": 3} and seen == [("A1", 3)] * 2


def test_a_failure_is_no_noise(caplog: pytest.LogCaptureFixture) -> None:
    """Hazard B82. What a body raised is in its record, with the traceback; the log has a line for each turn."""
    caplog.set_level(logging.INFO, "saga_app")
    x = begun(do("a", comp=OK), do("b", fail(ValueError("out of stock"))))
    assert "Traceback" not in caplog.text
    assert [one.getMessage().rsplit(": ", 1)[1] for one in caplog.records] == ["unwinding", "failed"]
    assert "out of stock" in rec(x, "b").error.traceback and not rec(x, "b").error.traceback.startswith("ValueError")


def test_what_is_handed_over_is_what_was_stored() -> None:
    """Hazard B19. A step sees values as they were stored, in the same drive too: no object goes from body to body."""
    mine: list[Any] = [{"n": 1}]

    @step
    def a() -> Any:
        return mine

    @step
    def b(a: Any) -> Any:
        a.append("changed by b")
        return len(a)

    x = begun(a, b, do("c", ok(lambda a: a), takes="a"))
    assert end(x) == DONE
    assert (mine, rec(x, "c").output) == ([{"n": 1}], [{"n": 1}])


def test_an_output_that_leads_nowhere() -> None:
    """All steps have run, and what to return cannot be had: an operator sees why, and has every way out."""
    x = begun(do("a", ok({}), comp=OK), output=ref("a.charge"))
    assert end(x) == held("undecodable") and "charge" in now(x).error.text
    x.resume(reason="again")
    assert end(drive(x)) == held("undecodable")
    x.unwind(reason="then not")
    assert end(drive(x)) == UNWOUND and "charge" in now(x).error.text
