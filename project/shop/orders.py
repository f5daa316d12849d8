"""Enters orders into the books and hands them to the saga."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from project.shop import faults
from project.shop.models import Order, OrderLine
from project.shop.sagas import place_order, special_order, supplier_order, wholesale_order
from saga_app import engine
from saga_app.models import Execution

SAGAS = {Order.Way.SHELF: place_order, Order.Way.WHOLESALE: wholesale_order, Order.Way.SPECIAL: special_order}
NAMES = [saga.name for saga in SAGAS.values()]


def enter(order: Order, lines: Iterable[OrderLine]) -> Order:
    """Save an order with its lines and its total."""
    lines = list(lines)
    order.total = sum((line.total for line in lines), order.freight)
    with transaction.atomic():
        order.save()
        for line in lines:
            line.order = order
        OrderLine.objects.bulk_create(lines)
    return order


def place(order: Order, *, due: datetime | None = None) -> Execution:
    """Start the saga of an order, now or when it is due; a second call finds the execution of the first."""
    faults.arrange(order)
    saga = SAGAS[Order.Way(order.way)].using(due=due)
    return saga.start(order_id=order.pk, card=order.card, total=order.total, key=order.saga_key)


def awaited() -> QuerySet[Execution]:
    """The purchases whose delivery is awaited."""
    return Execution.objects.filter(saga=supplier_order.name, steps__name="delivered", steps__status="waiting")


def deliver(purchase: Execution) -> None:
    """What a supplier does in the end: say that all of it has come. Said twice, it has come once."""
    engine.signal(purchase, "delivered", purchase.input["pieces"], key="all of it")


def execution_of(order: Order) -> Execution | None:
    """The execution that carries this order, if it was placed."""
    return executions_of([order]).get(order.pk)


def executions_of(orders: Iterable[Order]) -> dict[int, Execution]:
    """The executions of many orders, by the order's primary key, in two queries."""
    by_key = {order.saga_key: order.pk for order in orders}
    found = Execution.objects.filter(saga__in=NAMES, key__in=by_key).prefetch_related("steps")
    return {by_key[execution.key or ""]: execution for execution in found}
