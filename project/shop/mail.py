"""The thank-you mail: a courtesy that may fail without holding up the order."""

from __future__ import annotations

from django.core.mail import EmailMessage

from project.shop import outside
from project.shop.models import Order


class MailBounced(Exception):
    """The post office has no such address."""


def thank(order_id: int, *, message_id: str) -> None:
    """Send it. A mail cannot be taken back or asked for; its id is what lets a reader's mailbox drop a second copy."""
    with outside.ledger() as books:
        bounced = outside.told(books, outside.mail_of(order_id), "bounce")
    if bounced:
        raise MailBounced("no such mailbox")
    order = Order.objects.get(pk=order_id)
    EmailMessage(
        subject=f"Thank you for order {order.number}",
        body=f"Dear {order.customer},\n\nyour parcel is on its way. The total is {order.total}.\n\nKettle & Crate",
        to=["customer@kettle.example"],
        headers={"Message-ID": f"<{message_id}@kettle.example>"},
    ).send()
