"""Reads products and orders from the CSV files other shops export, and enters them in the books.

Such files say NULL in words, write moments with milliseconds and discounts as floats, and leave commas in an address
unquoted. What cannot be read is refused with the file and the line; nothing is guessed and nothing half imported.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TypeVar

from django.db import transaction

from project.shop import orders
from project.shop.models import Order, OrderLine, Product, StockMovement, cents

T = TypeVar("T")
FREE_TEXT = "shipAddress"  # the one column whose commas are not quoted


class ImportProblem(ValueError):
    """A line that cannot be read: which file, which line, what is wrong."""


@dataclass(frozen=True)
class Row:
    """One line of a file, by column."""

    file: str
    line: int
    values: dict[str, str]

    def text(self, column: str) -> str:
        """A column's text; NULL is none."""
        if column not in self.values:
            raise ImportProblem(f"{self.file} has no column {column}")
        value = self.values[column].strip()
        return "" if value == "NULL" else value

    def read(self, column: str, convert: Callable[[str], T], *, least: int = 0) -> T:
        """A column's value, at least `least`."""
        text = self.text(column)
        try:
            value = convert(text)
            too_small = value < least  # type: ignore[operator]
        except (ValueError, InvalidOperation) as problem:
            raise self.problem(f"{column} is {self.values[column]!r}") from problem
        if too_small:
            raise self.problem(f"{column} is {self.values[column]!r}; at least {least} is needed")
        return value

    def moment(self, column: str) -> datetime:
        """A column's moment, taken as UTC."""
        try:
            return datetime.fromisoformat(self.text(column)).replace(tzinfo=UTC)
        except ValueError as problem:
            raise self.problem(f"{column} is {self.values[column]!r}, not a date") from problem

    def problem(self, text: str) -> ImportProblem:
        """An error that says where."""
        return ImportProblem(f"{self.file}, line {self.line}: {text}")


@dataclass
class Goods:
    """One line of products.csv."""

    sku: str
    name: str
    unit: str
    price: Decimal
    stock: int


@dataclass
class Wish:
    """One order, with its lines as (sku, quantity, price of one, discount)."""

    number: str
    customer: str
    address: str
    freight: Decimal
    placed_at: datetime
    lines: list[tuple[str, int, Decimal, Decimal]] = field(default_factory=list)


def read(folder: Path) -> tuple[list[Goods], list[Wish]]:
    """Read products.csv, orders.csv and order-details.csv, without touching the database."""
    goods = {row.text("productID"): _goods(row) for row in _rows(folder / "products.csv")}
    wishes = {row.text("orderID"): _wish(row) for row in _rows(folder / "orders.csv")}
    seen = set()
    for row in _rows(folder / "order-details.csv"):
        number, sku = row.text("orderID"), row.text("productID")
        if number not in wishes or sku not in goods:
            raise row.problem(f"no order {number} or no product {sku}")
        if (number, sku) in seen:
            raise row.problem(f"order {number} has product {sku} twice")
        seen.add((number, sku))
        wishes[number].lines.append((sku, *_line(row)))
    for number, wish in wishes.items():
        if not wish.lines:
            raise ImportProblem(f"order-details.csv has no line for order {number}")
    return list(goods.values()), list(wishes.values())


def enter(goods: list[Goods], wishes: list[Wish], *, deliveries: int = 1) -> list[Order]:
    """Enter it all in the books, or nothing. `deliveries` times the stock that the file states is put on the shelf."""
    with transaction.atomic():
        products = {item.sku: _product(item, deliveries) for item in goods}
        return [_order(wish, products) for wish in wishes]


def _rows(path: Path) -> Iterator[Row]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            for values in reader:
                line = Row(path.name, reader.line_num, {})
                if values:
                    yield Row(path.name, reader.line_num, dict(zip(header, _fit(values, header, line), strict=True)))
    except OSError as problem:
        raise ImportProblem(f"{path} cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise ImportProblem(f"{path} is not UTF-8: {problem}") from problem


def _fit(values: list[str], header: list[str], line: Row) -> list[str]:
    """The values, one per column; what is too much are the pieces of an address."""
    surplus = len(values) - len(header)
    if surplus > 0 and FREE_TEXT in header:
        first = header.index(FREE_TEXT)
        last = first + surplus + 1
        values = [*values[:first], ",".join(values[first:last]), *values[last:]]
    if len(values) != len(header):
        raise line.problem(f"{len(values)} values for {len(header)} columns")
    return values


def _money(text: str) -> Decimal:
    return cents(Decimal(text))


def _goods(row: Row) -> Goods:
    return Goods(
        sku=row.text("productID"),
        name=row.text("productName"),
        unit=row.text("quantityPerUnit"),
        price=row.read("unitPrice", _money),
        stock=row.read("unitsInStock", int),
    )


def _wish(row: Row) -> Wish:
    address = ["shipAddress", "shipPostalCode", "shipCity", "shipRegion", "shipCountry"]
    return Wish(
        number=row.text("orderID"),
        customer=row.text("shipName"),
        address=", ".join(filter(None, map(row.text, address))),
        freight=row.read("freight", _money),
        placed_at=row.moment("orderDate"),
    )


def _line(row: Row) -> tuple[int, Decimal, Decimal]:
    discount = row.read("discount", _money)  # 0.15000000596046448 is fifteen per cent
    if discount > 1:
        raise row.problem(f"a discount of {discount} is more than everything")
    return row.read("quantity", int, least=1), row.read("unitPrice", _money), discount


def _product(item: Goods, deliveries: int) -> Product:
    stock = item.stock * deliveries
    product = Product.objects.create(sku=item.sku, name=item.name, unit=item.unit, price=item.price, stock=stock)
    StockMovement.objects.create(product=product, kind=StockMovement.Kind.DELIVERY, quantity=stock)
    return product


def _order(wish: Wish, products: dict[str, Product]) -> Order:
    order = Order(
        number=wish.number,
        customer=wish.customer,
        address=wish.address,
        freight=wish.freight,
        placed_at=wish.placed_at,
    )
    lines = [
        OrderLine(product=products[sku], quantity=quantity, unit_price=price, discount=discount)
        for sku, quantity, price, discount in wish.lines
    ]
    return orders.enter(order, lines)
