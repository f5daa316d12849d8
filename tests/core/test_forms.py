"""Inputs that check themselves: forms and serializers, known by their methods alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from saga_app import DefinitionError, InputError, Saga, step
from saga_app.core import registry


@pytest.fixture(autouse=True)
def _isolated() -> Iterator[None]:
    with registry.isolate():
        yield


def saga(*takes: Any, **options: Any) -> Saga[Any]:
    return Saga("s", *(takes or [step(name="noop")(lambda: None)]), **options)


def errors(call: Any, *args: Any) -> dict[str, str]:
    with pytest.raises(InputError) as caught:
        call(*args)
    return caught.value.errors


class FakeForm:
    base_fields = {
        "order_id": SimpleNamespace(required=True),
        "day": SimpleNamespace(required=True),
        "note": SimpleNamespace(required=False),
    }

    def __init__(self, data: Any) -> None:
        self.data, self.errors, self.cleaned_data = data, {}, {}

    def is_valid(self) -> bool:
        try:
            self.cleaned_data = {
                "order_id": int(self.data["order_id"]),
                "day": date.fromisoformat(str(self.data["day"])),
                "note": self.data.get("note", "").strip(),
                "extra": 1,
            }
        except (KeyError, ValueError):
            self.errors = {"order_id": ["Enter a number.", "Or else."], "__all__": ["That is no order."]}
        return not self.errors


def test_a_form() -> None:
    """The doors bring text, which it cleans; from Python nothing may have to be converted."""
    row = saga(input=FakeForm)
    clean = {"order_id": 1, "day": date(2024, 5, 1), "note": ""}
    assert row.input_names == {"order_id": True, "day": True, "note": False}
    assert row.convert({"order_id": "1", "day": "2024-05-01"}) == clean
    assert row.accept(row.convert({"order_id": "1", "day": "2024-05-01"})) == clean
    assert row.accept(None, {"order_id": 1, "day": date(2024, 5, 1), "note": " "}) == clean
    assert errors(row.accept, None, {"order_id": "1", "day": "2024-05-01"}) == {
        "order_id": "must be int, is str",
        "day": "must be date, is str",
    }
    assert errors(row.convert, {"order_id": "x"}) == {
        "order_id": "Enter a number. Or else.",
        "input": "That is no order.",
    }
    assert errors(row.convert, {"order_di": 1})["order_di"].endswith("Did you mean `order_id`?")
    assert row.make_input(clean) == clean


def serializer(**fields: Any) -> Any:
    class FakeSerializer:
        validated_data: Any = None

        def __init__(self, data: Any = None) -> None:
            self.data, self.fields, self.errors = data, fields, {}

        def is_valid(self) -> bool:
            self.validated_data = self.data
            if "order_id" not in self.data:
                self.errors = {"lines": [{"sku": ["Required."]}], "non_field_errors": ["No."]}
            return not self.errors

    return FakeSerializer


def test_what_only_looks_like_a_form() -> None:
    """A class with is_valid() alone is a callable like any other, whose parameters are the fields."""

    class Checked:
        def __init__(self, order_id: int) -> None: ...

        def is_valid(self) -> bool:
            return True

    assert saga(input=Checked).input_names == {"order_id": True}


class empty:  # noqa: N801 - as DRF calls it
    pass


def drf_field(source: str, default: Any = empty, *, required: bool = True, read_only: bool = False) -> Any:
    return SimpleNamespace(source=source, default=default, required=required, read_only=read_only)


def test_a_serializer() -> None:
    """Read-only fields are no input; one without a default may be missing, so its readers need one."""
    declared = serializer(
        order_id=drf_field("order_id"),
        note=drf_field("note", required=False),
        qty=drf_field("qty", 1, required=False),
        created=drf_field("created", read_only=True),
    )
    row = saga(input=declared)
    assert row.input_names == {"order_id": True, "note": False, "qty": False}
    assert row.convert({"order_id": 1}) == row.accept({"order_id": 1}) == {"order_id": 1}
    assert errors(row.convert, {}) == {"lines": "sku: Required.", "input": "No."}
    with pytest.raises(DefinitionError, match="optional in the input"):
        saga(step(name="reader")(lambda note: note), input=declared).seal()
    saga(step(name="reader")(lambda qty, note=None: note), input=declared).seal()


def test_a_serializer_whose_values_come_under_other_names() -> None:
    """`source=` would hide from the steps what the field is called."""
    with pytest.raises(DefinitionError, match="call the field what the steps call it"):
        saga(input=serializer(order=drf_field("order_id"))).seal()
