"""Returns: approved by somebody else, waited for, and settled as the customer wished; or turned down."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.core import mail

from project.shop import catalogue, outside, payments, returns, warehouse
from project.shop.models import Order, Product, StoreCredit
from saga_app import VerbRefused, engine, testing
from saga_app.models import Execution
from tests.shop.placing import carried, driven, order_of

pytestmark = pytest.mark.django_db
WEEK = timedelta(days=7, seconds=1)


@pytest.fixture(autouse=True)
def shelf() -> Iterator[None]:
    catalogue.stock_the_shelf()
    yield
    testing.clock.release()


@pytest.fixture
def clerk() -> User:
    return staff("clerk")


@pytest.fixture
def manager() -> User:
    return staff("manager")


def staff(name: str) -> User:
    person = User.objects.create_user(name)
    person.user_permissions.set(Permission.objects.filter(codename="approve_return"))
    return person


def taken_in(clerk: User, wish: str = "refund") -> tuple[Order, Execution]:
    order = order_of(pieces=2)
    order.freight = 5
    order.total += 5
    order.save()
    assert carried(order).status == "completed"
    return order, driven(returns.take_in(order, wish=wish, reason="tastes of soap", actor=clerk))


def refunded(order: Order) -> list[object]:
    return [charge.refunded for charge in payments.charges(card=order.card)]


def labels(order: Order) -> list[bool]:
    return [not entry.struck for entry in outside.entries(warehouse.LABELS, order.pk)]


def test_it_is_approved_comes_back_and_the_money_is_given_back(clerk: User, manager: User) -> None:
    order, execution = taken_in(clerk)
    engine.approve(execution, "refund_ok", actor=manager, values={"restock": True})
    assert driven(execution).status == "waiting"
    assert labels(order) == [True]
    returns.has_come_back(execution)
    assert driven(execution).status == "completed"
    assert refunded(order) == [order.worth]
    assert Product.objects.get(sku="T-01").stock == 60


def test_who_took_it_in_may_not_approve_it(clerk: User) -> None:
    _, execution = taken_in(clerk)
    with pytest.raises(VerbRefused, match="somebody else has to decide"):
        engine.approve(execution, "refund_ok", actor=clerk)
    with pytest.raises(VerbRefused, match="may not decide"):
        engine.approve(execution, "refund_ok", actor=User.objects.create_user("stranger"))
    assert driven(execution).status == "waiting"


@pytest.mark.parametrize(("condition", "restock"), [("damaged", True), ("as new", False)])
def test_what_cannot_be_sold_again_is_not_restocked(clerk: User, manager: User, condition: str, restock: bool) -> None:
    order, execution = taken_in(clerk, wish="credit")
    engine.approve(execution, "refund_ok", actor=manager, values={"restock": restock})
    returns.has_come_back(execution, condition)
    assert driven(execution).status == "completed"
    assert (refunded(order), StoreCredit.objects.get().amount) == ([0], order.worth)
    assert Product.objects.get(sku="T-01").stock == 58


def test_one_that_is_turned_down_gives_nothing_and_says_why(clerk: User, manager: User) -> None:
    order, execution = taken_in(clerk)
    engine.reject(execution, "refund_ok", actor=manager, reason="it was opened")
    assert driven(execution).status == "completed"
    assert (refunded(order), labels(order), StoreCredit.objects.count()) == ([0], [], 0)
    assert "it was opened" in str(mail.outbox[-1].body)


def test_a_parcel_that_does_not_come_is_asked_for_and_then_given_up(clerk: User, manager: User) -> None:
    order, execution = taken_in(clerk)
    engine.approve(execution, "refund_ok", actor=manager)
    execution = driven(execution, over=WEEK)
    assert (execution.status, execution.rollback_status) == ("failed", "completed")
    assert sum("has not reached us" in str(message.body) for message in mail.outbox) == 4
    assert (labels(order), refunded(order)) == ([False], [0])


def test_one_that_nobody_decides_ends_with_its_time(clerk: User) -> None:
    _, execution = taken_in(clerk)
    execution = driven(execution, over=timedelta(days=31))
    assert (execution.status, execution.rollback_status) == ("failed", "not_applicable")


def test_a_bank_that_refuses_the_refund_leaves_it_to_an_operator(clerk: User, manager: User) -> None:
    order, execution = taken_in(clerk)
    outside.tell(order.card, "refuse refund", times=outside.ALWAYS)
    engine.approve(execution, "refund_ok", actor=manager)
    returns.has_come_back(execution)
    execution = driven(execution)
    assert (execution.status, execution.stuck_reason) == ("stuck", "failed_past_pivot")
    outside.forget(order.card)
    engine.resume(execution, reason="the bank was talked to")
    assert driven(execution).status == "completed"
    assert refunded(order) == [order.worth]
