"""Converting: text and JSON from the doors become what is declared, or a ValueError a person understands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NewType
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app.core.checking import mismatch
from saga_app.core.converting import converted, field_hints

OrderId = NewType("OrderId", int)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1


@dataclass
class Line:
    sku: str
    qty: int = 1


@dataclass
class Strict:
    parent: Strict | None
    lines: list[Line]
    nowhere: Nowhere = None  # type: ignore[name-defined]  # noqa: F821

    def __post_init__(self) -> None:
        if self.parent is self.lines:
            raise TypeError
        if not self.lines:
            raise TypeError("no lines")


@pytest.mark.parametrize(
    ("declared", "raw", "value"),
    [
        (str, "a", "a"), (int, "5", 5), (int, " -5 ", -5), (int, 5, 5), (int, 5.0, 5), (float, "1.5", 1.5),
        (float, 2, 2.0), (float, 1.5, 1.5), (bool, "true", True), (bool, "Off", False), (bool, 1, True),
        (bool, False, False), (Decimal, "9.50", Decimal("9.50")), (Decimal, 0.1, Decimal("0.1")),
        (Decimal, 3, Decimal(3)), (date, "2024-05-01", date(2024, 5, 1)), (time, "12:30", time(12, 30)),
        (datetime, "2024-05-01T12:00:00+00:00", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        (timedelta, "90", timedelta(seconds=90)), (timedelta, 0.5, timedelta(milliseconds=500)),
        (Decimal, Decimal("1.10"), Decimal("1.10")), (int, Level.LOW, Level.LOW),
        (UUID, str(UUID(int=7)), UUID(int=7)), (UUID, UUID(int=7), UUID(int=7)),
        (Color, "red", Color.RED), (Color, "BLUE", Color.BLUE), (Color, Color.RED, Color.RED), (Level, "1", Level.LOW),
        (Line, {"sku": "A", "qty": "2"}, Line("A", 2)), (Line, '{"sku": "A"}', Line("A")), (Line, Line("B"), Line("B")),
        (int | None, "", None), (int | None, "5", 5), (int | None, None, None), (str | None, "", ""),
        (str | None, None, None), (int | str, "a", "a"), (int | str, 5, 5), (float | int, 5, 5), (None, "", None),
        (list[int], ["1", 2], [1, 2]), (list[int], "[1, 2]", [1, 2]), (list, [1], [1]), (Sequence[int], ["1"], [1]),
        (tuple[int, str], ["1", "a"], (1, "a")), (tuple[int, ...], ["1", "2"], (1, 2)), (set[int], ["1"], {1}),
        (frozenset[str], ["a"], frozenset("a")), (dict[str, int], {"a": "1"}, {"a": 1}), (dict, '{"a": 1}', {"a": 1}),
        (Mapping[int, list[Line]], {"1": [{"sku": "A"}]}, {1: [Line("A")]}), (Literal["a", 1], "1", 1),
        (Literal["a", 1], "b", "b"), (Annotated[int, "x"], "5", 5), (OrderId, "5", 5), (Any, "5", "5"),
        (bytes, "5", "5"), ("Nowhere", "5", "5"), (object, "5", "5"),
    ],
)  # fmt: skip
def test_what_is_read(declared: Any, raw: Any, value: Any) -> None:
    """Text and JSON become the declared type; what is not known stays as it came."""
    found = converted(declared, raw)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("declared", "raw", "said"),
    [
        (str, 5, "must be text, is 5"),
        (int, "x", "must be a whole number, is 'x'"),
        (int, 1.5, "must be a whole number, is 1.5"),
        (int, True, "must be a whole number, is True"),
        (int, None, "must be a whole number, is None"),
        (float, math.nan, "must be a number, is nan"),
        (Decimal, Decimal("NaN"), "must be a decimal number, is Decimal"),
        (float, "nan", "must be a number, is 'nan'"),
        (float, True, "must be a number, is True"),
        (float, 10**400, "must be a number, is 1"),
        (Decimal, "Infinity", "must be a decimal number, is 'Infinity'"),
        (Decimal, "x", "must be a decimal number, is 'x'"),
        (Decimal, True, "must be a decimal number, is True"),
        (bool, "maybe", "must be true or false, is 'maybe'"),
        (bool, None, "must be true or false, is None"),
        (date, "1.5.2024", "must be a date, as in 2024-05-01, is '1.5.2024'"),
        (datetime, 5, "must be a date and time, as in 2024-05-01T12:00:00+00:00, is 5"),
        (timedelta, "1e30", "must be a number of seconds, is '1e30'"),
        (UUID, "x", "must be a UUID, is 'x'"),
        (Color, "green", "must be one of red, blue, is 'green'"),
        (None, "x", "must be empty"),
        (int | None, "x", "must be a whole number, is 'x'"),
        (int | bool, "x", "must be a whole number, is 'x'; or must be true or false, is 'x'"),
        (list[int], [1, "x"], "[1]: must be a whole number, is 'x'"),
        (list[int], "1", "must be a JSON list, is 1"),
        (list[int], "[", "must be a JSON list, is '['"),
        (list[int], {"a": 1}, "must be a JSON list, is {'a': 1}"),
        (tuple[int, str], ["1"], "must have 2 elements, has 1"),
        (dict[str, int], {"a": "x"}, "['a']: must be a whole number, is 'x'"),
        (dict[int, int], {"a": 1}, "key 'a': must be a whole number, is 'a'"),
        (dict, [1], "must be a JSON object, is [1]"),
        (Line, {"sku": "A", "qyt": 1}, "Line has no `qyt`"),
        (Line, {}, ".sku: is missing"),
        (Line, {"sku": 1}, ".sku: must be text, is 1"),
        (Line, "A", "must be a JSON object, is 'A'"),
        (Strict, {"parent": None, "lines": []}, "no lines"),
        (Strict, {"parent": {"parent": None, "lines": [{}]}, "lines": []}, ".parent: .lines: [0]: .sku: is missing"),
    ],
)
def test_what_is_refused(declared: Any, raw: Any, said: str) -> None:
    """The text says where, what it must be, and what it is, cut to a readable length."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared below
        converted(declared, raw)
    assert str(caught.value).startswith(said)
    assert len(str(caught.value)) < 300


