"""An audit that cannot fail proves nothing: every check finds the difference that is planted for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from project.shop.payments import Charge
from project.shop.warehouse import Parcel
from project.soak.audit import CHECKS, audit
from project.soak.books import Bill, Books, Movement, Placed, Run, Shelf, Step

TEN = Decimal("10.00")


def step(path: str, *, owed: bool = True, compensation: str = "", times: int = 0) -> Step:
    return Step(path, owed=owed, compensation=compensation, is_running=False, times_compensated=times)


def undone(path: str) -> Step:
    return step(path, compensation="compensated", times=1)


GOOD = Books(  # order 1 went through; order 2 was undone after its invoice; order 3 found the shelf empty
    shelves=[Shelf(product=1, stock=8)],
    movements=[
        Movement(None, 1, "delivery", 10),
        Movement(1, 1, "reserve", -2),
        Movement(2, 1, "reserve", -3),
        Movement(2, 1, "release", 3),
    ],
    orders=[
        Placed(1, "one", "card-1", TEN, {1: 2}),
        Placed(2, "two", "card-2", TEN, {1: 3}),
        Placed(3, "three", "card-3", TEN, {1: 99}),
    ],
    charges=[Charge("ch-1", "key-1", "card-1", TEN, Decimal(0)), Charge("ch-2", "key-2", "card-2", TEN, TEN)],
    bills=[Bill(1, TEN, "ch-1"), Bill(2, TEN, "ch-2"), Bill(2, -TEN, "ch-2")],
    parcels=[Parcel(1, "P1")],
    runs=[
        Run("r1", "order-1", "completed", "", unwound=False, steps=(step("reserve"), step("charge"))),
        Run("r2", "order-2", "cancelled", "completed", unwound=True, steps=(undone("reserve"), undone("charge"))),
        Run("r3", "order-3", "failed", "not_applicable", unwound=True, steps=(step("reserve", owed=False),)),
    ],
)


def at(index: int, **changes: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda items: [*items[:index], replace(items[index], **changes), *items[index + 1 :]]


def without(index: int) -> Callable[[list[Any]], list[Any]]:
    return lambda items: [*items[:index], *items[index + 1 :]]


def plus(*more: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda items: [*items, *more]


def test_books_that_balance_have_no_difference() -> None:
    assert audit(GOOD) == []


PLANTED = [
    ("stock", "shelves", at(0, stock=7)),
    ("stock", "movements", plus(Movement(None, 1, "delivery", -20))),
    ("goods", "movements", without(1)),
    ("goods", "movements", without(3)),
    ("goods", "movements", at(1, quantity=-1)),
    ("ledger", "charges", plus(Charge("ch-3", "key-3", "card-1", TEN, Decimal(0)))),
    ("ledger", "charges", plus(Charge("ch-3", "key-3", "card-1", TEN, TEN))),
    ("ledger", "charges", without(0)),
    ("ledger", "charges", at(0, amount=Decimal("9.99"))),
    ("ledger", "charges", at(0, refunded=TEN)),
    ("ledger", "charges", at(1, refunded=Decimal(0))),
    ("charges", "charges", plus(Charge("ch-3", "key-3", "card-9", TEN, TEN))),
    ("charges", "charges", at(1, refunded=2 * TEN)),
    ("invoices", "bills", without(0)),
    ("invoices", "bills", without(2)),
    ("invoices", "bills", at(0, total=Decimal("10.01"))),
    ("invoices", "bills", at(0, charge="ch-2")),
    ("invoices", "bills", plus(Bill(1, TEN, "ch-1"), Bill(1, -TEN, "ch-1"))),
    ("parcels", "parcels", without(0)),
    ("parcels", "parcels", plus(Parcel(1, "P9"))),
    ("parcels", "parcels", plus(Parcel(2, "P2"))),
    ("parcels", "parcels", plus(Parcel(9, "P9"))),
    ("sums", "bills", at(0, total=Decimal("9.99"))),
    ("sums", "charges", at(1, refunded=Decimal("9.99"))),
    ("keys", "charges", plus(Charge("ch-3", "key-1", "card-1", TEN, Decimal(0)))),
    ("keys", "charges", at(1, id="ch-1")),
    ("keys", "parcels", plus(Parcel(1, "P1"))),
    ("keys", "movements", plus(Movement(2, 1, "release", 3))),
    ("executions", "runs", without(2)),
    ("executions", "runs", plus(Run("r9", "order-1", "failed", "completed", unwound=True, steps=()))),
    ("executions", "runs", plus(Run("r9", "order-9", "failed", "completed", unwound=True, steps=()))),
    ("executions", "runs", at(0, status="stuck")),
    ("executions", "runs", at(0, status="running")),
    ("executions", "runs", at(1, rollback="abandoned")),
    ("executions", "runs", at(1, rollback="")),
    ("compensations", "runs", at(1, steps=(undone("reserve"), step("charge")))),
    ("compensations", "runs", at(1, steps=(undone("reserve"), step("charge", compensation="running")))),
    ("compensations", "runs", at(1, steps=(undone("reserve"), replace(undone("charge"), times_compensated=2)))),
    ("compensations", "runs", at(1, steps=(undone("reserve"), replace(undone("charge"), times_compensated=0)))),
    ("compensations", "runs", at(1, steps=(undone("reserve"), replace(undone("charge"), owed=False)))),
    ("compensations", "runs", at(0, steps=(undone("reserve"),))),
    ("compensations", "runs", at(0, steps=(replace(step("ship"), is_running=True),))),
]


@pytest.mark.parametrize(("check", "book", "plant"), PLANTED)
def test_a_planted_difference_is_found(check: str, book: str, plant: Callable[[list[Any]], list[Any]]) -> None:
    spoilt = replace(GOOD, **{book: plant(getattr(GOOD, book))})
    assert check in {difference.check for difference in audit(spoilt)}


def test_every_check_has_a_difference_planted_for_it() -> None:
    assert {check for check, _, _ in PLANTED} == set(CHECKS)
