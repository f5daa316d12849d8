"""The input: what start() accepts as it is, what the doors convert, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app import Context, DefinitionError, InputError, Saga, Undecodable, step
from saga_app.core import registry


@dataclass
class Line:
    sku: str
    qty: int = 1


@dataclass
class Order:
    order_id: int
    total: Decimal
    lines: list[Line] = field(default_factory=list)
    note: str | None = None
    derived: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if self.order_id in (-1, 0):
            raise ValueError("order ids are positive")


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


GIVEN = {"order_id": 1, "total": Decimal("9.50")}
FULL = {**GIVEN, "lines": [], "note": None}


# A dataclass


def test_a_dataclass_is_taken_apart() -> None:
    """An instance, a mapping and values by name mean the same; defaults are put in; values keep their identity."""
    row = saga(input=Order)
    lines = [Line("A")]
    assert row.accept(Order(**GIVEN)) == row.accept(GIVEN) == row.accept(None, GIVEN) == FULL
    assert row.accept(Order(1, Decimal("9.50"), lines))["lines"] is lines
    assert row.make_input(FULL) == Order(**GIVEN)
    assert row.input_names == {"order_id": True, "total": True, "lines": False, "note": False}


def test_every_field_that_does_not_fit_is_named() -> None:
    """Unknown with the nearest, missing, and ill-typed, all at once."""
    found = errors(saga(input=Order).accept, None, {"order_di": 1, "total": 9.5, "lines": [Line("A"), "B"], "note": 3})
    assert found == {
        "order_di": "is not part of the input. Did you mean `order_id`?",
        "order_id": "is missing",
        "total": "must be Decimal, is float",
        "lines": "[1]: must be Line, is str",
        "note": "must be str or None, is int",
    }


def test_an_ill_typed_instance_is_refused_too() -> None:
    """A dataclass does not check its own types."""
    assert errors(saga(input=Order).accept, Order("1", Decimal(1))) == {"order_id": "must be int, is str"}  # type: ignore[arg-type]


def test_what_the_dataclass_itself_refuses() -> None:
    """Its __post_init__ has the last word."""
    assert errors(saga(input=Order).accept, {**GIVEN, "order_id": -1}) == {"input": "order ids are positive"}


@pytest.mark.parametrize("wrong", [Line("A"), 3, "x", [1], object()])
def test_another_kind_of_input(wrong: Any) -> None:
    """Neither an instance of the dataclass nor a mapping."""
    (said,) = errors(saga(input=Order).accept, wrong).values()
    assert said.startswith(f"must be Order, is {type(wrong).__name__}")


def test_both_an_input_and_values() -> None:
    """Nobody could say which counts."""
    assert "the one or the other" in errors(saga(input=Order).accept, Order(**GIVEN), {"note": "x"})["note"]


def test_an_input_stored_by_older_code() -> None:
    """Fields that are gone are left out; one that was added without a default cannot be made up."""
    row = saga(input=Order)
    assert row.make_input({**FULL, "gone": 1}) == Order(**GIVEN)
    with pytest.raises(Undecodable, match="does not fit Order any more"):
        row.make_input({"order_id": 1})


def test_conversion_by_annotations() -> None:
    """What the doors bring as text or JSON becomes what the fields declare, nested dataclasses included."""
    row = saga(input=Order)
    raw = {"order_id": "1", "total": "9.50", "lines": [{"sku": "A", "qty": "2"}], "note": ""}
    assert row.convert(raw) == {**FULL, "lines": [Line("A", 2)], "note": ""}
    assert errors(row.convert, {"order_id": "x", "lines": [{"qty": 1}], "nte": 1}) == {
        "order_id": "must be a whole number, is 'x'",
        "lines": "[0]: .sku: is missing",
        "nte": "is not part of the input. Did you mean `note`?",
        "total": "is missing",
    }


def test_what_was_converted_is_not_checked_twice() -> None:
    """Hazard A16. The doors hand on what convert() gave; a copy of it, or another saga's, is checked."""
    calls = []

    def fields(order_id: int) -> None:
        calls.append(order_id)

    row = saga(input=fields)
    converted = row.convert({"order_id": "1"})
    assert row.accept(converted) == {"order_id": 1}
    assert calls == [1]
    row.accept(dict(converted))
    assert calls == [1, 1]
    Saga("other", step(name="noop")(lambda: None), input=fields).accept(converted)
    assert calls == [1, 1, 1]


