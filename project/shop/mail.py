"""The mails to customers: courtesies that may fail without holding up anything."""

from __future__ import annotations

from django.core.mail import EmailMessage

from project.shop import outside
from project.shop.models import Order, Return, Subscription
from saga_app import Context


class MailBounced(Exception):
    """The post office has no such address."""


def id_of(ctx: Context) -> str:
    """The id of the mail that a step sends. It cannot be taken back or asked for: the id lets a copy be dropped."""
    return ctx.idempotency_key.replace(":", ".").replace("/", ".").replace("[", ".").replace("]", "")


def thank(order_id: int, *, message_id: str) -> None:
    """Say thank you for an order."""
    with outside.ledger() as books:
        bounced = outside.told(books, outside.mail_of(order_id), "bounce")
    if bounced:
        raise MailBounced("no such mailbox")
    order = Order.objects.get(pk=order_id)
    text = f"your parcel is on its way. The total is {order.total}."
    _send(f"Thank you for order {order.number}", order.customer, text, message_id)


def turn_down(return_id: int, reason: str, *, message_id: str) -> None:
    """Say that a return is not taken, and why."""
    order = Return.objects.select_related("order").get(pk=return_id).order
    text = f"we cannot take back order {order.number}{f': {reason}' if reason else ''}."
    _send(f"Your return of order {order.number}", order.customer, text, message_id)


def remind(return_id: int, *, message_id: str) -> None:
    """Ask for the parcel of a return."""
    order = Return.objects.select_related("order").get(pk=return_id).order
    _send(f"Your return of order {order.number}", order.customer, "your parcel has not reached us yet.", message_id)


def dun(subscription_id: int, *, message_id: str) -> None:
    """Ask for another card."""
    subscription = Subscription.objects.select_related("product").get(pk=subscription_id)
    text = "your bank declined. We try once more; please see to your card until then."
    _send(f"Your subscription to {subscription.product}", subscription.customer, text, message_id)


def _send(subject: str, customer: str, text: str, message_id: str) -> None:
    EmailMessage(
        subject=subject,
        body=f"Dear {customer},\n\n{text}\n\nKettle & Crate",
        to=["customer@kettle.example"],
        headers={"Message-ID": f"<{message_id}@kettle.example>"},
    ).send()
