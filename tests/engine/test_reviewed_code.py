"""What was found by reading: executions that other code goes on with."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError

from saga_app import Branch, ForEach, GiveUp, InputError, Parallel, Saga, Try, engine, executor, testing
from saga_app.models import Execution
from tests import ledger
from tests.engine.drives import DATABASES
from tests.engine.flows import settled, statuses
from tests.gates import Gate, somebody
from tests.harness import DONE, do, end, events, fail, held, per
from tests.script import Entry
from tests.store.conftest import failing_commit

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def test_a_choice_is_no_number_of_items() -> None:
    """What was a Branch is a loop of the same name now: that does not fit, and an operator is told so."""
    way = Branch(lambda: "card", card=do("a")).named("way")
    x = settled(Saga("s", way, do("b", fail(GiveUp("no"))), on_failure="hold").start())
    x.resume()
    with testing.isolate_sagas():
        Saga("s", ForEach("way", lambda: [1], do("a")), do("b"))
        assert end(settled(x)) == held("definition_changed")


def test_fewer_side_by_side_than_have_begun() -> None:
    """New code takes two at a time where four wait: what fails cuts short the others all the same."""
    gate = Gate()

    def saga(most: int) -> Saga[Any]:
        plans = {0: [Entry(gate) >> fail(GiveUp("no"))], 1: [fail(GiveUp("no"))]}
        body = do("a", per("n", plans), takes="n", queue="q")
        return Saga("s", Try(ForEach("n", lambda: [0, 1, 2, 3], body, concurrency=most), recover=[do("r")]))

    x = saga(4).start()
    executor.drive(x.pk, holder="host:1")
    assert list(statuses(x).values()).count("queued") == 4
    with testing.isolate_sagas():
        saga(2)
        with somebody(partial(executor.drive_step, x.pk, holder="host:1")) as other:
            gate.reached()
            executor.drive_step(x.pk, holder="host:2")
            gate.open()
            other.result()
        executor.drive(x.pk, holder="host:1")
        assert [status for path, status in statuses(x).items() if path in ("n[2]/a", "n[3]/a")] == ["skipped"] * 2
        assert end(settled(x)) == DONE
    assert ledger.calls("a") == 2 and ledger.calls("r") == 1


def test_code_that_does_not_fit_calls_no_queued_step() -> None:
    """It waits in its queue when a step is put before its group: the execution stops, until it fits again."""
    x = Saga("s", Parallel(do("a"), do("b"))).start()
    executor.drive(x.pk, holder="host:1")
    with testing.isolate_sagas():
        Saga("s", do("z"), Parallel(do("a"), do("b")))
        executor.drive_step(x.pk, holder="host:1")
        assert ledger.order() == []
        assert end(settled(x)) == held("definition_changed")
    x.resume()
    assert end(settled(x)) == DONE and sorted(ledger.order()) == ["a", "b"]


def test_code_that_fits_calls_them() -> None:
    """A step more at the end."""
    x = Saga("s", Parallel(do("a"), do("b"))).start()
    executor.drive(x.pk, holder="host:1")
    with testing.isolate_sagas():
        Saga("s", Parallel(do("a"), do("b")), do("c"))
        assert end(settled(x)) == DONE and ledger.order()[2:] == ["c"]


@pytest.mark.parametrize("landed", [True, False], ids=["landed", "lost"])
@pytest.mark.parametrize("verb", ["rerun", "fork"])
def test_a_new_execution_whose_commit_is_in_doubt(verb: str, landed: bool) -> None:
    """Design §7.2. It has landed, so nobody is told that it has not, and does it twice; or it has not."""
    x = settled(Saga("s", do("a"), do("b")).start())
    again = partial(engine.rerun, x) if verb == "rerun" else partial(engine.fork, x, "b")
    made = None
    with failing_commit(1, landed=landed), suppress(OperationalError):
        made = again()
    assert Execution.objects.count() == 1 + landed and (made is not None) == landed
    assert len(events(x, verb)) == landed
    if made is not None:
        assert made.is_new and events(x, verb)[0].data["execution"] == str(made.pk)
        assert end(settled(made)) == DONE


def test_a_rerun_under_code_that_takes_another_input() -> None:
    """It is refused at once, and says what is missing."""
    x = settled(Saga("s", do("a", takes="n")).start(n=1))
    Saga("s", do("a", takes="n m"), revision=2)
    with pytest.raises(InputError):
        engine.rerun(x)
    assert Execution.objects.count() == 1
