"""The demo: a filled shop, a cluster and a site, with an order in every state an order can stay in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from urllib.error import URLError
from urllib.request import urlopen

from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.db.models import QuerySet
from django.utils import timezone

from project.processes import Child
from project.shop import catalogue, orders
from project.shop.faults import Fault
from project.shop.models import Order, OrderLine, Product
from saga_app import engine
from saga_app.models import Execution

NAME, PASSWORD = "operator", "operator"  # the site listens on this machine only
LEASE = {
    "SAGA_LEASE": "5",
    "SAGA_HARD_STOP_GRACE": "1",
}  # short: a visitor who kills a worker wants to see what follows
PATIENCE = 90.0
LATER = timedelta(hours=8)

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
    ("Radia", "K-01", 1, Fault.SHIPPING_FAILS),
]


class ChildEnded(Exception):
    """The cluster or the site is gone, though nobody asked it to end."""


def fill() -> None:
    """Put goods on the shelf and an operator at the desk."""
    catalogue.stock_the_shelf()
    operator, _ = User.objects.get_or_create(username=NAME, defaults={"is_staff": True})
    operator.set_password(PASSWORD)
    operator.save()
    operator.user_permissions.set(Permission.objects.filter(content_type__app_label__in=["saga_app", "shop"]))


@contextmanager
def children(port: int) -> Iterator[list[Child]]:
    """The cluster and the site, for as long as the block lasts."""
    started: list[Child] = []
    try:
        started.append(Child("qcluster", log=settings.DATA_DIR / "qcluster.log", env=LEASE))
        site = ["runserver", "--noreload", f"127.0.0.1:{port}"]
        started.append(Child(*site, log=settings.DATA_DIR / "site.log", env=LEASE))
        yield started
    finally:
        for child in reversed(started):
            child.stop()


def await_site(port: int, family: list[Child]) -> None:
    """Wait until the site answers."""

    def answers() -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{port}/", timeout=5):
                return True
        except (URLError, TimeoutError, ConnectionError):
            return False

    await_true(answers, family)


def place_orders(family: list[Child]) -> None:
    """Place the sample orders, and act as an operator would, until there is one in every state."""
    for customer, sku, pieces, fault in ORDERS:
        orders.place(_order(customer, sku, pieces, fault))
    orders.place(_order("Katherine", "T-03", 1), due=timezone.now() + LATER)
    suspended = orders.place(_order("Margaret", "T-04", 2), due=timezone.now() + LATER)
    engine.suspend(suspended, reason="the customer is on holiday")
    cancelled = orders.place(_order("John", "T-01", 1), due=timezone.now() + LATER)
    engine.cancel(cancelled, reason="the customer changed their mind")
    given_up = orders.place(_order("Leslie", "T-04", 1, Fault.REFUND_REFUSED))
    await_true(lambda: Execution.objects.stuck().filter(pk=given_up.pk).exists(), family)
    engine.abandon(given_up, reason="refunded by bank transfer")
    await_true(lambda: not _in_motion().exists(), family)


def watch(family: list[Child]) -> None:
    """Stay as long as all children do."""
    await_true(lambda: False, family, patience=float("inf"))


def await_true(condition: Callable[[], bool], family: list[Child], *, patience: float = PATIENCE) -> None:
    """Wait for a condition, while every child lives; on a slow machine go on without it."""
    deadline = time.monotonic() + patience
    while not condition() and time.monotonic() < deadline:
        for child in family:
            if child.has_ended():
                raise ChildEnded(f"manage.py {child.arguments[0]} has ended:\n{child.last_words()}")
        time.sleep(0.3)


def _in_motion() -> QuerySet[Execution]:
    soon = timezone.now() + timedelta(minutes=5)
    return Execution.objects.open().filter(due_at__lt=soon)


def _order(customer: str, sku: str, pieces: int, fault: Fault = Fault.NONE) -> Order:
    product = Product.objects.get(sku=sku)
    line = OrderLine(product=product, quantity=pieces, unit_price=product.price)
    return orders.enter(Order(customer=customer, fault=fault, freight=Decimal("4.90")), [line])