# A callable


def test_a_callable_declares_fields_and_may_refuse() -> None:
    """Its parameters are the fields; a mapping it returns replaces values; what it raises is the error."""

    def fields(order_id: int, note: str = "none", tags: list[str] | None = None) -> dict[str, str]:
        if order_id < 0:
            raise ValueError("order ids are not negative")
        return {"note": note.upper()}

    row = saga(input=fields)
    assert row.input_names == {"order_id": True, "note": False, "tags": False}
    assert row.accept(None, {"order_id": 1}) == {"order_id": 1, "note": "NONE", "tags": None}
    assert row.convert({"order_id": "1", "note": "a"}) == {"order_id": 1, "note": "A", "tags": None}
    assert errors(row.accept, {"order_id": -1}) == {"input": "order ids are not negative"}
    assert errors(row.accept, {"order_id": "1"}) == {"order_id": "must be int, is str"}
    assert row.make_input({"order_id": 1}) == {"order_id": 1}


def test_a_callable_that_returns_something_else() -> None:
    """A mapping of unknown names is a mistake in the saga; anything but a mapping only says that all is well."""
    row = saga(input=lambda order_id: {"other": order_id})
    with pytest.raises(DefinitionError, match="none of its parameters"):
        row.accept({"order_id": 1})
    assert Saga("t", step(name="noop")(lambda: None), input=SimpleNamespace).name == "t"
    assert saga(input=lambda order_id: object()).accept({"order_id": 1}) == {"order_id": 1}


async def afields(order_id: int) -> None: ...


def stars(**fields: int) -> None: ...


@pytest.mark.parametrize(
    ("wrong", "cure"), [(3, "write a dataclass"), (afields, "write a plain function"), (stars, "write each one out")]
)
def test_no_input_at_all(wrong: Any, cure: str) -> None:
    """What declares no fields is refused when the saga is sealed."""
    with pytest.raises(DefinitionError) as caught:
        saga(input=wrong).seal()
    assert cure in str(caught.value)


# None: what nobody else fills


@step
def charge(card: str, total: Decimal, ctx: Context, note: str = "") -> str:
    return card


@step
def invoice(charge: str, total: Decimal, day: date | None = None) -> int:
    return 1


def test_the_parameters_are_the_fields() -> None:
    """Types are asked by the steps that read them; what no step requires may be left out."""
    row = saga(charge, invoice)
    values = {"card": "visa", "total": Decimal(1)}
    assert row.input_names == {"card": True, "total": True, "note": False, "day": False}
    assert row.accept(None, values) == values
    assert row.accept(values) == values
    assert row.convert({"card": "visa", "total": "1", "day": "2024-05-01"}) == {**values, "day": date(2024, 5, 1)}
    assert errors(row.accept, None, {"card": 5, "total": "1", "zzz": "x"}) == {
        "zzz": "is not part of the input. There is `card`, `day`, `note`, `total`.",
        "card": "must be str, is int (asked by step `charge`)",
        "total": "must be Decimal, is str (asked by step `charge`)",
    }
    assert errors(row.accept, 5)["input"].startswith("must be a mapping, is int")


def test_two_steps_that_disagree() -> None:
    """A value has to fit every step that reads it; the one it does not fit is named."""
    one = step(name="one")(lambda x: x)
    row = saga(one, step(name="two")(takes_int))
    assert errors(row.accept, None, {"x": "a"}) == {"x": "must be int, is str (asked by step `two`)"}


def takes_int(x: int) -> None: ...


@given(st.dictionaries(st.text(max_size=8), st.none() | st.integers() | st.text(max_size=3), max_size=5))
def test_any_mapping_is_accepted_or_refused_by_name(values: dict[str, Any]) -> None:
    """Never anything but an InputError that names the fields; what is accepted has every required name."""
    row = Saga("s", step(name="noop")(lambda: None), input=Order)
    for call in (row.accept, row.convert):
        with suppress(InputError):
            assert {"order_id", "total"} <= call(values).keys()


def test_who_asks_for_what_is_missing() -> None:
    """Without `input=` the fields are parameters of steps: the error says of which."""

    @step
    def ship(address: str) -> None: ...

    @step
    def bill(address: str) -> None: ...

    with registry.isolate():
        row = Saga("s", ship, bill)
    assert errors(row.accept, None, {}) == {"address": "is missing (asked by step `ship`, step `bill`)"}
