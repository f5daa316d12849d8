"""What the demo shows: an execution in every state in which one can stay, brought there by customers and staff."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

from django.contrib.auth.models import Permission, User
from django.db.models import Q, QuerySet
from django.utils import timezone

from project.shop import catalogue, orders, outside, returns, subscriptions
from project.shop.days import days
from project.shop.faults import Fault
from project.shop.models import Order, OrderLine, Period, Product, Return, Subscription
from project.shop.sagas import tea_subscription
from saga_app import engine
from saga_app.models import Execution, StepRecord

OPERATOR, CLERK, PASSWORD = "operator", "clerk", "operator"  # the site listens on this machine only
LATER = timedelta(hours=8)
MOMENT = timedelta(seconds=1)
Await = Callable[[Callable[[], bool]], None]

ORDERS = [  # customer, sku, pieces, fault
    ("Ada", "T-01", 2, Fault.NONE),
    ("Grace", "T-02", 1, Fault.CHARGE_TIMES_OUT),
    ("Edsger", "T-03", 3, Fault.WORKER_KILLED),
    ("Barbara", "K-01", 1, Fault.SHIPPING_FAILS_ONCE),
    ("Alan", "T-05", 4, Fault.MAIL_BOUNCES),
    ("Niklaus", "T-04", 1, Fault.CARD_DECLINED),
    ("Frances", "K-02", 1, Fault.INVOICE_REFUSED),
    ("Donald", "K-03", 9, Fault.NONE),  # there is one
    ("Hedy", "T-05", 1, Fault.SHIPPING_CLOSED),
    ("Tony", "T-02", 2, Fault.REFUND_REFUSED),
    ("Annie", "T-01", 1, Fault.REFUND_REFUSED),
    ("Joan", "T-03", 1, Fault.REFUND_REFUSED),
    ("Radia", "K-01", 1, Fault.SHIPPING_FAILS),
]
PURCHASES = {"K-02": 4, "K-03": 2}  # more than the shelf holds, so they are bought


def fill() -> None:
    """Put goods on the shelf, an operator at the desk and a clerk at the counter."""
    catalogue.stock_the_shelf()
    everything = Permission.objects.filter(content_type__app_label__in=["saga_app", "shop"])
    _staff(OPERATOR).user_permissions.set(everything)
    _staff(CLERK).user_permissions.set(
        everything.filter(Q(codename__startswith="view_") | Q(codename="approve_return"))
    )


def place_all(await_true: Await) -> None:
    """Do what customers and staff do, until there is one of everything."""
    _place_orders(await_true)
    _subscribe(await_true)
    _order_in_bulk()
    _order_specially(await_true)
    await_true(lambda: not _in_motion())
    _return_some(await_true)
    await_true(lambda: not _in_motion())


def _place_orders(await_true: Await) -> None:
    for customer, sku, pieces, fault in ORDERS:
        orders.place(_order(customer, {sku: pieces}, fault))
    orders.place(_order("Katherine", {"T-03": 1}), due=timezone.now() + LATER)
    suspended = orders.place(_order("Margaret", {"T-04": 2}), due=timezone.now() + LATER)
    engine.suspend(suspended, reason="the customer is on holiday")
    cancelled = orders.place(_order("John", {"T-01": 1}), due=timezone.now() + LATER)
    engine.cancel(cancelled, reason="the customer changed their mind")
    given_up = orders.place(_order("Leslie", {"T-04": 1}, Fault.REFUND_REFUSED))
    await_true(lambda: Execution.objects.stuck().filter(pk=given_up.pk).exists())
    engine.abandon(given_up, reason="refunded by bank transfer")


def _subscribe(await_true: Await) -> None:
    """One that renews as you watch, one asleep, one at a declined card, and two that rest at what was paid."""
    subscriptions.subscribe(_subscription("Vera", periods=120, every=10 * MOMENT))
    subscriptions.subscribe(_subscription("Emmy", every=days(30)))
    declined = _subscription("Maurits", grace=days(10))
    outside.tell(declined.card, "decline", times=outside.ALWAYS)
    subscriptions.subscribe(declined)
    broke = _subscription("Kurt", every=MOMENT, grace=MOMENT)
    subscriptions.subscribe(broke)
    left = subscriptions.subscribe(_subscription("Lise", every=days(30)))
    await_true(lambda: Period.objects.filter(subscription=broke).count() > 1)
    outside.tell(broke.card, "decline", times=outside.ALWAYS)
    await_true(lambda: StepRecord.objects.filter(execution=left, name="sleep").exists())
    engine.cancel(left, reason="moved to the seaside")


def _order_in_bulk() -> None:
    """Twenty boxes, and four of which one is dropped."""
    orders.place(_order("Hotel Adler", {"T-06": 234}, way=Order.Way.WHOLESALE))
    orders.place(_order("Café Mokka", {"T-06": 48}, Fault.BOX_BREAKS, Order.Way.WHOLESALE))


def _order_specially(await_true: Await) -> None:
    """One that is carried through, one sold out, one that cannot be undone; and one that waits for its supplier."""
    for customer, fault in [("Marie", Fault.NONE), ("Lev", Fault.SOLD_OUT), ("Srinivasa", Fault.SUPPLIER_KEEPS)]:
        orders.place(_order(customer, PURCHASES, fault, Order.Way.SPECIAL))
    await_true(lambda: not _in_motion())
    for purchase in orders.awaited():
        orders.deliver(purchase)
    orders.place(_order("Sofia", PURCHASES, way=Order.Way.SPECIAL))


def _return_some(await_true: Await) -> None:
    """Two that wait for approval, one of them not the operator's to give; one on its way; one settled; one refused."""
    operator, clerk = (User.objects.get(username=name) for name in (OPERATOR, CLERK))
    _returned("Ada", "it smells of soap", clerk)
    _returned("Grace", "the tin is dented", operator)  # who took it in may not approve it: log in as the clerk
    on_its_way = _returned("Edsger", "two kettles too many", clerk)
    settled = _returned("Barbara", "it whistles out of tune", clerk, Return.Wish.CREDIT)
    refused = _returned("Alan", "it tasted of nothing", clerk)
    await_true(lambda: not _in_motion())
    for execution in (on_its_way, settled):
        engine.approve(execution, "refund_ok", actor=operator, reason="of course", values={"restock": True})
    returns.has_come_back(settled)
    engine.reject(refused, "refund_ok", actor=operator, reason="the bag is empty")


