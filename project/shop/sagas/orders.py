"""An order from the shelf: it is carried through, or undone, or waits for an operator; never half of it."""

from __future__ import annotations

from decimal import Decimal

from project.shop import mail, payments, stock, warehouse
from project.shop.faults import BREAKS
from project.shop.models import CreditNote, Invoice, Order
from saga_app import Backoff, Context, GiveUp, Happened, Pivot, RetryLater, Saga, Unknown, step


@step(provides="pieces", atomic=True, title="Reserve stock")
def reserve(order_id: int) -> int:
    """Take the goods off the shelf. Our own tables, so one commit holds them and this step's record."""
    return stock.reserve(order_id)


@reserve.compensate(atomic=True)
def release(order_id: int) -> None:
    """Put the goods back."""
    stock.release(order_id)


@step(provides="charge_id", rejected_on=(payments.CardDeclined,), timeout=3, title="Charge the card")
def charge(card: str, total: Decimal, ctx: Context) -> str:
    """Charge the card, once, however often this is called: the bank knows the key."""
    return payments.charge(card, total, idempotency_key=ctx.idempotency_key)


@charge.compensate(attempts=10, give_up_on=(payments.RefundRefused,))
def refund(ctx: Context) -> None:
    """Give the money back, if it was taken; in either case a charge under that key comes too late from now on."""
    payments.refund(original_key=ctx.forward_idempotency_key)


@charge.reconcile
def find_charge(ctx: Context) -> Happened[str] | Unknown:
    """Asked when nobody knows how a charge ended. "Not there yet" is not "never": only the refund closes the key."""
    found = payments.find(ctx.idempotency_key)
    return Happened(found.id) if found else Unknown()


@step(provides="invoice_id", atomic=True, title="Write the invoice")
def create_invoice(order_id: int, total: Decimal, charge_id: str) -> int:
    """Write the invoice, unless the goods broke meanwhile."""
    if Order.objects.get(pk=order_id).fault in BREAKS:
        raise GiveUp("the last one fell off the shelf and broke")
    return Invoice.objects.create(order_id=order_id, total=total, charge=charge_id).pk


@create_invoice.compensate(atomic=True)
def credit(result: int) -> None:
    """Answer the invoice with a credit note: books are never rubbed out."""
    invoice = Invoice.objects.get(pk=result)
    CreditNote.objects.create(invoice=invoice, number=invoice.number.replace("INV", "CN"), total=invoice.total)


@step(provides="parcel", attempts=4, backoff=Backoff(first=1, factor=2, max=10), idempotent=True, title="Ship")
def ship(order_id: int) -> str:
    """Send the parcel: one per order, so the order is key enough."""
    try:
        return warehouse.ship(order_id)
    except warehouse.WarehouseClosed as closed:
        raise RetryLater(closed.opens_in, str(closed)) from closed


@step(required=False, attempts=2, backoff=Backoff(first=1), title="Say thank you")
def thank(order_id: int, ctx: Context) -> None:
    """Send the thank-you mail."""
    mail.thank(order_id, message_id=mail.id_of(ctx))


place_order = Saga(
    "place-order",
    reserve,
    charge,
    create_invoice,
    Pivot(),
    ship,
    thank,
    title="Place an order",
)
