"""What was found by reading: what a group's failure cuts short, and who goes on with it."""

from __future__ import annotations

from functools import partial

import pytest

from saga_app import (
    Backoff,
    Branch,
    Child,
    Compute,
    ForEach,
    GiveUp,
    Parallel,
    Pivot,
    Saga,
    Try,
    Wait,
    engine,
    executor,
)
from saga_app.models import StepRecord
from tests import ledger
from tests.engine.drives import DATABASES
from tests.engine.flows import settled, statuses
from tests.gates import Gate, somebody
from tests.harness import DONE, OK, do, end, fail, fix, held, now, ok, per, rec
from tests.reading import child
from tests.script import Entry

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]

LATER = Backoff(first=30, factor=1, max=30, jitter=0)


def test_a_step_refused_because_its_group_has_failed_is_not_lost() -> None:
    """Another branch fails in a group inside of the group, so nobody cuts the step that waits; its claim is refused."""
    inner = Parallel(a=do("a", fail(GiveUp("no")), ok(), queue="q"), b=do("b", queue="r"))
    x = Saga("s", Parallel(inner=inner, c=[Wait("go"), do("c")]), on_failure="hold").start()
    executor.drive(x.pk, holder="host:1")
    executor.drive_next(holder="host:1", queues=["q"])
    executor.drive_next(holder="host:1", queues=["r"])
    assert statuses(x)["b"] == "skipped"
    assert end(settled(x)) == held("step_failed")
    engine.resume(x)
    engine.signal(x, "go")
    assert end(settled(x)) == DONE
    assert ledger.calls("b") == 1 and ledger.calls("c") == 1


def test_what_was_cut_twice_had_begun_never() -> None:
    """Two branches fail; one is skipped, so what was cut goes on, and is cut again: it has not failed."""
    gate = Gate()
    a, b = do("a", Entry(gate) >> fail(GiveUp("a")), queue="q"), do("b", fail(GiveUp("b")))
    x = Saga("s", Parallel(a, b, do("c", queue="late")), on_failure="hold").start()
    executor.drive(x.pk, holder="host:1")
    with somebody(partial(executor.drive_next, holder="host:1", queues=["q"])) as other:
        gate.reached()
        executor.drive_next(holder="host:1", queues=[""])
        gate.open()
        other.result()
    for failed in ("ab", "b"):
        executor.drive_next(holder="host:1", queues=[""])
        assert (end(x), statuses(x)["c"]) == (held("step_failed"), "skipped"), failed
        engine.skip(x, now(x).failing_path, happened=False, reason="did not")
    assert end(settled(x)) == DONE and ledger.calls("c") == 1


def test_a_fork_does_again_what_was_cut_short() -> None:
    """A branch that was cut short has done nothing: the fork does it."""
    group = Parallel(b=[Wait("go"), do("b")], a=do("a", fail(GiveUp("no")), ok()))
    x = settled(Saga("s", do("z"), group).start())
    assert end(x)[0] == "failed" and statuses(x)["go"] == "skipped"
    fix("a", ok())
    y = settled(engine.fork(x, "a"))
    engine.signal(y, "go")
    assert end(settled(y)) == DONE and ledger.calls("b") == 1


def test_what_is_chosen_is_never_asked_again_whatever_it_is_called() -> None:
    """A way that is called as what is cut short."""
    asked: list[int] = []
    way = Branch(lambda: asked.append(1) or "cut", cut=do("c")).named("way")
    x = settled(Saga("s", Pivot(), Parallel(a=[way], b=do("b", fail(GiveUp("no"))))).start())
    assert end(x) == held("failed_past_pivot")
    fix("b", ok())
    engine.resume(x)
    assert end(settled(x)) == DONE and len(asked) == 1 and ledger.calls("c") == 1


@pytest.mark.parametrize("other", ["backoff", "child"])
def test_what_a_failure_cut_short_is_no_other_failure(other: str) -> None:
    """A group fails of what is caught. A sibling that was cut short while it waited to be tried has not failed."""
    Saga("sub", do("n", comp=OK), Wait("go"))
    beside = Child("sub") if other == "child" else do("b", fail(OSError), ok(), attempts=2, backoff=LATER, comp=OK)
    group = Parallel(beside, late=[Compute("p", lambda: 1), do("a", fail(GiveUp("no")))])
    x = settled(Saga("s", Try(group, catch=(GiveUp,), recover=[do("r")]), do("z")).start())
    assert end(x) == DONE, now(x).error
    assert ledger.calls("r") == 1
    if other == "child":
        assert end(child(x, "sub")) == ("cancelled", "completed", "")


def test_a_long_loop_goes_on_with_all_that_was_cut_short() -> None:
    """Many items wait when a later one fails: none of them counts as over."""
    body = do("a", per("n", {25: [fail(GiveUp("no")), ok()]}), takes="n")
    x = Saga("s", ForEach("n", lambda: list(range(30)), body, concurrency=30), on_failure="hold").start()
    executor.drive(x.pk, holder="host:1")
    StepRecord.objects.filter(path="n[25]/a").update(row_due_at=now(x).created_at)
    executor.drive_step(x.pk, holder="host:1")
    assert end(settled(x)) == held("step_failed") and ledger.calls("a") == 1
    engine.resume(x)
    assert end(settled(x)) == DONE and ledger.calls("a") == 31


def test_what_was_recovered_from_stays_as_it_was() -> None:
    """Another branch stops the execution: a resume opens nothing of a group whose failure was caught."""
    careful = Try(Parallel(do("a", fail(GiveUp("no")), queue="q"), do("b", queue="late")), recover=[do("r")])
    group = Parallel(careful=careful, other=[Wait("go"), do("c", fail(GiveUp("no")), ok())])
    x = Saga("s", Pivot(), group).start()
    executor.drive(x.pk, holder="host:1")
    executor.drive_next(holder="host:1", queues=["q"])
    settled(x)
    engine.signal(x, "go")
    assert end(settled(x)) == held("failed_past_pivot")
    before = rec(x, "b").finished_at
    engine.resume(x)
    assert end(settled(x)) == DONE and (rec(x, "b").status, rec(x, "b").finished_at) == ("skipped", before)