SCALARS = {
    int: st.integers(), float: st.floats(allow_nan=False, allow_infinity=False), bool: st.booleans(), str: st.text(),
    Decimal: st.decimals(allow_nan=False, allow_infinity=False), UUID: st.uuids(), date: st.dates(),
    datetime: st.datetimes(timezones=st.none() | st.just(UTC)), time: st.times(), Color: st.sampled_from(Color),
}  # fmt: skip


@given(st.sampled_from(list(SCALARS)).flatmap(lambda kind: st.tuples(st.just(kind), SCALARS[kind])))
def test_a_value_survives_its_own_text(pair: tuple[type, Any]) -> None:
    """Written as text in the usual way and converted, every scalar comes back; and it then fits its type."""
    kind, value = pair
    text = (
        value.value if isinstance(value, Color) else value.isoformat() if isinstance(value, date | time) else str(value)
    )
    assert converted(kind, text) == value
    assert mismatch(kind, converted(kind, text)) == ""


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda each: st.lists(each) | st.dictionaries(st.text(), each),
    )
)
def test_nothing_but_a_value_error(raw: Any) -> None:
    """Whatever JSON comes in, each declared type gives a value or a ValueError."""
    for declared in (
        *SCALARS,
        timedelta,
        list[int],
        dict[str, Line],
        int | None,
        tuple[int, str],
        set[int],
        Literal["a"],
    ):
        with suppress(ValueError):
            converted(declared, raw)


def test_field_hints() -> None:
    """Fields are resolved one by one; inherited ones count; one that cannot be resolved is left out."""

    @dataclass
    class Sub(Strict):
        more: int = 0

    assert field_hints(Sub) == {"parent": Strict | None, "lines": list[Line], "more": int}
