"""Every book at one moment, as plain values: what the audit looks at."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal

from project.shop import outside, payments, supplier, warehouse
from project.shop.models import (
    CreditNote,
    Invoice,
    Order,
    Period,
    Product,
    Return,
    StockMovement,
    StoreCredit,
    Subscription,
)
from project.shop.outside import Entry
from project.shop.payments import Charge
from project.shop.sagas.wholesale import packing_list
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
    way: str = "shelf"
    freight: Decimal = Decimal(0)
    boxes: int = 1
    """Of wholesale: in how many it leaves."""


@dataclass(frozen=True)
class SentBack:
    """One return."""

    id: int
    order: int
    wish: str
    credit: Decimal = Decimal(0)
    """What may be spent instead."""


@dataclass(frozen=True)
class Subscribed:
    """One subscription, and the charges of the periods that are booked, in order."""

    id: int
    card: str
    price: Decimal
    periods: int
    booked: tuple[str, ...] = ()


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
    kind: str = "step"
    choice: str = ""


@dataclass(frozen=True)
class Run:
    """One execution."""

    id: str
    key: str
    status: str
    rollback: str
    unwound: bool
    steps: tuple[Step, ...]
    parent: str = ""
    unread: int = 0
    """Signals that nothing has asked for."""

    def chose(self, path: str) -> str:
        """What was chosen or decided there."""
        return next((step.choice for step in self.steps if step.path == path), "")


@dataclass(frozen=True)
class Books:
    """All of it."""

    shelves: list[Shelf] = field(default_factory=list)
    movements: list[Movement] = field(default_factory=list)
    orders: list[Placed] = field(default_factory=list)
    returns: list[SentBack] = field(default_factory=list)
    subscriptions: list[Subscribed] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    bills: list[Bill] = field(default_factory=list)
    parcels: list[Parcel] = field(default_factory=list)
    boxes: list[Entry] = field(default_factory=list)
    labels: list[Entry] = field(default_factory=list)
    purchases: list[Entry] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)


def read() -> Books:
    """Read every book."""
    return Books(
        shelves=[Shelf(*row) for row in Product.objects.values_list("pk", "stock")],
        movements=[Movement(*row) for row in StockMovement.objects.values_list("order", "product", "kind", "quantity")],
        orders=[_placed(order) for order in Order.objects.prefetch_related("lines")],
        returns=_returns(),
        subscriptions=_subscriptions(),
        charges=payments.charges(),
        bills=_bills(),
        parcels=warehouse.parcels(),
        boxes=outside.entries(warehouse.BOXES),
        labels=outside.entries(warehouse.LABELS),
        purchases=supplier.purchases(),
        runs=_runs(),
    )


def _placed(order: Order) -> Placed:
    return Placed(
        id=order.pk,
        number=order.number,
        card=order.card,
        total=order.total,
        wants={line.product_id: line.quantity for line in order.lines.all()},
        way=order.way,
        freight=order.freight,
        boxes=len(packing_list(order.pk)),
    )


def _returns() -> list[SentBack]:
    credit = dict(StoreCredit.objects.values_list("returned", "amount"))
    rows = Return.objects.order_by("pk").values_list("pk", "order", "wish")
    return [SentBack(pk, order, wish, credit.get(pk, Decimal(0))) for pk, order, wish in rows]


def _subscriptions() -> list[Subscribed]:
    booked: dict[int, list[str]] = defaultdict(list)
    for subscription, charge in Period.objects.order_by("number").values_list("subscription", "charge"):
        booked[subscription].append(charge)
    rows = Subscription.objects.values_list("pk", "card", "price", "periods")
    return [Subscribed(*row, booked=tuple(booked[row[0]])) for row in rows]


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
            parent=str(run.parent_id or ""),
            unread=run.unread,
        )
        for run in Execution.objects.light()
    ]


def _step(record: StepRecord) -> Step:
    happened = record.status == "completed" or (record.status == "failed" and record.may_have_happened)
    return Step(
        path=record.path,
        owed=record.owes and happened,
        compensation=record.compensation_status,
        is_running=record.status in {"running", "queued"} or record.compensation_status == "running",
        times_compensated=sum(
            attempt["direction"] == "compensate" and attempt["outcome"] == "returned" for attempt in record.attempts
        ),
        kind=record.kind,
        choice=record.choice,
    )