def _returned(customer: str, reason: str, actor: User, wish: str = Return.Wish.REFUND) -> Execution:
    return returns.take_in(Order.objects.get(customer=customer), wish=wish, reason=reason, actor=actor)


def _in_motion() -> bool:
    """Whether something goes on by itself within minutes, beside the subscription that is there to be watched."""
    soon = timezone.now() + timedelta(minutes=2)
    due: QuerySet[Execution] = Execution.objects.open().filter(due_at__lt=soon)
    return due.exclude(saga=tea_subscription.name).exists() or StepRecord.objects.filter(status="queued").exists()


def _order(customer: str, wanted: dict[str, int], fault: Fault = Fault.NONE, way: str = Order.Way.SHELF) -> Order:
    products = Product.objects.in_bulk(wanted, field_name="sku")
    lines = [
        OrderLine(product=products[sku], quantity=pieces, unit_price=products[sku].price)
        for sku, pieces in wanted.items()
    ]
    return orders.enter(Order(customer=customer, fault=fault, way=way, freight=Decimal("4.90")), lines)


def _subscription(customer: str, **terms: object) -> Subscription:
    tea = Product.objects.get(sku="T-03")
    return Subscription(customer=customer, product=tea, price=tea.price, **terms)


def _staff(name: str) -> User:
    person, _ = User.objects.get_or_create(username=name, defaults={"is_staff": True})
    person.set_password(PASSWORD)
    person.save()
    return person
