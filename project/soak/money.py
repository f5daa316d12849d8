"""What the audit asks of money: the bank's ledger, the invoices, the store credit, to the cent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from decimal import Decimal
from typing import TypeVar

from project.shop.payments import Charge
from project.soak.accounts import NOTHING, Account, accounts, key_of
from project.soak.books import Bill, Books, Subscribed

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def ledger(books: Books) -> Iterator[str]:
    """A completed order is charged once, in full, less what a return gave back; any other left no money at the bank."""
    of_card = _group(books.charges, lambda charge: charge.card)
    for one in accounts(books):
        charges = of_card.get(one.order.card, [])
        if len(charges) > 1:
            yield f"order {one.order.number} was charged {len(charges)} times"
        due = one.order.total - one.refund if one.sold else NOTHING
        if _kept(charges) != due:
            yield f"order {one.order.number} is {one.run.status} and the bank keeps {_kept(charges)}, not {due}"


def periods(books: Books) -> Iterator[str]:
    """Each period that is booked is charged once; one that is not is not charged, or given back."""
    of_card = _group(books.charges, lambda charge: charge.card)
    status = {run.key: run.status for run in books.runs}
    for one in books.subscriptions:
        charges = of_card.get(one.card, [])
        kept = [charge.id for charge in charges if charge.refunded != charge.amount]
        if sorted(kept) != sorted(one.booked) or _kept(charges) != _earned(one):
            yield f"subscription {one.id} has booked {list(one.booked)}, and the bank keeps {kept}"
        completed = status.get(key_of(one)) == "completed"
        if len(one.booked) > one.periods or (completed and len(one.booked) < one.periods):
            yield f"subscription {one.id} of {one.periods} periods is {status.get(key_of(one))} at {len(one.booked)}"


def charges(books: Books) -> Iterator[str]:
    """No charge without an order or a subscription, and each is given back in full, or for a return, or not at all."""
    cards = {order.card for order in books.orders} | {one.card for one in books.subscriptions}
    refunds = {one.order.card: one.refund for one in accounts(books)}
    for charge in books.charges:
        if charge.card not in cards:
            yield f"charge {charge.id} belongs to nobody"
        if charge.refunded not in (0, charge.amount, refunds.get(charge.card)):
            yield f"charge {charge.id} of {charge.amount} was refunded {charge.refunded}"


def invoices(books: Books) -> Iterator[str]:
    """A completed order has one invoice over its total and its charge; any other none, or one that is cancelled."""
    of_order = _group(books.bills, lambda bill: bill.order)
    charge_of = {charge.card: charge for charge in books.charges}
    for one in accounts(books):
        yield from _bill_problems(one, of_order.get(one.order.id, []), charge_of.get(one.order.card))


def _bill_problems(one: Account, bills: list[Bill], charge: Charge | None) -> Iterator[str]:
    number, due = one.order.number, one.order.total if one.sold else NOTHING
    if sum(bill.total for bill in bills) != due:
        yield f"order {number} is {one.run.status} and is billed {sum(bill.total for bill in bills)}, not {due}"
    if sum(bill.total >= 0 for bill in bills) > 1:
        yield f"order {number} has more than one invoice"
    for bill in bills:
        if charge is None or bill.charge != charge.id:
            yield f"order {number} has an invoice for charge {bill.charge}, which is not its own"


def store_credit(books: Books) -> Iterator[str]:
    """Who wished for store credit, and had their return approved, has it; nobody else has."""
    for one in accounts(books):
        given = one.returned.credit if one.returned else NOTHING
        if given != one.credit:
            yield f"order {one.order.number} has store credit of {given}, not {one.credit}"


def sums(books: Books) -> Iterator[str]:
    """Bank, invoices and completed orders add up to the same, to the cent."""
    earned = sum(_earned(one) for one in books.subscriptions)
    returned = sum(one.refund for one in accounts(books))
    bank = _kept(books.charges) - earned + returned
    billed = sum(bill.total for bill in books.bills)
    sold = sum(one.order.total for one in accounts(books) if one.sold)
    if not bank == billed == sold:
        yield f"the bank keeps {bank} of orders, invoices say {billed}, completed orders {sold}"


def _kept(charges: Iterable[Charge]) -> Decimal:
    return sum((charge.amount - charge.refunded for charge in charges), NOTHING)


def _earned(one: Subscribed) -> Decimal:
    return one.price * len(one.booked)


def _group(items: Iterable[T], by: Callable[[T], K]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = defaultdict(list)
    for item in items:
        groups[by(item)].append(item)
    return groups


CHECKS = (ledger, periods, charges, invoices, store_credit, sums)
