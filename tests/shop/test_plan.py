"""The soak's faults are thrown once for all: every run has the same, and the sample has one of each."""

from __future__ import annotations

from collections import Counter

from project.shop.faults import Fault
from project.soak import plan

SAMPLE = [str(number) for number in range(1217, 1237)]
MANY = [str(number) for number in range(20_000)]


def share(count: int) -> float:
    return round(len(MANY) / count, 0)


def test_the_sample_has_every_fault() -> None:
    assert Counter(map(plan.fault_of, SAMPLE)) == {
        Fault.NONE: 16,
        Fault.INVOICE_REFUSED: 3,
        Fault.REFUND_REFUSED: 1,
    }
    assert sum(map(plan.times_out, SAMPLE)) == 2
    assert sum(map(plan.is_cancelled, SAMPLE)) == 3


def test_the_shares_are_as_announced() -> None:
    faults = Counter(map(plan.fault_of, MANY))
    assert 45 <= share(faults[Fault.REFUND_REFUSED]) <= 55
    assert 7 <= share(faults[Fault.INVOICE_REFUSED]) <= 9
    assert 18 <= share(sum(map(plan.times_out, MANY))) <= 22
    assert 7 <= share(sum(map(plan.is_cancelled, MANY))) <= 9
