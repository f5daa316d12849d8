"""A tin of tea every so often: each period is charged and booked, and what was paid stays so whatever comes later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from project.shop import mail, payments
from project.shop.models import Period
from project.shop.sagas.orders import charge
from saga_app import Context, Milestone, Repeat, Saga, Sleep, Try, ref, step


@dataclass(frozen=True)
class Terms:
    """What was agreed."""

    subscription_id: int
    card: str
    price: Decimal
    periods: int
    every: timedelta
    grace: timedelta


@step(required=False, title="Ask for another card")
def ask_for_card(subscription_id: int, ctx: Context) -> None:
    """Tell the customer that the bank declined, and until when there is time."""
    mail.dun(subscription_id, message_id=mail.id_of(ctx))


@step(atomic=True, title="Book the period")
def book(subscription_id: int, iteration: int, charge_id: str) -> None:
    """Write down that this period is paid."""
    Period.objects.create(subscription_id=subscription_id, number=iteration + 1, charge=charge_id)


def is_over(iteration: int, periods: int) -> bool:
    """Whether this was the last period."""
    return iteration + 1 >= periods


charge_period = charge.bind(total=ref("input.price"))

tea_subscription = Saga(
    "tea-subscription",
    Repeat(
        Try(
            charge_period,
            catch=(payments.CardDeclined,),
            recover=[
                ask_for_card,
                Sleep(ref("input.grace")).named("grace"),
                charge_period.named("charge_again", provides="charge_id"),
            ],
        ),
        book,
        Milestone("paid"),
        Sleep(ref("input.every")),
        until=is_over,
        max_iterations=120,  # ten years of months
    ).named("period"),
    input=Terms,
    title="Subscribe to tea",
)
