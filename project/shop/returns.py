"""Takes returns in, and hands them to their saga."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from project.shop.models import Order, Return
from project.shop.sagas import customer_return
from project.shop.sagas.returns import AS_NEW
from saga_app import engine
from saga_app.models import Execution


def take_in(order: Order, *, wish: str, reason: str, actor: Any) -> Execution:
    """Write a return down and start its saga: both, or neither."""
    with transaction.atomic():
        returned = Return.objects.create(order=order, wish=wish, reason=reason)
        return customer_return.start(
            return_id=returned.pk, order_id=order.pk, wish=returned.wish, key=returned.saga_key, actor=actor
        )


def has_come_back(execution: Execution, condition: str = AS_NEW) -> None:
    """What the warehouse does when the parcel is there. Said twice, it has come once."""
    engine.signal(execution, "parcel_back", condition, key="parcel")
