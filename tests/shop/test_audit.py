"""An audit that cannot fail proves nothing: every check finds the difference that is planted for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from project.shop.outside import Entry
from project.shop.payments import Charge
from project.shop.warehouse import Parcel
from project.soak.audit import CHECKS, audit
from project.soak.books import Bill, Books, Movement, Placed, Run, SentBack, Shelf, Step, Subscribed

NONE, ONE = Decimal(0), Decimal("1.00")
TEN = Decimal("10.00")


def step(path: str, *, owed: bool = True, compensation: str = "", times: int = 0) -> Step:
    return Step(path, owed=owed, compensation=compensation, is_running=False, times_compensated=times)


def undone(path: str) -> Step:
    return step(path, compensation="compensated", times=1)


def ended(run_id: str, key: str, status: str = "completed", *steps: Step, parent: str = "", rollback: str = "") -> Run:
    return Run(run_id, key, status, rollback, unwound=status != "completed", steps=steps, parent=parent)


APPROVED = step("refund_ok", owed=False)
SETTLED = (replace(APPROVED, kind="approval", choice="approved"), replace(APPROVED, path="can_be_sold", choice="true"))
PAID = step("period[0]/paid", owed=False)
RESTED = (step("period[0]/charge"), replace(PAID, kind="milestone"), undone("period[1]/charge"))

GOOD = Books(
    # 1 went through, 2 was undone after its invoice, 3 found the shelf empty; 4 left in two boxes and came back for the
    # money; 5 was bought at a supplier and came back for credit; 6 was bought and undone.
    shelves=[Shelf(product=1, stock=8)],
    movements=[
        Movement(None, 1, "delivery", 10),
        Movement(1, 1, "reserve", -2),
        Movement(2, 1, "reserve", -3),
        Movement(2, 1, "release", 3),
        Movement(4, 1, "reserve", -4),
        Movement(4, 1, "return", 4),
        Movement(5, 1, "supply", 5),
        Movement(5, 1, "reserve", -5),
        Movement(6, 1, "supply", 6),
        Movement(6, 1, "send_back", -6),
    ],
    orders=[
        Placed(1, "one", "card-1", TEN, {1: 2}),
        Placed(2, "two", "card-2", TEN, {1: 3}),
        Placed(3, "three", "card-3", TEN, {1: 99}),
        Placed(4, "four", "card-4", TEN, {1: 4}, "wholesale", freight=ONE, boxes=2),
        Placed(5, "five", "card-5", TEN, {1: 5}, "special", freight=ONE),
        Placed(6, "six", "card-6", TEN, {1: 6}, "special", freight=ONE),
    ],
    returns=[SentBack(1, 4, "refund"), SentBack(2, 5, "credit", credit=TEN - ONE)],
    subscriptions=[Subscribed(1, "card-7", ONE, 2, ("ch-7",))],
    charges=[
        Charge("ch-1", "key-1", "card-1", TEN, NONE),
        Charge("ch-2", "key-2", "card-2", TEN, TEN),
        Charge("ch-4", "key-4", "card-4", TEN, TEN - ONE),
        Charge("ch-5", "key-5", "card-5", TEN, NONE),
        Charge("ch-7", "key-7", "card-7", ONE, NONE),
        Charge("ch-8", "key-8", "card-7", ONE, ONE),
    ],
    bills=[
        Bill(1, TEN, "ch-1"),
        Bill(2, TEN, "ch-2"),
        Bill(2, -TEN, "ch-2"),
        Bill(4, TEN, "ch-4"),
        Bill(5, TEN, "ch-5"),
    ],
    parcels=[Parcel(1, "P1"), Parcel(4, "P4-1"), Parcel(4, "P4-2"), Parcel(5, "P5")],
    boxes=[Entry("b1", 4, "box 1", struck=False), Entry("b2", 4, "box 2", struck=False)],
    labels=[
        Entry("l1", 4, "P4-1", struck=False),
        Entry("l2", 4, "P4-2", struck=False),
        Entry("l3", 4, "P4-0", struck=False),
        Entry("l4", 5, "P5-0", struck=False),
        Entry("l5", 2, "P2-1", struck=True),
    ],
    purchases=[Entry("p1", 5, "5 x one", struck=False), Entry("p2", 6, "6 x one", struck=True)],
    runs=[
        Run("r1", "order-1", "completed", "", unwound=False, steps=(step("reserve"), step("charge"))),
        Run("r2", "order-2", "cancelled", "completed", unwound=True, steps=(undone("reserve"), undone("charge"))),
        Run("r3", "order-3", "failed", "not_applicable", unwound=True, steps=(step("reserve", owed=False),)),
        ended("r4", "order-4"),
        ended("r5", "order-5"),
        ended(
            "r6",
            "order-6",
            "failed",
            replace(step("bought", compensation="compensated"), kind="child"),
            rollback="completed",
        ),
        ended("r7", "return-1", "completed", *SETTLED),
        ended("r8", "return-2", "completed", *SETTLED[:1]),
        ended("r9", "subscription-1", "failed", *RESTED, rollback="rested"),
        ended("k5", "", "completed", parent="r5"),
        ended("k6", "", "cancelled", parent="r6", rollback="completed"),
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
    ("sold", "movements", without(1)),
    ("sold", "movements", without(3)),
    ("sold", "movements", at(1, quantity=-1)),
    ("bought", "movements", without(6)),
    ("bought", "movements", without(9)),
    ("bought", "movements", plus(Movement(1, 1, "supply", 1))),
    ("restocked", "movements", without(5)),
    ("restocked", "movements", at(5, quantity=3)),
    ("restocked", "movements", plus(Movement(5, 1, "return", 5))),
    ("ledger", "charges", plus(Charge("ch-3", "key-3", "card-1", TEN, NONE))),
    ("ledger", "charges", plus(Charge("ch-3", "key-3", "card-1", TEN, TEN))),
    ("ledger", "charges", without(0)),
    ("ledger", "charges", at(0, amount=Decimal("9.99"))),
    ("ledger", "charges", at(0, refunded=TEN)),
    ("ledger", "charges", at(1, refunded=NONE)),
    ("ledger", "charges", at(2, refunded=NONE)),
    ("ledger", "returns", at(0, wish="credit")),
    ("periods", "charges", without(4)),
    ("periods", "charges", at(5, refunded=NONE)),
    ("periods", "subscriptions", at(0, booked=())),
    ("periods", "subscriptions", at(0, booked=("ch-7", "ch-7"))),
    ("periods", "subscriptions", at(0, periods=0)),
    ("periods", "runs", at(8, status="completed")),
    ("charges", "charges", plus(Charge("ch-3", "key-3", "card-9", TEN, NONE))),
    ("charges", "charges", at(1, refunded=2 * TEN)),
    ("charges", "charges", at(0, refunded=TEN - ONE)),
    ("invoices", "bills", without(0)),
    ("invoices", "bills", without(2)),
    ("invoices", "bills", at(0, total=Decimal("10.01"))),
    ("invoices", "bills", at(0, charge="ch-2")),
    ("invoices", "bills", plus(Bill(1, TEN, "ch-1"), Bill(1, -TEN, "ch-1"))),
    ("store_credit", "returns", at(1, credit=NONE)),
    ("store_credit", "returns", at(0, credit=TEN)),
    ("store_credit", "runs", at(7, status="failed")),
    ("parcels", "parcels", without(0)),
    ("parcels", "parcels", without(1)),
    ("parcels", "parcels", plus(Parcel(1, "P9"))),
    ("parcels", "parcels", plus(Parcel(2, "P2"))),
    ("parcels", "parcels", plus(Parcel(9, "P9"))),
    ("boxes", "boxes", without(0)),
    ("boxes", "boxes", at(0, text="box 2")),
    ("boxes", "boxes", plus(Entry("b3", 2, "box 1", struck=False))),
    ("labels", "labels", at(0, struck=True)),
    ("labels", "labels", at(4, struck=False)),
    ("labels", "labels", without(2)),
    ("purchases", "purchases", at(1, struck=False)),
    ("purchases", "purchases", without(0)),
    ("purchases", "purchases", plus(Entry("p3", 9, "one", struck=False))),
    ("sums", "bills", at(0, total=Decimal("9.99"))),
    ("sums", "charges", at(1, refunded=Decimal("9.99"))),
    ("keys", "charges", plus(Charge("ch-3", "key-1", "card-1", TEN, NONE))),
    ("keys", "charges", at(1, id="ch-1")),
    ("keys", "parcels", plus(Parcel(1, "P1"))),
    ("keys", "movements", plus(Movement(2, 1, "release", 3))),
    ("executions", "runs", without(2)),
    ("executions", "runs", without(6)),
    ("executions", "runs", plus(ended("x", "order-1", "failed", rollback="completed"))),
    ("executions", "runs", plus(ended("x", "order-9", "failed", rollback="completed"))),
    ("executions", "runs", at(0, status="stuck")),
    ("executions", "runs", at(0, status="running")),
    ("executions", "runs", at(9, status="waiting")),
    ("executions", "runs", at(1, rollback="abandoned")),
    ("executions", "runs", at(1, rollback="")),
    ("children", "runs", at(10, status="completed")),
    ("children", "runs", at(9, status="failed")),
    ("children", "runs", at(9, parent="nobody")),
    ("compensations", "runs", at(1, steps=(undone("reserve"), step("charge")))),
    ("compensations", "runs", at(1, steps=(undone("reserve"), step("charge", compensation="running")))),
    ("compensations", "runs", at(1, steps=(undone("reserve"), replace(undone("charge"), times_compensated=2)))),
    ("compensations", "runs", at(1, steps=(undone("reserve"), replace(undone("charge"), times_compensated=0)))),
    ("compensations", "runs", at(1, steps=(undone("reserve"), replace(undone("charge"), owed=False)))),
    ("compensations", "runs", at(0, steps=(undone("reserve"),))),
    ("compensations", "runs", at(0, steps=(replace(step("ship"), is_running=True),))),
    ("compensations", "runs", at(5, steps=(replace(step("bought"), kind="child"),))),
    ("compensations", "runs", at(8, steps=(undone("period[0]/charge"), *RESTED[1:]))),
    ("compensations", "runs", at(8, steps=(*RESTED[:2], step("period[1]/charge")))),
]


@pytest.mark.parametrize(("check", "book", "plant"), PLANTED)
def test_a_planted_difference_is_found(check: str, book: str, plant: Callable[[list[Any]], list[Any]]) -> None:
    spoilt = replace(GOOD, **{book: plant(getattr(GOOD, book))})
    assert check in {difference.check for difference in audit(spoilt)}


def test_every_check_has_a_difference_planted_for_it() -> None:
    assert {check for check, _, _ in PLANTED} == set(CHECKS)
