"""A special order and its purchases: each an execution of its own, which its order answers for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from project.shop import catalogue, faults, orders, payments, supplier, warehouse
from project.shop.faults import Fault
from project.shop.models import Order, Product, StockMovement
from saga_app import engine, testing
from saga_app.models import Execution
from tests.shop.placing import carried, driven, order_for

pytestmark = pytest.mark.django_db
WANTED = {"T-01": 3, "K-03": 2}


@pytest.fixture(autouse=True)
def shelf() -> Iterator[None]:
    catalogue.stock_the_shelf()
    yield
    testing.clock.release()


def placed(fault: Fault = Fault.NONE) -> tuple[Order, Execution]:
    order = order_for(WANTED, fault, Order.Way.SPECIAL)
    return order, carried(order)


def all_delivered(execution: Execution) -> Execution:
    for purchase in orders.awaited():
        orders.deliver(purchase)
    return driven(execution)


def bought(order: Order) -> list[str]:
    return sorted(entry.text for entry in supplier.purchases(order.pk) if not entry.struck)


def test_it_waits_for_every_delivery_and_is_carried_through() -> None:
    order, execution = placed()
    assert (execution.status, len(orders.awaited())) == ("waiting", 2)
    execution = all_delivered(execution)
    assert execution.status == "completed", execution.error
    assert execution.output == ["3 × T-01", "2 × K-03"]
    assert len(warehouse.parcels(order.pk)) == 1
    assert Product.objects.get(sku="K-03").stock == 1  # two came, and never stood on the shelf


def test_a_delivery_that_is_told_twice_has_come_once() -> None:
    _, execution = placed()
    for purchase in [*orders.awaited(), *orders.awaited()]:
        orders.deliver(purchase)
    driven(execution)
    assert StockMovement.objects.filter(kind="supply").count() == 2


def test_one_that_is_sold_out_cancels_what_was_bought_elsewhere() -> None:
    order, execution = placed(Fault.SOLD_OUT)
    assert (execution.status, execution.rollback_status) == ("failed", "completed")
    assert execution.error
    assert "sold out" in execution.error.text
    assert sorted(execution.children.values_list("status", flat=True)) == ["cancelled", "failed"]
    assert bought(order) == []
    assert [(charge.refunded == charge.amount) for charge in payments.charges(card=order.card)] == [True]


def test_a_purchase_that_never_comes_ends_with_its_time() -> None:
    order, execution = placed()
    execution = driven(execution, over=timedelta(days=31))
    assert (execution.status, execution.rollback_status) == ("failed", "completed")
    assert bought(order) == []


def test_a_supplier_that_takes_nothing_back_leaves_the_order_stuck_until_somebody_acts() -> None:
    order, execution = placed(Fault.SUPPLIER_KEEPS)
    execution = all_delivered(execution)
    assert (execution.status, execution.stuck_reason) == ("stuck", "child_stuck")
    faults.mend(order)
    while stuck := Execution.objects.stuck().exclude(stuck_reason="child_stuck").first():
        engine.resume(stuck, reason="the supplier was talked to")
        testing.drain()
    execution.refresh_from_db()
    assert (execution.status, execution.rollback_status) == ("failed", "completed")
    assert set(execution.children.values_list("status", flat=True)) == {"cancelled"}
    assert bought(order) == []
    assert Product.objects.get(sku="K-03").stock == 1
