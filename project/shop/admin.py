"""The shop's books in the admin, to be read: they are written by the shop and its saga."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from project.shop.models import (
    CreditNote,
    Invoice,
    Order,
    OrderLine,
    Period,
    Product,
    Return,
    StockMovement,
    StoreCredit,
    Subscription,
)

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Model]
    TabularInline = admin.TabularInline[Model, Model]
else:
    ModelAdmin, TabularInline = admin.ModelAdmin, admin.TabularInline


class ReadOnly:
    """Nobody adds, changes or deletes by hand."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class Lines(ReadOnly, TabularInline):
    """The lines of an order."""

    model = OrderLine


@admin.register(Product)
class ProductAdmin(ReadOnly, ModelAdmin):
    """What is on the shelf."""

    list_display = ["sku", "name", "price", "stock"]
    search_fields = ["sku", "name"]


@admin.register(Order)
class OrderAdmin(ReadOnly, ModelAdmin):
    """What was ordered."""

    list_display = ["number", "customer", "total", "way", "fault", "placed_at"]
    list_filter = ["way", "fault"]
    search_fields = ["number", "customer"]
    inlines = [Lines]


@admin.register(StockMovement)
class StockMovementAdmin(ReadOnly, ModelAdmin):
    """What left the shelf and came back."""

    list_display = ["product", "kind", "quantity", "order", "at"]
    list_filter = ["kind"]
    list_select_related = ["product", "order"]


@admin.register(Invoice)
class InvoiceAdmin(ReadOnly, ModelAdmin):
    """What was billed."""

    list_display = ["number", "order", "total", "charge", "at"]
    list_select_related = ["order"]


@admin.register(CreditNote)
class CreditNoteAdmin(ReadOnly, ModelAdmin):
    """Which bills were cancelled."""

    list_display = ["number", "invoice", "total", "at"]
    list_select_related = ["invoice"]


@admin.register(Return)
class ReturnAdmin(ReadOnly, ModelAdmin):
    """What customers send back."""

    list_display = ["order", "wish", "reason", "at"]
    list_filter = ["wish"]
    list_select_related = ["order"]


@admin.register(StoreCredit)
class StoreCreditAdmin(ReadOnly, ModelAdmin):
    """What may be spent here."""

    list_display = ["returned", "amount", "at"]
    list_select_related = ["returned__order"]


class Periods(ReadOnly, TabularInline):
    """The periods that were paid."""

    model = Period


@admin.register(Subscription)
class SubscriptionAdmin(ReadOnly, ModelAdmin):
    """Who has tea every so often."""

    list_display = ["customer", "product", "price", "periods", "every"]
    list_select_related = ["product"]
    inlines = [Periods]
