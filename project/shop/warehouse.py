"""The warehouse: hands over one parcel per order, however often it is asked."""

from __future__ import annotations

import time
from dataclasses import dataclass

from project.shop import outside


class WarehouseError(Exception):
    """The parcel did not leave."""


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
                books.execute(
                    "INSERT INTO parcels VALUES (?, ?, 1, ?) ON CONFLICT (order_id) DO UPDATE SET asked = asked + 1",
                    (order_id, _code(order_id), time.time()),
                )
        if failed:  # raised after the commit: the warehouse remembers that it has failed once
            raise WarehouseError("the van broke down")
    return _code(order_id)


def parcels(order_id: int | None = None) -> list[Parcel]:
    """The whole book, or what it says of one order."""
    with outside.ledger() as books:
        rows = books.execute(
            "SELECT order_id, code FROM parcels WHERE ? IS NULL OR order_id = ? ORDER BY order_id", (order_id, order_id)
        ).fetchall()
    return [Parcel(row["order_id"], row["code"]) for row in rows]


def _code(order_id: int) -> str:
    return f"KC{order_id:08d}"
