"""The warehouse: packs boxes, prints their labels, and hands over each parcel once, however often it is asked."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from project.shop import outside

BOXES, LABELS = "boxes", "labels"


class WarehouseError(Exception):
    """The parcel did not leave."""


class BoxBroke(WarehouseError):
    """What was to be packed is in pieces."""


class WarehouseClosed(WarehouseError):
    """Nobody is there; `opens_in` says in how many seconds somebody is."""

    def __init__(self, opens_in: float) -> None:
        super().__init__(f"closed, opens in {opens_in / 60:.0f} minutes")
        self.opens_in = opens_in


@dataclass(frozen=True)
class Parcel:
    """One line of the warehouse's book."""

    order_id: int
    code: str


def ship(order_id: int, *, idempotency_key: str = "") -> str:  # noqa: ARG001 - the order says enough
    """Send the order's parcel and return its code; an order whose parcel has left keeps that one, whatever the key."""
    with outside.journey():
        with outside.ledger() as books:
            if outside.told(books, outside.parcel_of(order_id), "closed"):
                raise WarehouseClosed(opens_in=3600)
            failed = outside.told(books, outside.parcel_of(order_id), "fail")
            if not failed:
                _hand_over(books, order_id, [_code(order_id)])
        if failed:  # raised after the commit: the warehouse remembers that it has failed once
            raise WarehouseError("the van broke down")
    return _code(order_id)


def ship_all(order_id: int, codes: Sequence[str]) -> int:
    """Send the parcels of these labels, and return how many."""
    with outside.journey(), outside.ledger() as books:
        _hand_over(books, order_id, codes)
    return len(codes)


def pack(order_id: int, number: int, *, idempotency_key: str) -> str:
    """Pack one box of the order and return its code."""
    with outside.journey(), outside.ledger() as books:
        broke = outside.told(books, outside.parcel_of(order_id), f"break box {number}")
        code = "" if broke else outside.enter(books, BOXES, idempotency_key, order_id, f"box {number}")
    if broke:
        raise BoxBroke(f"box {number} was dropped")
    return code


def unpack(*, original_key: str) -> None:
    """Put back what is in a box, or see to it that it is never packed."""
    with outside.journey(), outside.ledger() as books:
        outside.strike(books, BOXES, original_key)


def print_label(order_id: int, number: int, *, idempotency_key: str) -> str:
    """Print the label of one box and return the code on it."""
    with outside.journey(), outside.ledger() as books:
        return outside.enter(books, LABELS, idempotency_key, order_id, f"{_code(order_id)}-{number:02d}")


def void_label(*, original_key: str) -> None:
    """Make a label worthless, printed or not yet."""
    with outside.journey(), outside.ledger() as books:
        outside.strike(books, LABELS, original_key)


def parcels(order_id: int | None = None) -> list[Parcel]:
    """The whole book, or what it says of one order."""
    with outside.ledger() as books:
        rows = books.execute(
            "SELECT order_id, code FROM parcels WHERE ? IS NULL OR order_id = ? ORDER BY code", (order_id, order_id)
        ).fetchall()
    return [Parcel(row["order_id"], row["code"]) for row in rows]


def _hand_over(books: sqlite3.Connection, order_id: int, codes: Sequence[str]) -> None:
    for code in codes:
        books.execute(
            "INSERT INTO parcels VALUES (?, ?, 1, ?) ON CONFLICT (code) DO UPDATE SET asked = asked + 1",
            (code, order_id, time.time()),
        )


def _code(order_id: int) -> str:
    return f"KC{order_id:08d}"
