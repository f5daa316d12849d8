"""Inputs that check themselves: a Django form keeps its widgets, a serializer is asked field by field."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from django import forms
from django.core.exceptions import ValidationError
from rest_framework import serializers

from saga_app.admin.inputs import input_form
from saga_app.core.sealing import declared_input
from tests.doors.test_admin_fields import Line, filled


class Booking(forms.Form):
    when = forms.SplitDateTimeField()
    colours = forms.MultipleChoiceField(choices=[("r", "red"), ("g", "green")], widget=forms.CheckboxSelectMultiple)
    agreed = forms.BooleanField(required=False)
    note = forms.CharField(required=False, widget=forms.Textarea)

    def clean_note(self) -> str:
        note = str(self.cleaned_data["note"])
        if "!" in note:
            raise ValidationError("no shouting")
        return note.upper()

    def clean(self) -> None:
        if self.cleaned_data.get("agreed") is False and not self.errors:
            raise ValidationError("agree first")


def test_a_django_form_is_its_own_form() -> None:
    """With its widgets, several inputs for one value among them, and its own checks, which run once."""
    wanted = declared_input("s", Booking)
    given = {"when_0": "2026-02-28", "when_1": "12:30", "colours": ["r", "g"], "agreed": "on", "note": "hi"}
    form, values = filled(wanted, **given)
    assert isinstance(form, Booking)
    when = datetime(2026, 2, 28, 12, 30, tzinfo=UTC)
    assert values == {"when": when, "colours": ["r", "g"], "agreed": True, "note": "HI"}
    assert wanted.accept(values) == values  # not checked twice: "HI" is no input of its own
    form, values = filled(wanted, **{**given, "note": "hi!"})
    assert (values, form.errors) == (None, {"note": ["no shouting"]})
    form, values = filled(wanted, **{**given, "agreed": ""})
    assert (values, list(form.non_field_errors())) == (None, ["agree first"])


class Shipment(serializers.Serializer):
    sku = serializers.CharField(label="Article", help_text="As on the box.")
    qty = serializers.IntegerField(default=1, min_value=1)
    price = serializers.DecimalField(max_digits=6, decimal_places=2)
    when = serializers.DateTimeField(allow_null=True)
    day = serializers.DateField(required=False)
    kind = serializers.ChoiceField(choices=[("s", "small"), ("l", "large")])
    express = serializers.BooleanField(default=False)
    note = serializers.CharField(allow_blank=True)
    tags = serializers.ListField(child=serializers.CharField(), default=list)
    lines = serializers.JSONField()
    secret = serializers.CharField(read_only=True)


SHIPMENT = {
    "sku": "A1", "qty": "2", "price": "1.50", "when": "", "day": "", "kind": "l", "express": "true", "note": "",
    "tags": "", "lines": '[{"a": 1}]',
}  # fmt: skip


def test_a_serializer_is_asked_field_by_field() -> None:
    wanted = declared_input("s", Shipment)
    form, values = filled(wanted, **SHIPMENT)
    assert values == {
        "sku": "A1",
        "qty": 2,
        "price": Decimal("1.50"),
        "when": None,
        "kind": "l",
        "express": True,
        "note": "",
        "tags": [],
        "lines": [{"a": 1}],
    }
    assert "secret" not in form.fields
    assert (form["sku"].label, form["sku"].help_text) == ("Article", "As on the box.")
    assert (form["qty"].initial, form["express"].initial) == ("1", "false")
    _, values = filled(wanted, **{**SHIPMENT, "when": "2026-02-28T12:30", "day": "2026-02-28", "tags": '["a"]'})
    assert values is not None
    assert values["when"] == datetime(2026, 2, 28, 12, 30, tzinfo=UTC)
    assert (values["day"], values["tags"]) == (date(2026, 2, 28), ["a"])


@pytest.mark.parametrize(
    ("name", "text"),
    [("sku", ""), ("qty", "0"), ("price", "1.999"), ("price", "x"), ("kind", "x"), ("tags", '[["a"]]'), ("lines", "{")],
)
def test_what_a_serializer_refuses_is_said_at_its_field(name: str, text: str) -> None:
    form, values = filled(declared_input("s", Shipment), **{**SHIPMENT, name: text})
    assert (values, list(form.errors)) == (None, [name])
    assert form[name].value() == text


@pytest.mark.parametrize("make", [lambda: Line, lambda: Booking, lambda: Shipment])
def test_every_field_has_a_label_of_its_own(make: Callable[[], Any]) -> None:
    form = input_form(declared_input("s", make()))
    for bound in form:
        if not isinstance(bound.field.widget, forms.MultiWidget | forms.CheckboxSelectMultiple):
            assert f'id="{bound.id_for_label}"' in str(bound), bound.name
