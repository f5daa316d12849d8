"""The audit: every book against every other. Looks only at its argument, and names each difference it finds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from project.shop.payments import Charge
from project.soak.books import Bill, Books, Placed, Run, Step

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
TERMINAL = {"completed", "failed", "cancelled"}
OUTCOMES = {"compensated", "failed", "abandoned", "resolved"}


@dataclass(frozen=True)
class Difference:
    """Two books that do not agree, or a promise that was not kept."""

    check: str
    text: str

    def __str__(self) -> str:
        return f"{self.check}: {self.text}"


def audit(books: Books) -> list[Difference]:
    """Every difference; none means that the books balance."""
    return [Difference(name, text) for name, check in CHECKS.items() for text in check(books)]


def stock(books: Books) -> Iterator[str]:
    """What is on the shelf is what the stock book adds up to, and it is not negative."""
    moved: Counter[int] = Counter()
    for movement in books.movements:
        moved[movement.product] += movement.quantity
    for shelf in books.shelves:
        if shelf.stock != moved[shelf.product]:
            yield f"product {shelf.product}: {shelf.stock} on the shelf, {moved[shelf.product]} in the stock book"
        if shelf.stock < 0:
            yield f"product {shelf.product}: {shelf.stock} on the shelf"


def goods(books: Books) -> Iterator[str]:
    """A completed order has taken exactly what it wants; any other has taken nothing or put it all back."""
    taken: dict[int, Counter[int]] = defaultdict(Counter)
    for movement in books.movements:
        if movement.order is not None:
            taken[movement.order][movement.product] -= movement.quantity
    for order, run in _placed(books):
        due = order.wants if run.status == "completed" else {}
        have = {product: pieces for product, pieces in taken[order.id].items() if pieces}
        if have != due:
            yield f"order {order.number} is {run.status} and has taken {have}, not {due}"


def ledger(books: Books) -> Iterator[str]:
    """A completed order is charged once, in full, and not refunded; for any other no money stays with the bank."""
    of_card = _group(books.charges, lambda charge: charge.card)
    for order, run in _placed(books):
        charges = of_card.get(order.card, [])
        if len(charges) > 1:
            yield f"order {order.number} was charged {len(charges)} times"
        kept = sum(charge.amount - charge.refunded for charge in charges)
        due = order.total if run.status == "completed" else 0
        if kept != due:
            yield f"order {order.number} is {run.status} and the bank keeps {kept}, not {due}"


def charges(books: Books) -> Iterator[str]:
    """No charge without an order, and none is refunded in part or twice over."""
    cards = {order.card for order in books.orders}
    for charge in books.charges:
        if charge.card not in cards:
            yield f"charge {charge.id} belongs to no order"
        if charge.refunded not in (0, charge.amount):
            yield f"charge {charge.id} of {charge.amount} was refunded {charge.refunded}"


def invoices(books: Books) -> Iterator[str]:
    """A completed order has one invoice over its total and its charge; any other none, or one that is cancelled."""
    of_order = _group(books.bills, lambda bill: bill.order)
    charge_of = {charge.card: charge for charge in books.charges}
    for order, run in _placed(books):
        bills = of_order.get(order.id, [])
        yield from _bill_problems(order, run, bills, charge_of.get(order.card))


def _bill_problems(order: Placed, run: Run, bills: list[Bill], charge: Charge | None) -> Iterator[str]:
    due = order.total if run.status == "completed" else 0
    if sum(bill.total for bill in bills) != due:
        yield f"order {order.number} is {run.status} and is billed {sum(bill.total for bill in bills)}, not {due}"
    if sum(bill.total >= 0 for bill in bills) > 1:
        yield f"order {order.number} has more than one invoice"
    for bill in bills:
        if charge is None or bill.charge != charge.id:
            yield f"order {order.number} has an invoice for charge {bill.charge}, which is not its own"


def parcels(books: Books) -> Iterator[str]:
    """A completed order has one parcel, any other none, and no parcel goes nowhere."""
    sent = Counter(parcel.order_id for parcel in books.parcels)
    for order, run in _placed(books):
        due = int(run.status == "completed")
        if sent.pop(order.id, 0) != due:
            yield f"order {order.number} is {run.status} and has a wrong number of parcels, not {due}"
    for order_id in sent:
        yield f"a parcel was sent for {order_id}, which is no order"


def sums(books: Books) -> Iterator[str]:
    """Bank, invoices and completed orders add up to the same, to the cent."""
    bank = sum(charge.amount - charge.refunded for charge in books.charges)
    billed = sum(bill.total for bill in books.bills)
    sold = sum(order.total for order, run in _placed(books) if run.status == "completed")
    if not bank == billed == sold:
        yield f"the bank keeps {bank}, invoices say {billed}, completed orders {sold}"


def keys(books: Books) -> Iterator[str]:
    """No effect happened twice under one key."""
    yield from _twice("charge under key", (charge.key for charge in books.charges))
    yield from _twice("charge numbered", (charge.id for charge in books.charges))
    yield from _twice("parcel", (parcel.code for parcel in books.parcels))
    ours = (f"{m.kind} of product {m.product} for order {m.order}" for m in books.movements if m.order is not None)
    yield from _twice("stock movement", ours)


def executions(books: Books) -> Iterator[str]:
    """Every order has exactly one execution; every execution is terminal, with a rollback that is decided."""
    runs = Counter(run.key for run in books.runs)
    for order in books.orders:
        if runs.pop(_key(order), 0) != 1:
            yield f"order {order.number} does not have exactly one execution"
    yield from (f"execution {key} belongs to no order" for key in runs)
    for run in books.runs:
        if run.status not in TERMINAL:
            yield f"execution {run.key} is {run.status}"
        elif run.status != "completed" and run.rollback not in {"completed", "not_applicable"}:
            yield f"execution {run.key} is {run.status} and its rollback {run.rollback or 'undecided'}"


def compensations(books: Books) -> Iterator[str]:
    """What was owed has exactly one outcome, what was not owed has none, and nothing is left running."""
    for run in books.runs:
        for step in run.steps:
            yield from (f"execution {run.key}, step {step.path}: {text}" for text in _step_problems(run, step))


def _step_problems(run: Run, step: Step) -> Iterator[str]:
    if step.is_running and run.status in TERMINAL:
        yield "still running"
    owed = run.unwound and step.owed
    if owed and step.compensation not in OUTCOMES:
        yield f"owed a compensation and has {step.compensation or 'no outcome'}"
    if not owed and step.compensation:
        yield f"owed nothing and is {step.compensation}"
    if step.times_compensated != (step.compensation == "compensated"):
        yield f"compensated {step.times_compensated} times, and is {step.compensation or 'without an outcome'}"


CHECKS: dict[str, Callable[[Books], Iterator[str]]] = {
    check.__name__: check
    for check in (stock, goods, ledger, charges, invoices, parcels, sums, keys, executions, compensations)
}


def _key(order: Placed) -> str:
    return f"order-{order.id}"


def _placed(books: Books) -> Iterator[tuple[Placed, Run]]:
    runs = {run.key: run for run in books.runs}
    return ((order, runs[_key(order)]) for order in books.orders if _key(order) in runs)


def _group(items: Iterable[T], by: Callable[[T], K]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = defaultdict(list)
    for item in items:
        groups[by(item)].append(item)
    return groups


def _twice(what: str, keys: Iterable[str]) -> Iterator[str]:
    return (f"{what} {key}: {times} times" for key, times in Counter(keys).items() if times > 1)
