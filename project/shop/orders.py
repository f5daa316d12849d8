"""Enters orders into the books and hands them to the saga."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from project.shop import faults
from project.shop.models import Order, OrderLine
from project.shop.sagas import place_order
from saga_app.models import Execution


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
    return place_order.using(due=due).start(order_id=order.pk, card=order.card, total=order.total, key=order.saga_key)


def execution_of(order: Order) -> Execution | None:
    """The execution that carries this order, if it was placed."""
    return executions_of([order]).get(order.pk)


def executions_of(orders: Iterable[Order]) -> dict[int, Execution]:
    """The executions of many orders, by the order's primary key, in two queries."""
    by_key = {order.saga_key: order.pk for order in orders}
    found = Execution.objects.filter(saga=place_order.name, key__in=by_key).prefetch_related("steps")
    return {by_key[execution.key or ""]: execution for execution in found}
