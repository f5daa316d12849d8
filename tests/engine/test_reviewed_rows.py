"""What was found by reading: queued steps beside children, in stopped executions, and under other code."""

from __future__ import annotations

from functools import partial

import pytest

from saga_app import Child, Compute, GiveUp, Parallel, Saga, Wait, engine, executor, testing
from saga_app.models import Execution, StepRecord
from tests import ledger
from tests.engine.drives import DATABASES, dies, killed
from tests.engine.flows import later, settled
from tests.faults import lapse
from tests.gates import Gate, somebody
from tests.harness import DONE, OK, UNWOUND, do, end, fail, halted, held, now, ok, rec
from tests.reading import child
from tests.script import Entry
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def test_a_failed_step_beside_a_live_child() -> None:
    """An optional step fails while a child lives: who claims another step has to look at the whole group."""
    Saga("sub", Wait("go"))
    group = Parallel(a=Child("sub"), b=do("b", fail(GiveUp("no")), required=False), c=[do("c"), do("d")])
    x = settled(Saga("s", group).start())
    assert ledger.order() == ["b", "c", "d"]
    engine.signal(child(x, "sub"), "go")
    assert end(settled(x)) == DONE


def test_a_step_under_way_is_not_undone_before_its_lease_is_over() -> None:
    """Design §8.8. Workers that do not know the saga stop it while one that does runs a step; it is unwound then."""
    gate = Gate()
    clock.set(clock.now())
    x = Saga("s", Parallel(do("a", Entry(gate) >> ok(), comp=OK), do("b", queue="late"))).start()
    executor.drive(x.pk, holder="host:1")
    with somebody(partial(executor.drive_step, x.pk, holder="host:1")) as late:
        gate.reached()
        with testing.isolate_sagas():
            for _ in range(2):
                Execution.objects.filter(pk=x.pk).update(due_at=clock.now())
                executor.drive(x.pk, holder="host:2")
                clock.forward(3600)
        assert end(x) == held("definition_missing")
        StepRecord.objects.filter(pk=rec(x, "a").pk).update(row_due_at=clock.now())  # its last heartbeat
        engine.unwind(x)
        settled(x)
        assert ledger.calls("~a") == 0, "its body is not over"
        gate.open()
        late.result()
    assert end(later(x, 60)) == UNWOUND and ledger.calls("~a") == 1


def test_who_killed_the_workers_is_named_and_not_who_ran_beside() -> None:
    """A compute of a group kills its workers while a queued step runs: an operator speaks of the compute."""
    gate = Gate()
    killer = Compute("b", lambda: dies()(None))
    x = Saga("s", Parallel(a=do("a", Entry(gate) >> ok(), queue="q"), b=killer)).start()
    killed(x, lapses=False)
    with somebody(partial(executor.drive_next, holder="host:1", queues=["q"])) as other:
        gate.reached()
        Execution.objects.filter(pk=x.pk).update(deaths=3)
        lapse()
        gate.open()
        other.result()
    settled(x)
    assert (end(x), now(x).failing_path) == (held("worker_lost"), "b")


def test_a_compensation_that_is_gone_stops_the_unwind() -> None:
    """It waits in a queue when the code that knew it is replaced: an operator is called, and no worker is."""
    saga = Saga("s", do("a", comp=OK, queue="q"), do("b", fail(GiveUp("no"))))
    x = saga.start()
    for queues in ([""], ["q"], [""]):
        executor.drive_next(holder="host:1", queues=queues)
    assert rec(x, "a").compensation_status == "waiting"
    with testing.isolate_sagas():
        Saga("s", do("z"), do("b"))
        assert end(settled(x)) == halted("definition_changed")
    engine.resume(x)
    assert end(settled(x)) == UNWOUND


def test_nothing_begins_after_the_deadline() -> None:
    """A step runs when the time of the whole execution is up: it is waited for, and what is in a queue not begun."""
    gate = Gate()
    clock.set(clock.now())
    group = Parallel(do("a", Entry(gate) >> ok(), comp=OK), do("b", queue="late"))
    x = Saga("s", group, timeout=10).start()
    executor.drive(x.pk, holder="host:1")
    with somebody(partial(executor.drive_step, x.pk, holder="host:1")) as other:
        gate.reached()
        clock.forward(20)
        executor.drive(x.pk, holder="host:2")
        executor.drive_step(x.pk, holder="host:2")
        gate.open()
        other.result()
    assert end(settled(x)) == UNWOUND and ledger.calls("b") == 0


def test_a_compensation_whose_worker_is_lost_is_waited_for() -> None:
    """Design §8.8. Until the lease and the grace are over it may still be inside: nothing is undone meanwhile."""
    gate = Gate()
    clock.set(clock.now())
    undo = [Entry(gate) >> ok(), ok()]
    x = Saga("s", do("z", comp=OK), do("a", comp=undo, comp_attempts=2), do("b", fail(GiveUp("no")))).start()
    with somebody(partial(executor.drive, x.pk, holder="host:1")) as late:
        gate.reached()
        Execution.objects.filter(pk=x.pk).update(due_at=clock.now())
        executor.drive(x.pk, holder="host:2")
        assert (ledger.calls("~a"), ledger.calls("~z")) == (1, 0)
        gate.open()
        late.result()
    assert end(later(x, 60)) == UNWOUND and ledger.calls("~a") == 2
