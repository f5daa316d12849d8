"""What a visitor may let go wrong with an order, and how the world outside is told to do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.db import models

from project.shop import outside

if TYPE_CHECKING:
    from project.shop.models import Order


class Fault(models.TextChoices):
    """One thing that goes wrong. The label is what the shop's page says."""

    NONE = "none", "Nothing goes wrong"
    CHARGE_TIMES_OUT = "charge_times_out", "The bank charges, then never answers"
    WORKER_KILLED = "worker_killed", "The worker is killed while charging"
    SHIPPING_FAILS_ONCE = "shipping_fails_once", "Shipping fails once"
    MAIL_BOUNCES = "mail_bounces", "The thank-you mail bounces"
    CARD_DECLINED = "card_declined", "The card is declined"
    INVOICE_REFUSED = "invoice_refused", "The goods break after the charge"
    SHIPPING_CLOSED = "shipping_closed", "The warehouse is closed for an hour"
    REFUND_REFUSED = "refund_refused", "The goods break, and the bank refuses the refund"
    SHIPPING_FAILS = "shipping_fails", "Shipping always fails"
    BOX_BREAKS = "box_breaks", "One box of many is dropped"
    SOLD_OUT = "sold_out", "The supplier has sold out"
    SUPPLIER_KEEPS = "supplier_keeps", "The goods break, and the supplier takes nothing back"


WHAT_FOLLOWS = {
    Fault.NONE: "Reserve, charge, invoice, ship, thank.",
    Fault.CHARGE_TIMES_OUT: "Charged or not? The saga asks the bank before it goes on.",
    Fault.WORKER_KILLED: "kill -9. Another worker takes over; nobody is charged twice.",
    Fault.SHIPPING_FAILS_ONCE: "Past the point of no return it is tried again.",
    Fault.MAIL_BOUNCES: "A courtesy, not a duty: the order completes and says so.",
    Fault.CARD_DECLINED: "Nothing was charged, nothing is retried; the stock goes back.",
    Fault.INVOICE_REFUSED: "Everything is undone: money back, stock back.",
    Fault.SHIPPING_CLOSED: "It says when to come back. The saga waits until then.",
    Fault.REFUND_REFUSED: "The undoing itself fails: stuck until an operator acts.",
    Fault.SHIPPING_FAILS: "Already invoiced, so only forward: stuck until an operator acts.",
    Fault.BOX_BREAKS: "The boxes beside it are finished first; then everything is undone.",
    Fault.SOLD_OUT: "What was bought elsewhere for this order is cancelled, the money goes back.",
    Fault.SUPPLIER_KEEPS: "A purchase cannot be undone: it is stuck, and the order with it, until an operator acts.",
}
OUTCOMES = {
    "It goes through": [
        Fault.NONE,
        Fault.CHARGE_TIMES_OUT,
        Fault.WORKER_KILLED,
        Fault.SHIPPING_FAILS_ONCE,
        Fault.MAIL_BOUNCES,
    ],
    "It is undone": [Fault.CARD_DECLINED, Fault.INVOICE_REFUSED],
    "It waits": [Fault.SHIPPING_CLOSED, Fault.REFUND_REFUSED, Fault.SHIPPING_FAILS],
}

BREAKS = frozenset({Fault.INVOICE_REFUSED, Fault.REFUND_REFUSED, Fault.SUPPLIER_KEEPS})  # refused by the invoice


class _Rule(NamedTuple):
    service: str
    what: str
    times: int


_RULES = {
    Fault.CARD_DECLINED: _Rule("bank", "decline", outside.ALWAYS),
    Fault.CHARGE_TIMES_OUT: _Rule("bank", "hang", 1),
    Fault.WORKER_KILLED: _Rule("bank", "kill", 1),
    Fault.REFUND_REFUSED: _Rule("bank", "refuse refund", outside.ALWAYS),
    Fault.SHIPPING_FAILS_ONCE: _Rule("warehouse", "fail", 1),
    Fault.SHIPPING_CLOSED: _Rule("warehouse", "closed", outside.ALWAYS),
    Fault.SHIPPING_FAILS: _Rule("warehouse", "fail", outside.ALWAYS),
    Fault.MAIL_BOUNCES: _Rule("post", "bounce", outside.ALWAYS),
    Fault.BOX_BREAKS: _Rule("warehouse", "break box 2", outside.ALWAYS),
    Fault.SOLD_OUT: _Rule("supplier", "sold out", 1),  # whichever line is bought first
    Fault.SUPPLIER_KEEPS: _Rule("supplier", "keep", outside.ALWAYS),
}

MENDABLE = frozenset({*OUTCOMES["It waits"], Fault.SUPPLIER_KEEPS})


def arrange(order: Order) -> None:
    """Tell the world outside what to do with this order, before its saga starts."""
    mend(order)
    if rule := _RULES.get(Fault(order.fault)):
        outside.tell(_subjects(order)[rule.service], rule.what, times=rule.times)


def mend(order: Order) -> None:
    """Put right whatever is wrong outside, as far as this order is concerned."""
    for subject in _subjects(order).values():
        outside.forget(subject)


def _subjects(order: Order) -> dict[str, str]:
    return {
        "bank": order.card,
        "warehouse": outside.parcel_of(order.pk),
        "supplier": outside.supplier_of(order.pk),
        "post": outside.mail_of(order.pk),
    }
