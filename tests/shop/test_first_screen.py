"""The example of the README's first screen is real: it runs, and the README shows it word for word."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from project.shop import catalogue, outside, payments, warehouse
from project.shop.forms import OrderForm
from project.shop.models import Invoice, Order, Product
from saga_app import testing
from saga_app.models import Execution

HERE = Path(__file__).parent
README = HERE.parent.parent / "README.md"
pytestmark = pytest.mark.django_db


@pytest.fixture
def views() -> Iterator[ModuleType]:
    """The example, in a registry of its own: the shop's saga has the same name."""
    with testing.isolate_sagas():
        importlib.reload(importlib.import_module("tests.shop.first_screen.sagas"))
        yield importlib.reload(importlib.import_module("tests.shop.first_screen.views"))


def take_order(views: ModuleType, card: str) -> tuple[Order, Execution]:
    catalogue.stock_the_shelf()
    product = Product.objects.get(sku="T-01")
    form = OrderForm({"product": product.pk, "quantity": 2, "customer": "Ada", "fault": "none"})
    assert form.is_valid()
    order, execution = views.take_order(form, card)
    testing.drain()
    execution.refresh_from_db()
    return order, execution


def test_it_carries_an_order_through(views: ModuleType) -> None:
    order, execution = take_order(views, "card-1")
    assert execution.status == "completed"
    assert [charge.amount for charge in payments.charges(card="card-1")] == [order.total]
    assert Invoice.objects.get(order=order).charge == payments.charges(card="card-1")[0].id
    assert len(warehouse.parcels(order.pk)) == 1


def test_a_declined_card_owes_nothing(views: ModuleType) -> None:
    outside.tell("card-1", "decline", times=outside.ALWAYS)
    _, execution = take_order(views, "card-1")
    assert (execution.status, execution.rollback_status) == ("failed", "not_applicable")
    assert execution.steps.get().attempt == 1


def example(file: str) -> str:
    """What the README shows of a file: all but what only this place needs."""
    code = (HERE / "first_screen" / file).read_text()
    body = re.sub(r'^""".*?"""\n|^from __future__.*\n', "", code, flags=re.MULTILINE)
    return body.replace("project.shop", "shop").strip()


def test_the_readme_shows_it() -> None:
    shown = squeezed(README.read_text())
    for line in filter(None, map(squeezed, example("sagas.py").splitlines())):
        assert line in shown
    for line in ("with transaction.atomic():", "order = form.save()", "place_order.start(order_id=order.pk, card=card"):
        assert line in shown


def squeezed(text: str) -> str:
    """Without what a formatter decides."""
    return re.sub(r"[ \t]+", " ", text).strip()
