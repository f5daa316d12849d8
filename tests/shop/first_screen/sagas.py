"""The saga of the README's first screen. The README shows what follows the imports, word for word."""

from __future__ import annotations

from decimal import Decimal

from project.shop import payments, warehouse
from project.shop.models import Invoice
from saga_app import Context, Pivot, Saga, step


@step(provides="charge_id", rejected_on=(payments.CardDeclined,))  # declined: nothing happened, no retry
def charge(card: str, total: Decimal, ctx: Context) -> str:
    return payments.charge(card, total, idempotency_key=ctx.idempotency_key)


@charge.compensate(attempts=10)  # called when a later step fails and the charge may have happened
def refund(ctx: Context) -> None:
    payments.refund(original_key=ctx.forward_idempotency_key)


@step(provides="invoice_id", atomic=True)  # its rows and "this step is done": one commit
def create_invoice(order_id: int, total: Decimal, charge_id: str) -> int:
    return Invoice.objects.create(order_id=order_id, total=total, charge=charge_id).pk


@step
def ship(order_id: int, ctx: Context) -> None:
    warehouse.ship(order_id, idempotency_key=ctx.idempotency_key)


place_order = Saga("place-order", charge, create_invoice, Pivot(), ship)  # past the pivot: only forward
