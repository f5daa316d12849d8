"""Which order gets which fault: thrown once, by the order's number, so that every run has the same ones."""

from __future__ import annotations

import zlib

from project.shop import outside
from project.shop.faults import Fault
from project.shop.models import Order


def is_one_in(sides: int, what: str, number: str) -> bool:
    """Whether this order is one of the one in `sides` to which `what` happens."""
    return zlib.crc32(f"{what} {number}".encode()) % sides == 0


def fault_of(number: str) -> Fault:
    """What goes wrong in the shop itself: goods break after the charge, and one refund in fifty orders is refused."""
    if is_one_in(50, "refund refused", number):
        return Fault.REFUND_REFUSED
    if is_one_in(8, "goods break", number):
        return Fault.INVOICE_REFUSED
    return Fault.NONE


def times_out(number: str) -> bool:
    """Whether the bank charges and then never answers; on top of whatever else goes wrong."""
    return is_one_in(20, "charge times out", number)


def is_cancelled(number: str) -> bool:
    """Whether the customer cancels while the order is on its way."""
    return is_one_in(8, "cancelled", number)


def arrange(order: Order) -> None:
    """Tell the bank what to do with this order beyond what its fault says."""
    if times_out(order.number):
        outside.tell(order.card, "hang", times=1)
