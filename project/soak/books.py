"""Every book at one moment, as plain values: what the audit looks at."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal

from project.shop import payments, warehouse
from project.shop.models import CreditNote, Invoice, Order, Product, StockMovement
from project.shop.payments import Charge
from project.shop.sagas import place_order
from project.shop.warehouse import Parcel
from saga_app.models import Execution, StepRecord


@dataclass(frozen=True)
class Shelf:
    """One product: how many pieces the shop believes to have."""

    product: int
    stock: int


@dataclass(frozen=True)
class Movement:
    """One line of the stock book."""

    order: int | None
    product: int
    kind: str
    quantity: int


@dataclass(frozen=True)
class Placed:
    """One order, and how many pieces of which product it wants."""

    id: int
    number: str
    card: str
    total: Decimal
    wants: dict[int, int]


@dataclass(frozen=True)
class Bill:
    """One invoice, or with a negative total the credit note that answers it."""

    order: int
    total: Decimal
    charge: str


@dataclass(frozen=True)
class Step:
    """One step record, as far as the audit asks."""

    path: str
    owed: bool
    compensation: str
    is_running: bool
    times_compensated: int


@dataclass(frozen=True)
class Run:
    """One execution."""

    id: str
    key: str
    status: str
    rollback: str
    unwound: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Books:
    """All of it."""

    shelves: list[Shelf] = field(default_factory=list)
    movements: list[Movement] = field(default_factory=list)
    orders: list[Placed] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    bills: list[Bill] = field(default_factory=list)
    parcels: list[Parcel] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)


def read() -> Books:
    """Read every book."""
    return Books(
        shelves=[Shelf(*row) for row in Product.objects.values_list("pk", "stock")],
        movements=[Movement(*row) for row in StockMovement.objects.values_list("order", "product", "kind", "quantity")],
        orders=[
            Placed(
                id=order.pk,
                number=order.number,
                card=order.card,
                total=order.total,
                wants={line.product_id: line.quantity for line in order.lines.all()},
            )
            for order in Order.objects.prefetch_related("lines")
        ],
        charges=payments.charges(),
        bills=_bills(),
        parcels=warehouse.parcels(),
        runs=_runs(),
    )


def _bills() -> list[Bill]:
    invoices = Invoice.objects.values_list("order", "total", "charge")
    notes = CreditNote.objects.values_list("invoice__order", "total", "invoice__charge")
    return [
        *(Bill(order, total, charge) for order, total, charge in invoices),
        *(Bill(order, -total, charge) for order, total, charge in notes),
    ]


def _runs() -> list[Run]:
    steps: dict[object, list[Step]] = defaultdict(list)
    for record in StepRecord.objects.light().order_by("seq"):
        steps[record.execution_id].append(_step(record))
    return [
        Run(
            id=str(run.pk),
            key=run.key or "",
            status=run.status,
            rollback=run.rollback_status,
            unwound=run.unwinding_at is not None,
            steps=tuple(steps[run.pk]),
        )
        for run in Execution.objects.light().filter(saga=place_order.name)
    ]


def _step(record: StepRecord) -> Step:
    happened = record.status == "completed" or (record.status == "failed" and record.may_have_happened)
    return Step(
        path=record.path,
        owed=record.owes and happened,
        compensation=record.compensation_status,
        is_running=record.status == "running" or record.compensation_status == "running",
        times_compensated=sum(
            attempt["direction"] == "compensate" and attempt["outcome"] == "returned" for attempt in record.attempts
        ),
    )
