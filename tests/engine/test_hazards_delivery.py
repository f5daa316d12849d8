"""Hazards of delivery: there is no queue beside the table, so nothing is delivered late, twice, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from uuid import UUID

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from saga_app import Context, Saga, executor, step
from saga_app.models import Execution, StepRecord
from saga_app.queue import inline
from saga_app.store import claims
from tests.engine.drives import DATABASES, dies, drive, killed, refusing, writes_to
from tests.engine.standing import STATES, begun, pending, stuck_backwards
from tests.faults import lapse
from tests.harness import DONE, OK, UNWOUND, calls, do, end, fail, halted, now, ok, order, rows_of

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def test_a_start_is_one_row_that_is_due() -> None:
    """Hazard A19, Hazard B21, Hazard B24, Hazard B80, Hazard B225. There is nothing to enqueue, to mark or to relay.

    A worker that polls finds it; before that the caller knows its id, and a start that is refused leaves no row.
    """
    saga = Saga("s", do("a"))
    with refusing(writes_to("event")), pytest.raises(OperationalError):
        saga.start(key="k")
    assert not Execution.objects.exists()
    x = saga.start(key="k")
    assert isinstance(x.pk, UUID) and x.is_new
    assert claims.is_due("default", x.pk)
    assert inline.run_until_idle() == 1
    assert end(x) == DONE


@pytest.mark.parametrize("key", [None, "another"])
def test_an_id_that_is_there_already(monkeypatch: pytest.MonkeyPatch, key: str | None) -> None:
    """Hazard A21. A plain insert: were two ids equal (74 random bits in each millisecond), the first row would stay."""
    saga = Saga("s", do("a"))
    x = saga.start(key="one")
    before = rows_of(x)
    monkeypatch.setattr(Execution._meta.get_field("id"), "default", lambda: x.pk)
    monkeypatch.setattr(Execution._meta.get_field("id"), "_get_default", lambda: x.pk)
    with pytest.raises((IntegrityError, Execution.DoesNotExist)):
        saga.start(key=key)
    assert rows_of(x) == before
    assert Execution.objects.count() == 1


def test_it_is_not_taken_up_twice_at_once() -> None:
    """Hazard A24, Hazard A28, Hazard A79, Hazard A132, Hazard B46, Hazard B72, Hazard B77. Held is held, for everybody.

    Also for its own bodies, in both directions, which are told at once instead of waiting for themselves; and whoever
    looks for work counts no execution that somebody drives.
    """
    inside: list[object] = []

    def look(ctx: Context) -> None:
        inside.append(executor.drive(ctx.execution_id, holder="host:2"))
        inside.append(executor.drive_next(holder="host:3"))

    @step
    def a(ctx: Context) -> None:
        look(ctx)

    @a.compensate
    def undo(ctx: Context) -> None:
        look(ctx)

    assert end(begun(a, do("b", fail(OSError)))) == UNWOUND
    assert inside == [False, 0, False, 0]
    assert order() == ["b"]


@pytest.mark.parametrize("state", ["completed", "failed", "cancelled", "suspended", "stuck_forward", "stuck_backwards"])
def test_nothing_wakes_what_has_stopped(state: str) -> None:
    """Hazard A26, Hazard A29, Hazard B47, Hazard B65, Hazard B86, Hazard B158, Hazard B159. It cannot be claimed.

    However often somebody asks: it costs a look at executions and one at steps, no lock, and nothing of it changes.
    """
    x = STATES[state]()
    before, called = rows_of(x), order()
    for _ in range(3):
        with CaptureQueriesContext(connection) as asked:
            assert not executor.drive(x.pk, holder="host:1")
        assert len([one for one in asked if not one["sql"].startswith(("BEGIN", "COMMIT"))]) == 2
    assert executor.drive_next(holder="host:1") == 0
    assert (rows_of(x), order()) == (before, called)


def test_what_waits_is_not_taken_before_its_time() -> None:
    """Hazard A25, Hazard B86. A look that comes early finds nothing due, in either direction."""
    for state in ("waiting", "compensating"):
        x = STATES[state]()
        before, called = rows_of(x), order()
        assert not executor.drive(x.pk, holder="host:1")
        assert (rows_of(x), order()) == (before, called)


def test_it_can_be_taken_up_as_often_as_there_is_work() -> None:
    """Hazard A27, Hazard B160. No id of a job is remembered: every time it is due it is found, and only then."""
    x = Saga("s", *[do(f"s{n}") for n in range(5)]).start()
    claims_made = 0
    while executor.drive(x.pk, holder="host:1", go_on=lambda: False):
        claims_made += 1
    assert (claims_made, now(x).epoch) == (5, 5)
    assert order() == ["s0", "s1", "s2", "s3", "s4"]
    assert end(x) == DONE


def test_a_lost_claim_does_nothing() -> None:
    """Hazard A80, Hazard A134, Hazard B56, Hazard B75. Who loses the lease records nothing, and nothing fails for it.

    What it was told is left as a word in the history, since the effect may have landed.
    """

    @step(attempts=2)
    def a(ctx: Context) -> int:
        if ctx.attempt == 1:
            Execution.objects.filter(pk=ctx.execution_id).update(epoch=99, lease_holder="another:1:x")
        return ctx.attempt

    x = drive(Saga("s", a).start())
    assert (x.status, x.epoch, x.lease_holder) == ("running", 99, "another:1:x")
    (late,) = x.events.of("late_result")
    assert late.data == {"path": "a", "direction": "forward", "how": "returned"}
    Execution.objects.filter(pk=x.pk).update(due_at=x.created_at)
    assert end(drive(x)) == DONE


def test_a_lost_claim_of_a_compensation() -> None:
    """Hazard A80. The same backwards: it is not recorded as compensated by who has lost it, and waited for."""

    @step
    def a() -> None:
        pass

    @a.compensate
    def undo(ctx: Context) -> None:
        if ctx.attempt == 1:
            Execution.objects.filter(pk=ctx.execution_id).update(epoch=99)

    x = begun(a, do("b", fail(OSError)))
    assert x.status == "compensating" and x.steps.get(path="a").compensation_status == "running"
    assert [one.data["direction"] for one in x.events.of("late_result")] == ["compensate"]
    lapse()
    assert end(drive(x)) == UNWOUND


def test_reads_do_not_grow_with_what_has_run() -> None:
    """Hazard B1, Hazard R18. A drive reads the records of its own execution once, however many steps there are."""

    def reads(steps: int) -> int:
        x = Saga("s", *[do(f"s{n}") for n in range(steps)]).start()
        with CaptureQueriesContext(connection) as asked:
            assert end(drive(x)) == DONE
        reads = [one["sql"] for one in asked if one["sql"].startswith("SELECT")]
        return sum(StepRecord._meta.db_table in sql and "LIMIT 1" not in sql for sql in reads)  # which is a mere look

    assert reads(2) == reads(12) == 1


@pytest.mark.parametrize("make", [pending, stuck_backwards])
def test_what_a_dead_worker_held_is_found(make: Callable[[], Execution]) -> None:
    """Recovery is a claim like any other, forwards and backwards: nobody sweeps.

    Hazard B85. Hazard B89. Hazard B163.
    """
    x = make()
    Saga("s", do("a", dies(), ok(), attempts=2, comp=OK), do("b", comp=[ok(), dies(), ok()], comp_attempts=2), do("c"))
    if make is stuck_backwards:
        assert end(x) == halted("compensation_failed")
        x.resume()
    killed(x)
    assert inline.run_until_idle() == 1
    assert end(x) == (DONE if make is pending else UNWOUND)


def test_one_that_cannot_be_driven_stops_nobody_else() -> None:
    """Hazard R19, Hazard B88. What goes wrong with one execution is in its records; the next one is driven."""
    broken, others = Saga("s", do("a", takes="v")).start(v=1), [pending() for _ in range(2)]
    Execution.objects.filter(pk=broken.pk).update(input_text="{no JSON", priority=-5)
    Saga("s", do("a", takes="v", comp=OK), do("b"))
    inline.run_until_idle()
    assert end(broken) == ("failed", "not_applicable", "") and "Undecodable" in now(broken).error.type
    assert [end(x)[0] for x in others] == ["failed", "failed"]
    assert calls("a") == 0


def test_nothing_is_driven_inside_a_transaction() -> None:
    """Design §7.10. What was done there could be rolled back, and could never be undone."""
    saga = Saga("s", do("a"))
    with suppress(KeyError), transaction.atomic():
        saga.start()
        for drive_here in (saga.run, lambda: executor.drive_next(holder="host:1"), inline.run_until_idle):
            with pytest.raises(RuntimeError, match="transaction"):
                drive_here()
        raise KeyError
    assert not Execution.objects.exists() and order() == []
