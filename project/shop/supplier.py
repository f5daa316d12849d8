"""The suppliers: sell once per key, deliver when they like, and mostly take back what was not yet used."""

from __future__ import annotations

from project.shop import outside
from project.shop.outside import Entry

PURCHASES = "purchases"


class SupplierError(Exception):
    """The supplier said no."""


class SoldOut(SupplierError):
    """Nothing was bought."""


class CancelRefused(SupplierError):
    """What was bought is bought, until somebody talks to them."""


def buy(order_id: int, sku: str, pieces: int, *, idempotency_key: str) -> str:
    """Buy so many pieces for one of our orders, and return what the supplier calls the purchase."""
    with outside.journey():
        with outside.ledger() as books:
            sold_out = outside.told(books, outside.supplier_of(order_id), "sold out")
            text = "" if sold_out else outside.enter(books, PURCHASES, idempotency_key, order_id, f"{pieces} × {sku}")
        if sold_out:
            raise SoldOut(f"{sku} is sold out")
    return text


def cancel(*, original_key: str, order_id: int) -> None:
    """Cancel what was bought under that key, or see to it that it is never sold."""
    with outside.journey():
        with outside.ledger() as books:
            refused = outside.told(books, outside.supplier_of(order_id), "keep")
            if not refused:
                outside.strike(books, PURCHASES, original_key)
        if refused:
            raise CancelRefused("we do not take it back")


def purchases(order_id: int | None = None) -> list[Entry]:
    """What was bought: all of it, or for one of our orders."""
    return outside.entries(PURCHASES, order_id)
