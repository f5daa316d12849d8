"""A return: somebody else than who took it in approves it, the parcel comes back, and the customer has their due."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from project.shop import mail, payments, stock
from project.shop.days import days
from project.shop.models import Order, StoreCredit
from project.shop.sagas.labels import print_label
from saga_app import Approval, Branch, Compute, Context, Decision, If, Pivot, Repeat, Saga, Wait, step

AS_NEW = "as new"  # what the warehouse says of a parcel that can be sold again


@dataclass(frozen=True)
class Ruling:
    """What is filled in by who approves a return."""

    restock: bool = True


def worth_of(order_id: int) -> Decimal:
    """Say what the customer gets: what the goods cost, without the freight."""
    return Order.objects.get(pk=order_id).worth


def is_approved(refund_ok: Decision) -> bool:
    """Whether it goes on."""
    return refund_ok.approved


def is_back(parcel_back: str = "") -> bool:
    """Whether the parcel has come."""
    return bool(parcel_back)


def can_be_sold(refund_ok: Decision, parcel_back: str = "") -> bool:
    """Whether the goods go back on the shelf."""
    return refund_ok.approved and refund_ok.input.restock and parcel_back == AS_NEW


def settlement(refund_ok: Decision, wish: str) -> str:
    """What the customer has of it."""
    return wish if refund_ok.approved else "nothing"


@step(required=False, title="Turn down")
def turn_down(return_id: int, ctx: Context) -> None:
    """Tell the customer why not."""
    mail.turn_down(return_id, ctx.results["refund_ok"].reason, message_id=mail.id_of(ctx))


@step(required=False, title="Remind")
def remind(return_id: int, ctx: Context) -> None:
    """Ask where the parcel is."""
    mail.remind(return_id, message_id=mail.id_of(ctx))


@step(atomic=True, title="Put back on the shelf")
def restock(order_id: int) -> None:
    """Put the goods back on the shelf."""
    stock.restock(order_id)


@step(attempts=5, give_up_on=(payments.RefundRefused,), idempotent=True, title="Give the money back")
def give_back(order_id: int, amount: Decimal) -> None:
    """Give the money back, once: the bank knows which charge it is for."""
    (charge,) = payments.charges(card=Order.objects.get(pk=order_id).card)
    payments.refund(original_key=charge.key, total=amount)


@step(atomic=True, title="Give store credit")
def give_credit(return_id: int, amount: Decimal) -> None:
    """Write down what the customer may spend."""
    StoreCredit.objects.create(returned_id=return_id, amount=amount)


customer_return = Saga(
    "customer-return",
    Compute("amount", worth_of),
    Approval(
        "refund_ok",
        permission="shop.approve_return",
        four_eyes=True,  # not by who took it in
        input=Ruling,
        timeout=days(30),
        on_reject=[turn_down],
    ),
    If(
        is_approved,
        print_label.bind(number=0),
        Repeat(Wait("parcel_back", timeout=days(7), on_timeout=[remind]), until=is_back, max_iterations=4),
    ),
    Pivot(),  # the parcel is here, or was never wanted: from here on the customer gets what they were told
    If(can_be_sold, restock),
    Branch(settlement, refund=give_back, credit=give_credit, default=[]),
    timeout=days(90),
    title="Take something back",
)
