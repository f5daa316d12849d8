"""What a host site brings along: tables of its own, an Enum, and the error its payment provider raises."""

from __future__ import annotations

from decimal import Decimal
from enum import Enum
from uuid import uuid4

from django.db import models


class Color(Enum):
    RED = "red"
    GREEN = "green"
    BLUE = 3


class Declined(Exception):
    """The card was declined: nothing was charged."""


class Order(models.Model):
    sku = models.CharField(max_length=40, default="A1")
    quantity = models.PositiveIntegerField(default=1)
    total = models.DecimalField(max_digits=12, decimal_places=2, default=Decimal("9.99"))
    status = models.CharField(max_length=20, default="new")

    def __str__(self) -> str:
        return f"{self.quantity} x {self.sku}"


class Tag(models.Model):
    """Its name is unique, so that a body can break its own transaction."""

    name = models.CharField(max_length=80, unique=True)

    def __str__(self) -> str:
        return self.name


class Question(models.Model):
    """Its primary key is a UUID, so that a reference to it is more than a number."""

    id = models.UUIDField(primary_key=True, default=uuid4)
    title = models.CharField(max_length=200)

    def __str__(self) -> str:
        return self.title
