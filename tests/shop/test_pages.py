"""The shop's pages: an order is placed, seen on its way, and put right outside; without a script."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from project.shop import catalogue, orders, payments
from project.shop.faults import Fault
from project.shop.forms import CHOICES
from project.shop.models import Order, Product
from saga_app import testing
from saga_app.models import Execution
from tests.shop.placing import order_for, order_of

TEMPLATES = Path(__file__).parent.parent.parent / "templates"
pytestmark = [pytest.mark.django_db, pytest.mark.urls("project.urls")]


@pytest.fixture(autouse=True)
def shelf() -> None:
    catalogue.stock_the_shelf()


def wanted(**changes: object) -> dict[str, object]:
    product = Product.objects.get(sku="T-01")
    return {"product": product.pk, "quantity": 2, "customer": "Ada", "fault": "none", **changes}


def test_the_counter_shows_the_shelf_and_every_fault(client: Client) -> None:
    page = client.get("/").text
    for product in Product.objects.all():
        assert product.name in page
    for value, _ in CHOICES:
        assert page.count(f'value="{value}"') == 1
    assert page.count(" checked") == 2


def test_an_order_is_placed_with_its_saga_and_carried_through(client: Client) -> None:
    answer = client.post("/", wanted(), follow=True)
    order = Order.objects.get()
    assert answer.redirect_chain == [(order.get_absolute_url(), 302)]
    assert "Waiting for a worker" in answer.text
    testing.drain()
    page = client.get(order.get_absolute_url()).text
    assert "Completed" in page
    assert f"charge {payments.charges()[0].id}" in page
    assert f"INV-{order.pk:06d}" in page
    assert f"parcel KC{order.pk:08d}" in page
    assert "Completed" in client.get("/").text


@pytest.mark.parametrize(
    "changes",
    [{"quantity": 0}, {"quantity": "many"}, {"quantity": 100}, {"product": 0}, {"product": ""}, {"fault": "fire"}],
)
def test_a_bad_order_is_refused_and_nothing_is_entered(client: Client, changes: dict[str, object]) -> None:
    answer = client.post("/", wanted(**changes))
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert not Order.objects.exists()
    assert not Execution.objects.exists()


def test_a_failed_order_says_why_and_what_was_undone(client: Client) -> None:
    order = order_of(fault=Fault.INVOICE_REFUSED)
    orders.place(order)
    testing.drain()
    page = client.get(order.get_absolute_url()).text
    assert "Failed, and undone" in page
    assert "fell off the shelf" in page
    assert "refund of" in page
    assert page.count("undone</span>") >= 2


def test_a_stuck_order_leads_to_the_operators_and_can_be_mended(client: Client) -> None:
    order = order_of(fault=Fault.REFUND_REFUSED)
    execution = orders.place(order)
    testing.drain()
    page = client.get(order.get_absolute_url()).text
    assert "Stuck" in page
    assert str(execution.pk) in page
    assert "the bank refuses" in page
    assert "1 order stuck" in client.get("/").text
    assert client.get(f"{order.get_absolute_url()}mend/").status_code == 405
    client.post(f"{order.get_absolute_url()}mend/")
    payments.refund(original_key=payments.charges()[0].key)
    assert payments.charges()[0].refunded == order.total


def test_the_outside_can_be_put_right_for_all(client: Client) -> None:
    """As when a provider's trouble is over: what is stuck still waits for an operator."""
    for _ in range(2):
        orders.place(order_of(fault=Fault.REFUND_REFUSED))
    testing.drain()
    assert client.get("/mend/").status_code == 405
    assert "work again" in client.post("/mend/", follow=True).text
    assert Execution.objects.stuck().count() == 2
    for charge in payments.charges():
        payments.refund(original_key=charge.key)
    assert all(charge.refunded == charge.amount for charge in payments.charges())


def test_the_live_parts_change_only_when_something_does(client: Client) -> None:
    order = order_of()
    orders.place(order)
    for url in ("/live/", f"{order.get_absolute_url()}live/"):
        answer = client.get(url)
        assert "<html" not in answer.text
        assert client.get(url, headers={"if-none-match": answer["etag"]}).status_code == 304
    testing.drain()
    assert client.get(url, headers={"if-none-match": answer["etag"]}).status_code == 200
    assert "data-live-over" in client.get(url).text


def test_an_unknown_order_is_not_found(client: Client) -> None:
    assert client.get("/orders/NOPE/").status_code == 404


def test_what_a_customer_writes_is_shown_as_text(client: Client) -> None:
    client.post("/", wanted(customer="<script>alert(1)</script>"))
    page = client.get(Order.objects.get().get_absolute_url()).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_templates_have_no_inline_style_or_script() -> None:
    found = [
        f"{file.name}: {hit}"
        for file in TEMPLATES.rglob("*.html")
        for hit in re.findall(r"style=|<style|<script(?![^>]*\bsrc=)|\son\w+=", file.read_text())
    ]
    assert found == []


def test_the_list_of_orders_costs_the_same_for_one_and_for_many(
    client: Client, django_assert_num_queries: object
) -> None:
    def cost() -> int:
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        with CaptureQueriesContext(connection) as queries:
            client.get("/live/")
        return len(queries)

    orders.place(order_of())
    one = cost()
    for _ in range(5):
        orders.place(order_of())
    assert cost() == one


def test_the_boxes_of_an_order_are_told_together(client: Client) -> None:
    order = order_for({"T-01": 40}, way=Order.Way.WHOLESALE)
    orders.place(order)
    testing.drain()
    page = client.get(order.get_absolute_url()).text
    assert "4 done" in page
    assert page.count("box ") == 4
    assert f"parcel KC{order.pk:08d}-04" in page


def test_the_purchases_of_an_order_are_told_together(client: Client) -> None:
    order = order_for({"T-01": 1, "K-03": 2}, way=Order.Way.SPECIAL)
    orders.place(order)
    testing.drain()
    page = client.get(order.get_absolute_url()).text
    assert "2 waiting" in page
    for purchase in orders.awaited():
        orders.deliver(purchase)
    testing.drain()
    page = client.get(order.get_absolute_url()).text
    assert "2 done" in page
    assert "Tea crate “Überseekiste” came from the supplier" in page


def test_only_orders_are_counted_as_stuck_orders(client: Client) -> None:
    order = order_for({"T-01": 1, "K-03": 2}, Fault.SUPPLIER_KEEPS, Order.Way.SPECIAL)
    orders.place(order)
    testing.drain()
    for purchase in orders.awaited():
        orders.deliver(purchase)
    testing.drain()
    assert Execution.objects.stuck().count() == 3
    assert "1 order stuck" in client.get("/").text
