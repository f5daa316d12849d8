"""Stock is reserved whole or not at all, and never goes below nothing."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from project.shop import orders, stock
from project.shop.models import Order, OrderLine, Product, StockMovement
from saga_app import Rejected

pytestmark = pytest.mark.django_db


@pytest.fixture
def products() -> list[Product]:
    return [
        Product.objects.create(sku=f"P{number}", name=f"Product {number}", price=Decimal(1), stock=pieces)
        for number, pieces in enumerate([5, 2])
    ]


def order_for(products: list[Product], *pieces: int) -> Order:
    lines = [
        OrderLine(product=product, quantity=quantity, unit_price=product.price)
        for product, quantity in zip(products, pieces, strict=True)
    ]
    return orders.enter(Order(customer="Ada"), lines)


def on_the_shelf() -> list[int]:
    return list(Product.objects.values_list("stock", flat=True))


def test_what_is_reserved_leaves_the_shelf_and_comes_back(products: list[Product]) -> None:
    order = order_for(products, 2, 2)
    assert stock.reserve(order.pk) == 4
    assert on_the_shelf() == [3, 0]
    stock.release(order.pk)
    assert on_the_shelf() == [5, 2]
    assert list(order.movements.values_list("kind", "quantity")) == [
        ("reserve", -2),
        ("reserve", -2),
        ("release", 2),
        ("release", 2),
    ]


def test_one_line_too_many_reserves_nothing(products: list[Product]) -> None:
    order = order_for(products, 2, 3)
    with pytest.raises(Rejected, match="out of stock: 3 × Product 1"), transaction.atomic():
        stock.reserve(order.pk)
    assert on_the_shelf() == [5, 2]
    assert not StockMovement.objects.exists()


def test_a_second_release_is_refused_by_the_book(products: list[Product]) -> None:
    order = order_for(products, 1, 1)
    stock.reserve(order.pk)
    stock.release(order.pk)
    with pytest.raises(IntegrityError), transaction.atomic():
        stock.release(order.pk)
    assert on_the_shelf() == [5, 2]


def test_the_table_refuses_less_than_nothing(products: list[Product]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Product.objects.filter(pk=products[0].pk).update(stock=-1)
