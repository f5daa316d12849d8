"""Orders for tests, and how far their sagas go by themselves."""

from __future__ import annotations

from datetime import timedelta

from project.shop import orders
from project.shop.faults import Fault
from project.shop.models import Order, OrderLine, Product
from saga_app import testing
from saga_app.models import Execution


def order_of(sku: str = "T-01", pieces: int = 2, fault: Fault = Fault.NONE, way: str = Order.Way.SHELF) -> Order:
    return order_for({sku: pieces}, fault, way)


def order_for(wanted: dict[str, int], fault: Fault = Fault.NONE, way: str = Order.Way.SHELF) -> Order:
    products = [Product.objects.get(sku=sku) for sku in wanted]
    lines = [OrderLine(product=one, quantity=wanted[one.sku], unit_price=one.price) for one in products]
    return orders.enter(Order(customer="Ada", fault=fault, way=way), lines)


def carried(order: Order) -> Execution:
    """Place it, and drive its saga as far as it goes, over every wait of a minute."""
    return driven(orders.place(order))


def driven(execution: Execution, over: timedelta = timedelta(minutes=1)) -> Execution:
    """Drive it as far as it goes, over every wait of that length."""
    for _ in range(5):
        testing.drain()
        testing.clock.forward(over)
    return Execution.objects.get(pk=execution.pk)
