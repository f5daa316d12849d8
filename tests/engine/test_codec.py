"""What is stored comes back equal and of the same type, up to a size."""

from __future__ import annotations

import json
import tracemalloc
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given

from saga_app import codec
from saga_app.core.errors import UnsupportedValue
from tests.engine import codec_values as values
from tests.engine.codec_values import Cart, Parcel, Point, alike

MB = 1024 * 1024


def back(value: object) -> object:
    return codec.decode(codec.encode(value))


def refusal(value: object, path: str = "") -> UnsupportedValue:
    with pytest.raises(UnsupportedValue) as caught:
        codec.encode(value, path=path)
    return caught.value


@given(values.VALUES)
def test_every_value_comes_back(value: object) -> None:
    """P10: equal and of the same type, all the way down, in text that every database takes. Case C04, Case C34."""
    text = codec.encode(value)
    assert text.isascii()
    assert "\0" not in text
    assert alike(codec.decode(text), value)


def test_money_dates_and_ids() -> None:
    """The values of a shop: an amount keeps its digits, a moment its zone. Case C04, Hazard B18, Hazard B19."""
    value = {
        "p": Decimal("19.9900"),
        "big": Decimal("12345678901234567890.12"),
        "t": datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=UTC),
        "naive": datetime(2024, 1, 1),  # noqa: DTZ001 - a naive one is what is stored
        "d": date(2024, 1, 1),
        "td": timedelta(days=-1, microseconds=1),
        "u": UUID(int=7),
        "n": None,
        "": 0,
        "f": 1.0,
        "b": True,
        "list": [0, False, "", [], {}],
    }
    assert alike(back(value), value)


@pytest.mark.parametrize(
    "bad", ["a\x00b", "\x00", "x" * 9_000 + "\x00", "\ud800", "\udfff\ud800", "\ud83d" + "\ude00", "😀"]
)
def test_hostile_text(bad: str) -> None:
    """NUL, lone surrogates and two surrogates that are not one character survive, as values and as keys. Case C34."""
    for value in [bad, {"k" + bad: [bad]}, {bad: {bad}}, {(bad,): bad, bad: 1}, Point(bad)]:
        assert alike(back(value), value)


@pytest.mark.parametrize("fold", [0, 1])
@pytest.mark.parametrize("wall", [datetime(2024, 10, 27, 2, 30), datetime(2024, 3, 31, 2, 30), datetime.min])  # noqa: DTZ001, DTZ901
def test_moments_that_occur_twice_or_never(wall: datetime, fold: int) -> None:
    """A clock change loses nothing: wall time, zone and fold come back. Case C04."""
    value = wall.replace(tzinfo=ZoneInfo("Europe/Berlin"), fold=fold)
    found = back(value)
    assert alike(found, value)
    assert isinstance(found, datetime)
    assert found.tzinfo is value.tzinfo


def test_the_order_of_keys_is_kept() -> None:
    """A dict comes back in its order, even with keys of several types that would be one in JSON."""
    value = {"b": 1, "a": 2, 1: "one", "1": "text", None: 0, 2.5: 3}
    assert list(back(value)) == list(value)  # type: ignore[call-overload]


def test_a_dict_like_our_marks() -> None:
    """Nothing that a user writes is taken for a mark of the stored form. Hazard R25."""
    for value in [
        {"$decimal": "1"},
        {"$dict": []},
        {"$": 1},
        {"$model": ["site.Order", "default", 1]},
        {"__proto__": 1},
    ]:
        assert alike(back(value), value)


def test_dataclasses_are_not_initialised_again() -> None:
    """A value is judged and completed once: __init__ and __post_init__ do not run when it is read. P10."""
    parcel = Parcel(5, kilos=2)
    made = Parcel.made
    found = back(parcel)
    assert alike(found, parcel)
    assert found.grams == 2005  # type: ignore[attr-defined]
    assert Parcel.made == made


def test_a_cached_property_is_no_loss() -> None:
    """What a class can work out again need not be stored."""
    cart = Cart([1, 2])
    assert cart.count == 2
    assert alike(back(cart), cart)


def test_sets_are_stored_in_one_order() -> None:
    """The text does not depend on the order in which a process happens to iterate a set."""
    names = [f"name-{number}" for number in range(50)]
    others = dict.fromkeys([f"other-{number}" for number in range(500)])
    grown = set(names) | others.keys()  # the same members at other places of a larger table
    grown -= others.keys()
    assert list(grown) != list(set(names))
    assert codec.encode(grown) == codec.encode(set(names))


@pytest.mark.parametrize(
    "make",
    [
        lambda: "x" * 30 * MB,
        lambda: b"x" * 30 * MB,
        lambda: 1 << 8 * 30 * MB,
        lambda: {"x" * 30 * MB: 1},
        lambda: {("x" * 30 * MB,): 1},
        lambda: ["x" * 1000] * 1_000_000,
        lambda: list(range(3_000_000)),
        lambda: {"a": ["x" * 600_000, "y" * 600_000]},
    ],
)
def test_far_too_much(make: object) -> None:
    """The error has size and limit but no copy of the data, and no copy was made to find out. Case C35."""
    value = make()  # type: ignore[operator]
    tracemalloc.start()
    try:
        error = refusal(value, path="v")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "1,048,576" in error.reason
    assert len(str(error)) < 500
    assert peak < 25 * MB


def test_what_is_too_large_is_named() -> None:
    """One value that is too large by itself is named; when only all of them are, the whole is. Case C35."""
    assert refusal({"a": ["x", "y" * 2 * MB]}).path == "a[1]"
    assert refusal({"a": ["x" * 600_000, "y" * 600_000]}, path="v").path == "v"


def test_the_limit_is_exact(settings: object) -> None:
    """What fits to the byte is stored, one byte more is refused. Case C35."""
    simple: list[object] = ["x" * 100, b"abcd", 1 << 4000, Decimal(1), UUID(int=1), timedelta(0), None, 7, -0.0, []]
    for value in [*simple, {"a": 1}, ["x" * 50, 1, None, {}], {"a": Point(1, "y")}, {1, 2}, [[]], {1: ()}]:
        size = len(codec.encode(value))
        settings.SAGA = {"MAX_VALUE_BYTES": size}  # type: ignore[attr-defined]
        assert back(value) == value
        settings.SAGA = {"MAX_VALUE_BYTES": size - 1}  # type: ignore[attr-defined]
        assert f"{size - 1:,}" in refusal(value).reason
        settings.SAGA = {}  # type: ignore[attr-defined]


def test_the_text_is_json() -> None:
    """Any tool can read what is stored; a mark says what JSON cannot."""
    assert json.loads(codec.encode({"a": Decimal("1.10"), "b": [1]})) == {"a": {"$decimal": "1.10"}, "b": [1]}
