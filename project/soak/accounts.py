"""What each order should have left in the books, given how its execution and that of its return have ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from project.soak.books import Books, Placed, Run, SentBack, Subscribed

NOTHING = Decimal(0)
Thing: TypeAlias = Placed | SentBack | Subscribed


@dataclass(frozen=True)
class Account:
    """One order, and how it has ended."""

    order: Placed
    run: Run
    returned: SentBack | None = None
    back: Run | None = None
    """The execution of its return."""

    @property
    def sold(self) -> bool:
        """The goods are the customer's."""
        return self.run.status == "completed"

    @property
    def settled(self) -> bool:
        """A return was approved, and carried through."""
        return bool(self.back and self.back.status == "completed" and self.back.chose("refund_ok") == "approved")

    @property
    def refund(self) -> Decimal:
        """What the bank gave back for a return."""
        wanted = self.returned is not None and self.returned.wish == "refund"
        return self.order.total - self.order.freight if self.settled and wanted else NOTHING

    @property
    def credit(self) -> Decimal:
        """What may be spent for a return."""
        wanted = self.returned is not None and self.returned.wish == "credit"
        return self.order.total - self.order.freight if self.settled and wanted else NOTHING

    @property
    def restocked(self) -> bool:
        """What came back can be sold again."""
        return self.settled and self.back is not None and self.back.chose("can_be_sold") == "true"

    @property
    def parcels(self) -> int:
        """How many have left."""
        return 0 if not self.sold else self.order.boxes if self.order.way == "wholesale" else 1

    @property
    def boxes(self) -> int:
        """How many are packed."""
        return self.parcels if self.order.way == "wholesale" else 0

    @property
    def labels(self) -> int:
        """How many are good: one for each box, and one for what came back."""
        return self.boxes + self.settled

    @property
    def purchases(self) -> int:
        """How many stand: one for each line that was bought."""
        return len(self.order.wants) if self.sold and self.order.way == "special" else 0


def accounts(books: Books) -> Iterator[Account]:
    """Every order that has an execution."""
    runs = {run.key: run for run in books.runs}
    returned = {back.order: back for back in books.returns}
    for order in books.orders:
        run, back = runs.get(key_of(order)), returned.get(order.id)
        if run is not None:
            yield Account(order, run, back, runs.get(key_of(back)) if back else None)


def key_of(thing: Thing) -> str:
    """The key of its execution."""
    words = {Placed: "order", SentBack: "return", Subscribed: "subscription"}
    return f"{words[type(thing)]}-{thing.id}"
