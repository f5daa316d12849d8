"""What the demo shop sells: a small shelf, some of it nearly empty."""

from __future__ import annotations

from decimal import Decimal

from project.shop.models import Product, StockMovement

SHELF = [  # sku, name, unit, price, pieces
    ("T-01", "Assam, second flush", "tin of 125 g", "11.50", 60),
    ("T-02", "Gyokuro Asahi", "tin of 50 g", "34.90", 25),
    ("T-03", "Lapsang Souchong", "tin of 100 g", "9.80", 48),
    ("T-04", "Oolong “Iron Goddess”", "tin of 100 g", "18.20", 40),
    ("T-05", "Maté, toasted", "bag of 250 g", "7.40", 80),
    ("T-06", "House blend", "bag of 1 kg", "14.00", 600),
    ("K-01", "Cast-iron kettle", "0.9 l", "74.00", 12),
    ("K-02", "Gaiwan with saucer", "porcelain, 120 ml", "22.00", 2),
    ("K-03", "Tea crate “Überseekiste”", "holds 24 tins", "129.00", 1),
]


def stock_the_shelf() -> None:
    """Fill the shelf, once: what is there already stays as it is."""
    for sku, name, unit, price, pieces in SHELF:
        product, is_new = Product.objects.get_or_create(
            sku=sku, defaults={"name": name, "unit": unit, "price": Decimal(price), "stock": pieces}
        )
        if is_new:
            StockMovement.objects.create(product=product, kind=StockMovement.Kind.DELIVERY, quantity=pieces)
