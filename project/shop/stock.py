"""Takes what an order wants off the shelf, and puts it back."""

from __future__ import annotations

from django.db.models import F

from project.shop.models import OrderLine, Product, StockMovement
from saga_app import Rejected

RESERVE, RELEASE = StockMovement.Kind.RESERVE, StockMovement.Kind.RELEASE


def reserve(order_id: int) -> int:
    """Reserve every line, in the caller's transaction, and return how many pieces; Rejected when one is short."""
    pieces = 0
    # In the order of the products: two orders for the same two products never wait for each other in a circle.
    for line in OrderLine.objects.filter(order_id=order_id).select_related("product").order_by("product_id"):
        enough = Product.objects.filter(pk=line.product_id, stock__gte=line.quantity)
        if not enough.update(stock=F("stock") - line.quantity):
            raise Rejected(f"out of stock: {line.quantity} × {line.product.name}")
        StockMovement.objects.create(
            order_id=order_id, product_id=line.product_id, kind=RESERVE, quantity=-line.quantity
        )
        pieces += line.quantity
    return pieces


def release(order_id: int) -> None:
    """Put back what the order had reserved."""
    for taken in StockMovement.objects.filter(order_id=order_id, kind=RESERVE).order_by("product_id"):
        Product.objects.filter(pk=taken.product_id).update(stock=F("stock") - taken.quantity)
        StockMovement.objects.create(
            order_id=order_id, product_id=taken.product_id, kind=RELEASE, quantity=-taken.quantity
        )
