"""What was found by reading: sleeps and children whose arguments cannot be made, and gates that are answered twice."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError

from saga_app import Approval, Child, GiveUp, Saga, Sleep, Try, engine, testing
from saga_app.queue import inline
from tests import ledger
from tests.engine.drives import DATABASES
from tests.engine.flows import later, settled
from tests.harness import DONE, do, end, fail, held, rec, told
from tests.reading import children
from tests.shared_clock import clock

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


def failing(times: int, error: Exception, value: Any) -> Any:
    """A callable that fails so many times, then returns that."""
    left = [error] * times

    def made() -> Any:
        if left:
            raise left.pop()
        return value

    return made


def test_a_sleep_is_slept_however_often_its_length_could_not_be_had() -> None:
    """A database hiccup while its length is made: it is made again, and then slept. It is not over at once."""
    clock.set(clock.now())
    x = Saga("s", Sleep(failing(1, OperationalError("gone"), 3600)), do("a")).start()
    for _ in range(4):
        x = later(x, 30)
    assert ledger.calls("a") == 0
    assert end(later(x, 3600)) == DONE


def test_a_sleep_that_could_not_begin_is_slept_after_a_resume() -> None:
    """An operator tries it again: what failed was how long it takes, not that it takes long."""
    clock.set(clock.now())
    x = Saga("s", Sleep(failing(1, ValueError("no"), 3600)), do("a"), on_failure="hold").start()
    assert end(settled(x)) == held("step_failed")
    x.resume()
    settled(x)
    assert ledger.calls("a") == 0
    assert end(later(x, 3600)) == DONE


def test_a_child_that_can_not_be_born_fails() -> None:
    """What it begins with is made as often as a step is tried, with a pause between."""
    clock.set(clock.now())
    Saga("sub", do("b", takes="n"))
    made: list[int] = []

    def number() -> int:
        made.append(1)
        assert len(made) < 10
        raise OperationalError("gone")

    x = Saga("s", Child("sub").bind(n=number)).start()
    inline.run_until_idle(1)
    for _ in range(5):
        later(x, 60)
    assert end(x)[0] == "failed"
    assert len(made) == 3 and children(x) == []


def test_a_signal_is_no_decision() -> None:
    """Who sends it where the saga is not known may name an approval: only who may decide opens it."""
    x = settled(Saga("s", Approval("boss", permission="shop.approve"), do("a")).start())
    with testing.isolate_sagas():
        engine.signal(x, "boss", {"approved": True})
    settled(x)
    assert (rec(x, "boss").status, ledger.calls("a")) == ("waiting", 0)


def test_a_key_names_one_decision(django_user_model: Any) -> None:
    """Rejected, opened again by an operator, and approved with the key that the rejection had: that is refused."""
    boss = django_user_model.objects.create(username="boss", is_superuser=True)
    x = settled(Saga("s", Approval("boss", allow=lambda: True), do("a"), on_failure="hold").start())
    engine.reject(x, "boss", actor=boss, key="k")
    assert end(settled(x)) == held("step_failed")
    settled(engine.resume(x))
    assert told(engine.approve, x, "boss", actor=boss, key="k") == "decided"
    engine.approve(x, "boss", actor=boss, key="k2")
    assert end(settled(x)) == DONE


def test_a_cancel_does_not_blame_what_was_recovered_from() -> None:
    """A failure that a Try has caught is not why an execution that is cancelled later ends."""
    careful = Try(do("a", fail(GiveUp("no"))), recover=[do("r")])
    x = settled(Saga("s", careful, Sleep(3600)).start())
    engine.cancel(x)
    x = settled(x)
    assert (end(x)[0], x.error, x.failing_path) == ("cancelled", None, "")
