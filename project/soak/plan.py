"""Which order goes which way and meets which fault: thrown once, by its number, so that every run has the same ones."""

from __future__ import annotations

import hashlib

from project.shop import outside
from project.shop.faults import Fault
from project.shop.models import Order, Return
from project.shop.sagas.returns import AS_NEW

THROW = "12290"  # of all throws of the dice, one in which even the few orders of the sample meet everything


def is_one_in(sides: int, what: str, number: str) -> bool:
    """Whether this order is one of the one in `sides` to which `what` happens."""
    thrown = hashlib.blake2b(f"{THROW} {what} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(thrown, "big") % sides == 0


def way_of(number: str) -> Order.Way:
    """How it is carried out."""
    if is_one_in(4, "special", number):
        return Order.Way.SPECIAL
    return Order.Way.WHOLESALE if is_one_in(3, "wholesale", number) else Order.Way.SHELF


def fault_of(number: str) -> Fault:
    """What goes wrong in the shop itself, as its way allows: goods break, boxes drop, money is refused."""
    way = way_of(number)
    if is_one_in(50, "refund refused", number):
        return Fault.REFUND_REFUSED
    if is_one_in(8, "goods break", number):
        return Fault.SUPPLIER_KEEPS if way == Order.Way.SPECIAL else Fault.INVOICE_REFUSED
    if is_one_in(6, "sold out or dropped", number):
        return {Order.Way.SPECIAL: Fault.SOLD_OUT, Order.Way.WHOLESALE: Fault.BOX_BREAKS}.get(way, Fault.NONE)
    return Fault.NONE


def times_out(number: str) -> bool:
    """Whether the bank charges and then never answers; on top of whatever else goes wrong."""
    return is_one_in(20, "charge times out", number)


def is_cancelled(number: str) -> bool:
    """Whether the customer cancels while the order, or its return, is on its way."""
    return is_one_in(8, "cancelled", number)


def is_delivered(number: str) -> bool:
    """Whether the suppliers ever deliver what they have sold for it."""
    return not is_one_in(6, "not delivered", number)


def is_returned(number: str) -> bool:
    """Whether the customer, once they have it, sends it back."""
    return is_one_in(2, "returned", number)


def wish_of(number: str) -> Return.Wish:
    """What the customer wants for it."""
    return Return.Wish.CREDIT if is_one_in(3, "credit", number) else Return.Wish.REFUND


def verdict_on(number: str) -> str:
    """What becomes of the return: `approve`, `reject`, or nothing until its time is up."""
    if is_one_in(7, "nobody decides", number):
        return ""
    return "reject" if is_one_in(5, "rejected", number) else "approve"


def comes_back(number: str) -> str:
    """In which condition the parcel comes back; "" when it never does."""
    if is_one_in(7, "lost", number):
        return ""
    return "damaged" if is_one_in(4, "damaged", number) else AS_NEW


def is_early(number: str) -> bool:
    """Whether the parcel is back before anybody has approved its return: the signal waits for its gate."""
    return is_one_in(2, "early", number)


def arrange(order: Order) -> None:
    """Tell the bank what to do with this order beyond what its fault says."""
    if times_out(order.number):
        outside.tell(order.card, "hang", times=1)
