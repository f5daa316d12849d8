"""What was found by reading: queued steps beside children, in stopped executions, and under other code."""

from __future__ import annotations

from functools import partial

import pytest

from saga_app import Child, Compute, GiveUp, Parallel, Saga, Wait, engine, executor, testing
from saga_app.models import Execution
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
    """Design §8.8. Code that does not fit stops an execution while a step runs; an operator has it unwound."""
    gate = Gate()

    def group() -> Parallel:
        return Parallel(do("a", Entry(gate) >> ok(), comp=OK, queue="q"), do("b", comp=OK))

    x = Saga("s", group()).start()
    executor.drive(x.pk, holder="host:1")
    with somebody(partial(executor.drive_next, holder="host:1", queues=["q"])) as late:
        gate.reached()
        with testing.isolate_sagas():
            Saga("s", do("z"), group())
            assert end(settled(x)) == held("definition_changed")
            engine.unwind(x)
            settled(x)
            assert ledger.calls("~a") == 0, "its body is not over"
            gate.open()
            late.result()
            assert end(later(x, 60)) == UNWOUND
    assert ledger.calls("~a") == 1


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
        executor.drive_next(holder="host:2", queues=[""])
        assert (end(x), now(x).failing_path) == (held("worker_lost"), "b")
        gate.open()
        other.result()


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
