"""The view of the README's first screen."""

from __future__ import annotations

from django.db import transaction

from project.shop.forms import OrderForm
from project.shop.models import Order
from saga_app.models import Execution
from tests.shop.first_screen.sagas import place_order


def take_order(form: OrderForm, card: str) -> tuple[Order, Execution]:
    with transaction.atomic():  # the order and its saga: both, or neither
        order = form.save()
        execution = place_order.start(order_id=order.pk, card=card, total=order.total, key=f"order-{order.pk}")
    return order, execution
