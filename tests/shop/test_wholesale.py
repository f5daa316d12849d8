"""An order of many parcels: all of them leave, or none, and what was begun for the others is undone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from project.shop import catalogue, outside, payments, warehouse
from project.shop.faults import Fault
from project.shop.models import Order, Product
from saga_app import testing
from saga_app.models import Execution
from tests.shop.placing import carried, order_for

pytestmark = pytest.mark.django_db
WANTED = {"T-01": 40, "T-05": 30}
BOXES = 6


@pytest.fixture(autouse=True)
def shelf() -> Iterator[None]:
    catalogue.stock_the_shelf()
    yield
    testing.clock.release()


def placed(fault: Fault = Fault.NONE) -> tuple[Order, Execution]:
    order = order_for(WANTED, fault, Order.Way.WHOLESALE)
    return order, carried(order)


def standing(book: str) -> list[str]:
    return [entry.text for entry in outside.entries(book) if not entry.struck]


def test_every_box_is_packed_labelled_and_handed_over() -> None:
    order, execution = placed()
    assert (execution.status, execution.output) == ("completed", BOXES), execution.error
    assert sorted(standing(warehouse.BOXES)) == [f"box {number}" for number in range(1, BOXES + 1)]
    assert [parcel.code for parcel in warehouse.parcels(order.pk)] == sorted(standing(warehouse.LABELS))
    assert [charge.amount for charge in payments.charges(card=order.card)] == [order.total]


def test_labels_are_printed_by_the_workers_beside_the_printer() -> None:
    _, execution = placed()
    queues = dict(execution.steps.filter(kind="step").values_list("path", "queue"))
    assert queues["box[3]/print_label"] == "labels"
    assert queues["box[3]/pack"] == queues["charge"] == ""


@pytest.mark.parametrize("fault", [Fault.BOX_BREAKS, Fault.INVOICE_REFUSED, Fault.CARD_DECLINED])
def test_one_that_fails_undoes_all_that_was_done_beside_it(fault: Fault) -> None:
    order, execution = placed(fault)
    assert (execution.status, execution.rollback_status) == ("failed", "completed")
    assert standing(warehouse.BOXES) == standing(warehouse.LABELS) == warehouse.parcels(order.pk) == []
    assert [charge.refunded for charge in payments.charges(card=order.card) if charge.refunded != charge.amount] == []
    assert Product.objects.get(sku="T-01").stock == 60
