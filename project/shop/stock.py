"""Takes goods off the shelf and puts them back, always with a line in the stock book."""

from __future__ import annotations

from django.db.models import F

from project.shop.models import OrderLine, Product, StockMovement
from saga_app import Rejected

Kind = StockMovement.Kind


def reserve(order_id: int) -> int:
    """Reserve every line, in the caller's transaction, and return how many pieces; Rejected when one is short."""
    pieces = 0
    # In the order of the products: two orders for the same two products never wait for each other in a circle.
    for line in OrderLine.objects.filter(order_id=order_id).select_related("product").order_by("product_id"):
        enough = Product.objects.filter(pk=line.product_id, stock__gte=line.quantity)
        if not enough.update(stock=F("stock") - line.quantity):
            raise Rejected(f"out of stock: {line.quantity} × {line.product.name}")
        _note(order_id, line.product_id, Kind.RESERVE, -line.quantity)
        pieces += line.quantity
    return pieces


def release(order_id: int) -> None:
    """Put back what the order had reserved."""
    for taken in StockMovement.objects.filter(order_id=order_id, kind=Kind.RESERVE).order_by("product_id"):
        _move(order_id, taken.product_id, Kind.RELEASE, -taken.quantity)


def take_in(order_id: int, product_id: int, pieces: int) -> None:
    """Take in what a supplier delivered for an order, and reserve it for that order: it never stands on the shelf."""
    _note(order_id, product_id, Kind.SUPPLY, pieces)
    _note(order_id, product_id, Kind.RESERVE, -pieces)


def send_back(order_id: int, product_id: int, pieces: int) -> None:
    """Send it back to the supplier."""
    _note(order_id, product_id, Kind.RELEASE, pieces)
    _note(order_id, product_id, Kind.SEND_BACK, -pieces)


def restock(order_id: int) -> None:
    """Put on the shelf what a customer sent back: all that the order had taken."""
    for line in OrderLine.objects.filter(order_id=order_id).order_by("product_id"):
        _move(order_id, line.product_id, Kind.RETURN, line.quantity)


def _move(order_id: int, product_id: int, kind: Kind, pieces: int) -> None:
    Product.objects.filter(pk=product_id).update(stock=F("stock") + pieces)
    _note(order_id, product_id, kind, pieces)


def _note(order_id: int, product_id: int, kind: Kind, pieces: int) -> None:
    StockMovement.objects.create(order_id=order_id, product_id=product_id, kind=kind, quantity=pieces)
