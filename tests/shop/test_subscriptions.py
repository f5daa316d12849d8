"""Subscriptions: what was paid stays paid, whatever becomes of the next period."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core import mail

from project.shop import catalogue, outside, payments, subscriptions
from project.shop.models import Period, Product, Subscription
from saga_app import engine, testing
from saga_app.models import Execution
from tests.shop.placing import driven

pytestmark = pytest.mark.django_db
PRICE = Decimal("9.80")


@pytest.fixture(autouse=True)
def shelf() -> Iterator[None]:
    catalogue.stock_the_shelf()
    yield
    testing.clock.release()


def subscribed(periods: int = 3) -> tuple[Subscription, Execution]:
    tea = Product.objects.get(sku="T-03")
    subscription = Subscription(customer="Ada", product=tea, price=PRICE, periods=periods)
    execution = subscriptions.subscribe(subscription)
    testing.drain()
    return subscription, execution


def month(execution: Execution, days: int = 30) -> Execution:
    testing.clock.forward(timedelta(days=days, seconds=1))
    testing.drain()
    return Execution.objects.get(pk=execution.pk)


def kept(subscription: Subscription) -> list[Decimal]:
    return [charge.amount - charge.refunded for charge in payments.charges(card=subscription.card)]


def test_every_period_is_charged_and_booked_once() -> None:
    subscription, execution = subscribed()
    assert [month(execution).status for _ in range(3)] == ["waiting", "waiting", "completed"]
    assert kept(subscription) == [PRICE] * 3
    booked = Period.objects.values_list("number", "charge")
    assert list(booked) == [(n, c.id) for n, c in enumerate(payments.charges(card=subscription.card), start=1)]


def test_a_card_that_is_declined_once_is_asked_for_and_charged_again() -> None:
    subscription, execution = subscribed()
    outside.tell(subscription.card, "decline", times=1)
    month(execution)
    assert [message.subject for message in mail.outbox] == ["Your subscription to Lapsang Souchong"]
    assert month(execution, days=3).status == "waiting"
    assert kept(subscription) == [PRICE] * 2


def test_one_whose_card_stays_declined_rests_at_what_was_paid() -> None:
    subscription, execution = subscribed()
    outside.tell(subscription.card, "decline", times=outside.ALWAYS)
    month(execution)
    execution = month(execution, days=3)
    assert (execution.status, execution.rollback_status, execution.rested_at) == ("failed", "rested", "paid")
    assert kept(subscription) == [PRICE]


def test_one_that_is_cancelled_keeps_what_was_paid() -> None:
    subscription, execution = subscribed()
    engine.cancel(execution, reason="moved away")
    execution = driven(execution)
    assert (execution.status, execution.rollback_status) == ("cancelled", "rested")
    assert kept(subscription) == [PRICE]


def test_a_charge_that_is_not_booked_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what comes after the last milestone is undone."""
    subscription, execution = subscribed()

    def full(*_: object, **__: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Period, "save", full)
    month(execution)
    execution = driven(execution)
    assert (execution.status, execution.rollback_status) == ("failed", "rested")
    assert kept(subscription) == [PRICE, Decimal(0)]
