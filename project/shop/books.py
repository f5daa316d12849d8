"""What the books say about one order: ours, the bank's and the warehouse's, side by side."""

from __future__ import annotations

from dataclasses import dataclass

from project.shop import outside, payments, supplier, warehouse
from project.shop.models import CreditNote, Invoice, Order, StockMovement


@dataclass(frozen=True)
class Entry:
    """One line in somebody's book."""

    book: str
    text: str
    amount: str = ""


def entries_of(order: Order) -> list[Entry]:
    """Every entry about an order, in the order in which a good run makes them."""
    return [*_stock(order), *_bank(order), *_invoices(order), *_parcels(order)]


def _stock(order: Order) -> list[Entry]:
    words = {
        StockMovement.Kind.RESERVE: "taken off the shelf",
        StockMovement.Kind.RELEASE: "put back",
        StockMovement.Kind.SUPPLY: "came from the supplier",
        StockMovement.Kind.SEND_BACK: "sent back to the supplier",
        StockMovement.Kind.RETURN: "came back from the customer",
    }
    moved = order.movements.select_related("product")
    return [
        Entry(
            "Stock", f"{move.product} {words[StockMovement.Kind(move.kind)]}", f"{move.quantity:+d}".replace("-", "−")
        )
        for move in moved
    ]


def _bank(order: Order) -> list[Entry]:
    entries = []
    for charge in payments.charges(card=order.card):
        entries.append(Entry("Bank", f"charge {charge.id}", f"{charge.amount}"))
        if charge.refunded:
            entries.append(Entry("Bank", f"refund of {charge.id}", f"−{charge.refunded}"))
    return entries


def _invoices(order: Order) -> list[Entry]:
    invoices = Invoice.objects.filter(order=order)
    notes = CreditNote.objects.filter(invoice__order=order)
    return [
        *(Entry("Invoices", invoice.number, f"{invoice.total}") for invoice in invoices),
        *(Entry("Invoices", note.number, f"−{note.total}") for note in notes),
    ]


def _parcels(order: Order) -> list[Entry]:
    return [
        *_once(order, "Supplier", supplier.PURCHASES, "cancelled"),
        *_once(order, "Warehouse", warehouse.BOXES, "unpacked"),
        *_once(order, "Warehouse", warehouse.LABELS, "void"),
        *(Entry("Warehouse", f"parcel {parcel.code}") for parcel in warehouse.parcels(order.pk)),
    ]


def _once(order: Order, name: str, book: str, struck: str) -> list[Entry]:
    """The lines of a book outside; one that is struck out says so."""
    return [Entry(name, f"{one.text}, {struck}" if one.struck else one.text) for one in outside.entries(book, order.pk)]
