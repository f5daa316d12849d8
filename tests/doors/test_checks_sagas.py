"""What the checks say about sagas and steps: provoked, and silent on right ones."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from saga_app import Context, DefinitionError, Milestone, Saga, Sleep, While, ref, step, testing
from tests.doors.checking import found, only


@pytest.fixture(autouse=True)
def alone():
    """Without the sagas of other tests."""
    with testing.isolate_sagas():
        yield


def test_two_sagas_of_one_name_and_revision(monkeypatch) -> None:
    from saga_app.core import registry

    monkeypatch.setattr(registry._Current.shelf, "replaces", False)
    Saga("twice", step(attempts=1)(one))
    Saga("twice", step(attempts=1)(one))
    message = only("E009")
    assert "'twice'" in message.msg


def test_a_saga_that_cannot_run() -> None:
    """Its input lacks what a step asks for: known once everything is imported."""
    saga = Saga("broken", step(attempts=1)(takes), input=Nothing)
    with pytest.raises(DefinitionError) as raised:
        saga.start()
    message = only("E010")
    assert message.msg == str(raised.value)
    assert __name__ in str(message.hint)


def test_an_atomic_step_on_another_database() -> None:
    far = step(atomic=True, using="other")(one)
    Saga("far", far)
    assert "'other'" in only("E008").msg


def test_an_atomic_step_on_the_same_database() -> None:
    Saga("near", step(atomic=True, using="default")(one), step(atomic=True)(two))
    assert found() == {}


def test_a_retried_step_that_cannot_tell_that_it_is_retried() -> None:
    blind = step()(one)
    Saga("blind", blind)
    Saga("blind-too", blind.named("again"))
    message = only("W005")
    assert "`one`" in message.msg
    assert "up to 3 times" in message.msg
    for cure in ("ctx.idempotency_key", "idempotent=True", "atomic=True", "attempts=1"):
        assert cure in str(message.hint)


def test_every_cure_of_it() -> None:
    Saga(
        "cured",
        step(attempts=1)(one),
        step(idempotent=True)(two),
        step(atomic=True)(three),
        step()(asks),
        step(name="told")(takes).bind(token=lambda ctx: ctx.idempotency_key),
        step(name="given", attempts=1)(takes).bind(token=ref("input.order")),
    )
    assert found() == {}


@dataclass
class Nothing:
    """An input without a field."""


def one() -> None:
    """A body."""


def two() -> None:
    """A body."""


def three() -> None:
    """A body."""


def asks(ctx: Context) -> None:
    """A body that asks for the context."""


def takes(token: str) -> None:
    """A body that is given a key."""


def test_a_loop_that_owes_more_with_each_turn() -> None:
    """Hundreds of months are not undone for the failure of one: it is said where the milestone goes."""

    @step(idempotent=True)
    def charge() -> None:
        """One month."""

    charge.compensate(lambda: None)
    with testing.isolate_sagas():
        Saga("rents", While(lambda: True, charge, Sleep(60)).named("monthly"))
        message = only("W008")
        assert 'Milestone("monthly_done")' in str(message.hint)
    with testing.isolate_sagas():
        Saga("rents", While(lambda: True, charge, Sleep(60), Milestone("monthly_done")).named("monthly"))
        assert found() == {}
