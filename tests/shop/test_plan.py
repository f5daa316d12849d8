"""The soak's faults are thrown once for all: every run has the same, and the sample has one of each."""

from __future__ import annotations

from collections import Counter

from project.shop.faults import Fault
from project.shop.models import Order
from project.soak import plan

SAMPLE = [str(number) for number in range(1217, 1237)]
MANY = [str(number) for number in range(20_000)]


def share(count: int) -> float:
    return round(len(MANY) / count, 0)


def test_the_sample_has_every_fault_and_every_way() -> None:
    assert Counter(map(plan.fault_of, SAMPLE)) == {
        Fault.NONE: 15,
        Fault.INVOICE_REFUSED: 1,
        Fault.REFUND_REFUSED: 1,
        Fault.BOX_BREAKS: 1,
        Fault.SOLD_OUT: 1,
        Fault.SUPPLIER_KEEPS: 1,
    }
    assert set(map(plan.way_of, SAMPLE)) == set(Order.Way)
    assert sum(map(plan.times_out, SAMPLE)) >= 1
    assert sum(map(plan.is_cancelled, SAMPLE)) >= 2


def test_the_sample_has_every_kind_of_return() -> None:
    """Of orders that go through, as far as anybody can tell beforehand."""
    returned = [one for one in SAMPLE if goes_through(one) and plan.is_returned(one)]
    assert {plan.verdict_on(one) for one in returned} == {"approve", "reject", ""}
    approved = [one for one in returned if plan.verdict_on(one) == "approve"]
    assert {plan.comes_back(one) for one in approved} == {"as new", "damaged", ""}
    assert {plan.wish_of(one) for one in approved} == {"refund", "credit"}
    assert {plan.is_early(one) for one in approved} == {True, False}


def goes_through(number: str) -> bool:
    arrives = plan.way_of(number) != Order.Way.SPECIAL or plan.is_delivered(number)
    return arrives and plan.fault_of(number) == Fault.NONE and not plan.is_cancelled(number)


def test_the_shares_are_as_announced() -> None:
    ways = Counter(map(plan.way_of, MANY))
    assert share(ways[Order.Way.SPECIAL]) == share(ways[Order.Way.WHOLESALE]) == 4
    faults = Counter(map(plan.fault_of, MANY))
    assert 45 <= share(faults[Fault.REFUND_REFUSED]) <= 55
    assert 9 <= share(faults[Fault.INVOICE_REFUSED]) <= 13
    assert min(faults[one] for one in (Fault.BOX_BREAKS, Fault.SOLD_OUT, Fault.SUPPLIER_KEEPS)) > 500
    assert 18 <= share(sum(map(plan.times_out, MANY))) <= 22
    assert 7 <= share(sum(map(plan.is_cancelled, MANY))) <= 9
