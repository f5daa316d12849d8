"""The shop's own books: what it sells, what was ordered, what left the shelf, and what was invoiced."""

from __future__ import annotations

import secrets
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from project.shop.faults import Fault

CENT = Decimal("0.01")
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no 0/O, no 1/I: numbers are read over the telephone


def cents(amount: Decimal) -> Decimal:
    """Round an amount of money half up to the cent."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def new_number() -> str:
    """A number for an order placed on the site."""
    return "".join(secrets.choice(_LETTERS) for _ in range(6))


def new_card() -> str:
    """A token that stands for the customer's card, good for one order."""
    return f"card-{secrets.token_hex(8)}"


class Product(models.Model):
    """Something on the shelf."""

    sku = models.CharField(max_length=20, unique=True)
    name = models.CharField(max_length=100)
    unit = models.CharField(max_length=60, blank=True)
    price = models.DecimalField(max_digits=10, decimal_places=2)
    stock = models.IntegerField(default=0)

    class Meta:
        ordering = ["sku"]
        constraints = [models.CheckConstraint(condition=Q(stock__gte=0), name="shop_product_stock_not_negative")]

    def __str__(self) -> str:
        return self.name


class Order(models.Model):
    """What a customer wants. Whether it went through is the saga's to say, not a column's."""

    class Way(models.TextChoices):
        """How it is carried out: which saga carries it."""

        SHELF = "shelf", "From the shelf"
        WHOLESALE = "wholesale", "In many parcels"
        SPECIAL = "special", "Bought at suppliers"

    number = models.CharField(max_length=20, unique=True, default=new_number)
    customer = models.CharField(max_length=100)
    address = models.CharField(max_length=200, blank=True)
    card = models.CharField(max_length=40, unique=True, default=new_card)
    freight = models.DecimalField(max_digits=10, decimal_places=2, default=Decimal(0))
    total = models.DecimalField(max_digits=12, decimal_places=2, default=Decimal(0))
    way = models.CharField(max_length=10, choices=Way.choices, default=Way.SHELF)
    fault = models.CharField(max_length=20, choices=Fault.choices, default=Fault.NONE)
    placed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.number

    def get_absolute_url(self) -> str:
        """Its page in the shop."""
        return reverse("order", args=[self.number])

    @property
    def saga_key(self) -> str:
        """The key under which its execution is started: one order, one execution."""
        return f"order-{self.pk}"

    @property
    def worth(self) -> Decimal:
        """What its goods cost, without the freight."""
        return self.total - self.freight


class OrderLine(models.Model):
    """So many of one product, at the price and discount of the day."""

    order = models.ForeignKey(Order, models.CASCADE, related_name="lines")
    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    quantity = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    unit_price = models.DecimalField(max_digits=10, decimal_places=2)
    discount = models.DecimalField(max_digits=4, decimal_places=2, default=Decimal(0))

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["order", "product"], name="shop_line_once_per_product"),
            models.CheckConstraint(condition=Q(quantity__gte=1), name="shop_line_quantity"),
            models.CheckConstraint(condition=Q(discount__gte=0, discount__lte=1), name="shop_line_discount"),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} × {self.product}"

    @property
    def total(self) -> Decimal:
        """What the line costs, to the cent."""
        return cents(self.unit_price * self.quantity * (1 - self.discount))


class StockMovement(models.Model):
    """One line of the stock book: stock on the shelf is the sum of a product's movements."""

    class Kind(models.TextChoices):
        """Why the stock changed."""

        DELIVERY = "delivery"
        RESERVE = "reserve"
        RELEASE = "release"
        SUPPLY = "supply"
        SEND_BACK = "send_back"
        RETURN = "return"

    product = models.ForeignKey(Product, models.CASCADE, related_name="movements")
    order = models.ForeignKey(Order, models.CASCADE, related_name="movements", null=True)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    quantity = models.IntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["order", "product", "kind"],
                condition=Q(order__isnull=False),
                name="shop_movement_once_per_order",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.quantity:+d} {self.product}"


class Invoice(models.Model):
    """The bill of one order; it is never deleted, only answered by a credit note."""

    number = models.CharField(max_length=20, unique=True, editable=False)
    order = models.OneToOneField(Order, models.PROTECT, related_name="invoice")
    total = models.DecimalField(max_digits=12, decimal_places=2)
    charge = models.CharField(max_length=40)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.number

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Number it after its order, which has only one."""
        self.number = self.number or f"INV-{self.order_id:06d}"
        super().save(*args, **kwargs)


class CreditNote(models.Model):
    """What cancels an invoice in the books."""

    invoice = models.OneToOneField(Invoice, models.PROTECT, related_name="credit_note")
    number = models.CharField(max_length=20, unique=True)
    total = models.DecimalField(max_digits=12, decimal_places=2)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.number


class Return(models.Model):
    """What a customer sends back. What becomes of it is decided by people, and carried out by its saga."""

    class Wish(models.TextChoices):
        """What they want for it."""

        REFUND = "refund", "The money back"
        CREDIT = "credit", "Store credit"

    order = models.OneToOneField(Order, models.PROTECT, related_name="returned")
    wish = models.CharField(max_length=10, choices=Wish.choices, default=Wish.REFUND)
    reason = models.CharField(max_length=200)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        permissions = [("approve_return", "Can approve a return")]

    def __str__(self) -> str:
        return f"return of {self.order}"

    @property
    def saga_key(self) -> str:
        """The key under which its execution is started."""
        return f"return-{self.pk}"


class StoreCredit(models.Model):
    """What a customer may spend at the shop instead of having it back."""

    returned = models.OneToOneField(Return, models.PROTECT, related_name="credit")
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.amount} for {self.returned}"


class Subscription(models.Model):
    """A tin of tea every so often."""

    customer = models.CharField(max_length=100)
    card = models.CharField(max_length=40, unique=True, default=new_card)
    product = models.ForeignKey(Product, models.PROTECT, related_name="+")
    price = models.DecimalField(max_digits=10, decimal_places=2)
    periods = models.PositiveSmallIntegerField(default=12)
    every = models.DurationField(default=timedelta(days=30))
    grace = models.DurationField(default=timedelta(days=3))

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.product} for {self.customer}"

    @property
    def saga_key(self) -> str:
        """The key under which its execution is started."""
        return f"subscription-{self.pk}"


class Period(models.Model):
    """One period of a subscription that was paid."""

    subscription = models.ForeignKey(Subscription, models.PROTECT, related_name="booked")
    number = models.PositiveSmallIntegerField()
    charge = models.CharField(max_length=40)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["subscription", "number"], name="shop_period_once")]

    def __str__(self) -> str:
        return f"{self.subscription}, period {self.number}"
