"""Queued steps whose workers come too late, or get no answer: nothing is written twice, and nothing by a stranger."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError

from saga_app import Context, ForEach, Parallel, Saga, VerbRefused, engine, executor, ref, step, testing
from saga_app.core.status import DRIVEN
from saga_app.models import StepRecord
from saga_app.queue import inline
from tests import ledger
from tests.engine.drives import DATABASES
from tests.engine.queued_steps import arranged, settled, to_the_end, writes
from tests.faults import lapse
from tests.gates import Gate, somebody
from tests.harness import DONE, do, end, events, now, ok, rec, rows_of
from tests.script import Entry
from tests.settings import ENGINE
from tests.shared_clock import clock
from tests.site.models import Question
from tests.store.conftest import failing_commit
from tests.threads import at_once

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

two_locks = pytest.mark.skipif(ENGINE != "postgres", reason="SQLite has one lock: nobody writes while somebody writes")


def test_a_late_worker_records_nothing() -> None:
    """Promise P5. Back from a body whose row it has lost, it changes nothing, and leaves word."""
    gate = Gate()
    x = arranged(Saga("s", Parallel(do("a", Entry(gate) >> ok("late"), ok("new"), attempts=2), do("b")), do("c")))
    with somebody(partial(executor.drive, x.pk, holder="host:1")) as late:
        gate.reached()
        lapse()
        assert end(settled(x)) == DONE
        before = rows_of(x)
        gate.open()
        late.result()
    assert rows_of(x) == before and rec(x, "a").output == "new"
    assert [event.data["path"] for event in events(x, "late_result")] == ["a"]


@two_locks
def test_the_rows_of_a_late_worker_do_not_appear() -> None:
    """Promise P3. Its atomic body has written them; the fence, its last lock, takes them back."""
    gate = Gate()
    a = do("a", Entry(writes) >> Entry(gate), Entry(writes), atomic=True, attempts=2)
    x = arranged(Saga("s", Parallel(a, do("b"))))
    with somebody(partial(executor.drive, x.pk, holder="host:1")) as late:
        gate.reached()
        lapse()
        assert end(settled(x)) == DONE
        gate.open()
        late.result()
    assert Question.objects.count() == 1 and ledger.calls("a") == 2
    assert rec(x, "a").status == "completed" and not events(x, "late_result")


@two_locks
def test_a_heartbeat_of_an_atomic_body_gets_through() -> None:
    """Design §8.3. Neither the execution nor the row is locked while it runs, whatever it reports."""
    gate = Gate()

    @step(name="a", atomic=True)
    def a(ctx: Context) -> None:
        Question.objects.create(title="?")
        ctx.progress(1, "nearly")
        gate()

    x = arranged(Saga("s", Parallel(a, do("b"))))
    with somebody(partial(executor.drive, x.pk, holder="host:1")) as other:
        gate.reached()
        before = rec(x, "a").row_due_at
        StepRecord.objects.filter(pk=rec(x, "a").pk).update(row_due_at=before)  # would wait for a lock
        engine.cancel(x)
        gate.open()
        other.result()
    assert rec(x, "a").status == "completed"
    assert (end(settled(x)), rec(x, "b").status) == (("cancelled", "not_applicable", ""), "skipped")


@pytest.mark.parametrize("landed", [True, False], ids=["landed", "lost"])
@pytest.mark.parametrize("which", range(1, 10))
@pytest.mark.parametrize("atomic", [False, True], ids=["external", "atomic"])
def test_every_commit_may_lose_its_answer(which: int, landed: bool, atomic: bool, caplog: Any) -> None:
    """Design §7.2. Whichever COMMIT loses its connection, each body is called once and nobody takes it for lost."""
    entry = Entry(writes) if atomic else ok()
    x = Saga("s", Parallel(do("a", entry, atomic=atomic), do("b", entry, atomic=atomic)), do("c")).start()
    with failing_commit(which, landed=landed), suppress(OperationalError):  # a claim that was lost is the next ticket's
        inline.run_until_idle()
    inline.run_until_idle()
    assert end(x) == DONE
    assert sorted(ledger.order()) == ["a", "b", "c"] or (atomic and not landed)
    assert Question.objects.count() == (2 if atomic else 0)
    assert "somebody else" not in caplog.text


def test_a_worker_that_does_not_know_the_saga_leaves_it_to_others() -> None:
    """Design §7.8. Given back for half a minute; when the grace is over the execution stops, and says why."""
    clock.set(clock.now())
    saga = Saga("s", Parallel(do("a"), do("b")))
    x = arranged(saga)
    with testing.isolate_sagas():
        inline.run_until_idle()
        assert (rec(x, "a").row_deaths, rec(x, "a").row_holder) == (0, None)
        assert rec(x, "a").row_due_at == clock.now() + timedelta(seconds=30)
        assert now(x).definition_missing_since == clock.now()
        to_the_end(x)
        assert end(x) == ("stuck", "", "definition_missing")
    engine.resume(x)
    to_the_end(x)
    assert end(x) == DONE


def test_one_that_knows_it_takes_it_up_meanwhile() -> None:
    """And what the other one has noted is forgotten."""
    clock.set(clock.now())
    x = arranged(Saga("s", Parallel(do("a"), do("b"))))
    with testing.isolate_sagas():
        inline.run_until_idle()
    to_the_end(x)
    assert end(x) == DONE and now(x).definition_missing_since is None


def test_workers_verbs_and_heartbeats_at_one_execution_wait_for_nobody_long(caplog: Any) -> None:
    """Design §7.5. The execution first, then the row: six workers, pauses and wakes at forty rows, and no deadlock."""
    each = ForEach("line", ref("input.lines"), do("a", takes="line"), concurrency=20)
    x = arranged(Saga("s", each, do("b")), lines=list(range(40)))

    def works(number: int) -> None:
        while now(x).status in DRIVEN | {"suspended"}:
            executor.drive(x.pk, holder=f"host:{number}")
            StepRecord.objects.filter(execution=x, row_holder__isnull=False).update(
                progress=0.5
            )  # as a heartbeat locks

    def meddles() -> None:
        while now(x).status in DRIVEN | {"suspended"}:
            for verb in (engine.suspend, engine.resume):
                with suppress(VerbRefused):
                    verb(x)

    at_once(*[partial(works, number) for number in range(6)], meddles)
    assert end(x) == DONE
    assert ledger.calls("a") == 40 and len(ledger.keys("a")) == 40
    assert "deadlock" not in caplog.text
