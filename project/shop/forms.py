"""The form of the front page."""

from __future__ import annotations

from typing import Any

from django import forms

from project.shop import orders
from project.shop.faults import OUTCOMES, Fault
from project.shop.models import Order, OrderLine, Product

MOST = 99
CHOICES = [(fault.value, fault.label) for group in OUTCOMES.values() for fault in group]


class OrderForm(forms.Form):
    """So many of one product, and what shall go wrong."""

    product = forms.ModelChoiceField(Product.objects.all(), empty_label=None)
    quantity = forms.IntegerField(min_value=1, max_value=MOST, initial=1)
    customer = forms.CharField(max_length=100, initial="Ada", label="Your name")
    fault = forms.ChoiceField(
        choices=CHOICES, initial=Fault.NONE, label="What shall go wrong?", widget=forms.RadioSelect
    )

    def save(self) -> Order:
        """Enter the order. More than the shelf holds may be ordered: to refuse it is the saga's first step."""
        wanted: dict[str, Any] = self.cleaned_data
        line = OrderLine(product=wanted["product"], quantity=wanted["quantity"], unit_price=wanted["product"].price)
        return orders.enter(Order(customer=wanted["customer"], fault=wanted["fault"]), [line])
