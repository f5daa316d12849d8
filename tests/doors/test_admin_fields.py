"""Forms built from inputs: each type that can be declared, what is shown of defaults, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NewType
from uuid import UUID

import pytest
from django import forms
from django.db import models
from django.http import QueryDict

from saga_app import Compute, Saga
from saga_app.admin.inputs import input_form, values_of
from saga_app.core import registry
from saga_app.core.inputs import Converted
from saga_app.core.sealing import declared_input
from tests.site.models import Tag

AN_ID = UUID("12345678-1234-5678-1234-567812345678")
Sku = NewType("Sku", str)


class Colour(Enum):
    RED = "red"
    GREEN = "green"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Size(models.TextChoices):
    SMALL = "s", "Rather small"
    LARGE = "l", "Rather large"


@dataclass(frozen=True)
class Line:
    sku: str
    price: Decimal


def filled(wanted: Any, **given: Any) -> tuple[forms.BaseForm, Converted | None]:
    """The form for an input with those texts sent."""
    data = QueryDict(mutable=True)
    for name, text in given.items():
        data.setlist(f"value-{name}", text if isinstance(text, list) else [text])
    form = input_form(wanted, data)
    return form, values_of(form, wanted)


def one(declared: Any, text: str, **options: Any) -> Any:
    """What comes of a text sent for a field of that type; its errors where it does not fit."""
    wanted = declared_input("s", make_dataclass("Given", [("it", declared, field(**options))]))
    form, values = filled(wanted, it=text)
    return form.errors.get("it") or form.non_field_errors() if values is None else values["it"]


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        (str, "anna", "anna"),
        (str, " padded ", "padded"),
        (Sku, "A1", "A1"),
        (int, "-7", -7),
        (int, "9" * 30, int("9" * 30)),
        (float, "1.5", 1.5),
        (Decimal, "1.10", Decimal("1.10")),
        (Decimal, "0.1234567890123456789", Decimal("0.1234567890123456789")),
        (Annotated[Decimal, "euros"], "2", Decimal(2)),
        (bool, "true", True),
        (bool, "false", False),
        (date, "2026-02-28", date(2026, 2, 28)),
        (time, "12:30", time(12, 30)),
        (datetime, "2026-02-28T12:30", datetime(2026, 2, 28, 12, 30, tzinfo=UTC)),
        (datetime, "2026-02-28T12:30:01+02:00", datetime(2026, 2, 28, 10, 30, 1, tzinfo=UTC)),
        (timedelta, "90", timedelta(seconds=90)),
        (timedelta, "1:30:00", timedelta(minutes=90)),
        (UUID, str(AN_ID), AN_ID),
        (Literal["a", "b"], "b", "b"),
        (Literal[1, 2], "2", 2),
        (Literal["a", None], "", None),  # noqa: PYI061 - both can be written
        (Colour, "RED", Colour.RED),
        (Level, "HIGH", Level.HIGH),
        (Size, "SMALL", Size.SMALL),
        (int | None, "", None),
        (int | None, "3", 3),
        (str | None, "", None),
        (Colour | None, "", None),
        (bool | None, "", None),
        (Decimal | None, "3.5", Decimal("3.5")),
        (int | str, "7", 7),
        (int | str, '"x"', "x"),
        (list, "[]", []),
        (list[int], "[1, 2]", [1, 2]),
        (list[Decimal], '["1.10"]', [Decimal("1.10")]),
        (tuple[int, ...], "[1, 2]", (1, 2)),
        (set[str], '["a"]', {"a"}),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (dict[str, date], '{"a": "2026-02-28"}', {"a": date(2026, 2, 28)}),
        (Line, '{"sku": "A1", "price": "2.50"}', Line("A1", Decimal("2.50"))),
        (list[Line], '[{"sku": "A1", "price": 2}]', [Line("A1", Decimal(2))]),
        (Any, '{"a": [1, "b", null]}', {"a": [1, "b", None]}),
        (Any, "null", None),
    ],
)
def test_a_value_comes_back_in_its_type(declared: Any, text: str, value: Any) -> None:
    got = one(declared, text)
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (str, ""), (int, ""), (int, "1.5"), (int, "x"), (int, "9" * 5000), (float, "nan"), (float, "inf"),
        (Decimal, "NaN"), (Decimal, "1,5x"), (bool, ""), (bool, "maybe"), (date, "2026-02-30"), (datetime, "soon"),
        (time, "25:00"),
        (timedelta, "long"), (UUID, "x"), (Literal["a"], "b"), (Literal["a"], ""), (Colour, "blue"), (Colour, ""),
        (list, ""), (list, "{"), (list, "{}"), (list[int], '["x"]'), (dict[str, int], "[]"), (dict, "[" * 100_000),
        (Line, '{"sku": 1}'), (Line, '{"sku": "A1"}'), (Line, '{"sku": "A1", "price": 1, "x": 1}'),
        (bytes, '"x"'), (Any, ""), (Any, "text"),
        (list[float], "[NaN]"), (str, "a\x00b"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_at_its_field(declared: Any, text: str) -> None:
    """And never an error page."""
    wanted = declared_input("s", make_dataclass("Given", [("it", declared), ("other", str)]))
    form, values = filled(wanted, it=text, other="stays")
    assert values is None
    assert list(form.errors) == ["it"]
    assert form["other"].value() == "stays"
    assert form["it"].value() == text


@pytest.mark.parametrize(
    ("declared", "default", "shown"),
    [
        (str, "anna", "anna"),
        (int, 7, "7"),
        (int, 0, "0"),
        (float, 1.5, "1.5"),
        (Decimal, Decimal("1.10"), "1.10"),
        (bool, False, "false"),
        (bool, True, "true"),
        (date, date(2026, 2, 28), "2026-02-28"),
        (datetime, datetime(2026, 2, 28, 12, 30, tzinfo=UTC), "2026-02-28T12:30:00"),
        (timedelta, timedelta(minutes=90), "01:30:00"),
        (Colour, Colour.GREEN, "GREEN"),
        (Literal["a", "b"], "b", "b"),
        (int | None, 3, "3"),
        (list[int], [1], "[1]"),
        (dict, {"ä": 1}, '{"ä": 1}'),
        (str, "", None),
        (int | None, None, None),
        (int, None, None),
        (float, float("inf"), None),
        (tuple[int, ...], (1,), None),
        (Line, Line("A", Decimal(1)), None),
        (datetime, datetime(2026, 2, 28, 12, 30, 0, 5, tzinfo=UTC), None),
        (datetime, datetime(2026, 2, 28), None),  # noqa: DTZ001
        (str, " padded ", None),
    ],
)
def test_a_default_is_shown_where_it_reads_back_as_itself(declared: Any, default: Any, shown: str | None) -> None:
    """What is shown is what is given; what cannot be shown is left to the saga. Sent as it came, it is the default."""
    made = {"default_factory": lambda: default} if isinstance(default, list | dict) else {"default": default}
    wanted = declared_input("s", make_dataclass("Given", [("it", declared, field(**made))]))
    form = input_form(wanted)
    assert form["it"].initial == shown
    _, values = filled(wanted, it=shown or "")
    assert values is not None
    assert (values["it"], type(values["it"])) == (default, type(default))


def test_what_was_shown_can_be_cleared() -> None:
    assert one(str, "", default="anna") == ""
    assert one(int | None, "", default=3) is None
    assert one(str | None, "", default="anna") is None
    assert "required" in str(one(int, "", default=3))


def test_a_default_is_made_anew_for_each_form() -> None:
    made: list[int] = []

    def factory() -> int:
        made.append(len(made))
        return made[-1]

    wanted = declared_input("s", make_dataclass("Given", [("it", int, field(default_factory=factory))]))
    assert [input_form(wanted)["it"].initial for _ in range(2)] == ["0", "1"]


def test_a_choice_is_made_by_hand() -> None:
    """Nothing is chosen beforehand: whoever sends the form has answered."""
    wanted = declared_input("s", make_dataclass("Given", [("it", Colour)]))
    assert '<option value="" selected>–</option>' in str(input_form(wanted)["it"])


def test_labels_of_djangos_own_enumerations() -> None:
    wanted = declared_input("s", make_dataclass("Given", [("it", Size)]))
    assert "Rather small" in str(input_form(wanted)["it"])


@pytest.mark.django_db
def test_a_row_is_named_by_its_primary_key() -> None:
    tag = Tag.objects.create(name="x")
    assert one(Tag, str(tag.pk)) == tag
    assert "errorlist" in str(one(Tag, "999999"))
    assert "errorlist" in str(one(Tag, "x"))


def test_a_check_of_the_whole_is_said_above_all() -> None:
    @dataclass
    class Range:
        low: int
        high: int

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise ValueError("low is above high")

    form, values = filled(declared_input("s", Range), low="2", high="1")
    assert (values, list(form.non_field_errors())) == (None, ["low is above high"])


def test_the_parameters_of_a_callable() -> None:
    def wanted(sku: str, qty: int = 1, tags: list[str] | None = None) -> dict[str, Any]:
        if qty > 9:
            raise ValueError("too many")
        return {"sku": sku.upper()}

    found = declared_input("s", wanted)
    _, values = filled(found, sku="a1", qty="2", tags="")
    assert values == {"sku": "A1", "qty": 2, "tags": None}
    form, values = filled(found, sku="a1", qty="10", tags="")
    assert (values, list(form.non_field_errors())) == (None, ["too many"])


def test_what_nobody_declares_is_asked_for_as_json() -> None:
    with registry.isolate():
        saga = Saga("s", Compute("x", lambda what, how=3: what))
        _, values = filled(saga.accepts, what='"7"', how="")
        assert values == {"what": "7"}
        _, values = filled(saga.accepts, what="7", how="[1]")
        assert values == {"what": 7, "how": [1]}
