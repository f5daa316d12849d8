"""What stored texts are good for without their values: shown, compared, encrypted."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app import codec
from saga_app.core.errors import Undecodable
from tests.engine import codec_values as values
from tests.engine.codec_values import Cart, Pair, Point, Rights
from tests.site.models import Color, Order

MARKS = ["$dict", "$tuple", "$set", "$enum", "$dataclass", "$namedtuple", "$model", "$decimal", "$datetime", "$x"]


DAMAGED = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.sampled_from(["site.Order", "tests.site.models:Color"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(MARKS), inner, max_size=1)
        | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=10,
)


def order(pk: int) -> Order:
    row = Order(pk=pk)
    row._state.adding = False
    row._state.db = "default"
    return row


def test_what_a_person_sees() -> None:
    """Marks are shown as what they mean; a model reference is named, and no row is read."""
    shown = codec.plain(
        codec.encode(
            {
                "amount": Decimal("19.90"),
                "at": datetime(2024, 2, 29, 12, tzinfo=UTC),
                "wait": timedelta(hours=1),
                "id": UUID(int=7),
                "raw": b"ab",
                "pair": (1, {2}),
                "color": Color.RED,
                "rights": Rights.READ | Rights.RUN,
                "point": Point(1, Pair(2, 3)),
                "order": order(5),
                "by number": {1: "one"},
                "both": {1: "one", "1": "text"},
                "mark": {"$x": 1},
                "text": "a\x00\ud800\x1b[31m",
                "float": -0.0,
            }
        )
    )
    assert shown == {
        "amount": "19.90",
        "at": "2024-02-29T12:00:00+00:00",
        "wait": "1:00:00",
        "id": "00000000-0000-0000-0000-000000000007",
        "raw": "2 bytes: 6162",
        "pair": [1, [2]],
        "color": "Color.RED",
        "rights": "Rights.READ|RUN",
        "point": {"x": 1, "y": {"left": 2, "right": 3}},
        "order": "site.Order 5",
        "by number": {"1": "one"},
        "both": [[1, "one"], ["1", "text"]],
        "mark": {"$x": 1},
        "text": "a\\x00\\ud800\\x1b[31m",
        "float": -0.0,
    }


@given(values.VALUES)
def test_every_value_can_be_shown(value: object) -> None:
    """What is shown is plain JSON that any page can send."""
    text = codec.encode(value)
    json.dumps(codec.plain(text), ensure_ascii=False, allow_nan=False).encode()
    json.dumps(codec.plain(text, limit=20), ensure_ascii=False, allow_nan=False).encode()


@given(st.none() | st.text() | DAMAGED.map(json.dumps), st.none() | st.integers(-5, 50))
def test_showing_never_fails(text: str | None, limit: int | None) -> None:
    """A page about a run opens whatever stands in its row. P11."""
    json.dumps(codec.plain(text, limit=limit), ensure_ascii=False).encode()


LONG = '{"$int":"0x' + "f" * 9000 + '"}'


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "NaN", "encrypted:?", "\x00", LONG])
def test_showing_odd_text(text: str) -> None:
    """Text that is no value is shown as that, in a short sentence or in full."""
    assert codec.plain(text)


@pytest.mark.parametrize("value", ["x" * 900_000, ["x" * 9] * 80_000, {f"k{n}": n for n in range(60_000)}])
def test_showing_a_part(value: object) -> None:
    """A large value is cut, and what was left out is counted. Case C35."""
    shown = json.dumps(codec.plain(codec.encode(value), limit=2_000))
    assert len(shown) < 8_000
    assert "\\u2026" in shown


def paths(a: object, b: object) -> list[str]:
    return codec.differing_paths(codec.encode(a), codec.encode(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"a": 1, "b": {2, 3}}, {"b": {3, 2}, "a": 1}),
        (Decimal("10.0"), Decimal("10.00")),
        (datetime(2024, 1, 1, 12, tzinfo=UTC), datetime(2024, 1, 1, 13, tzinfo=timezone(timedelta(hours=1)))),
        ({1: Decimal(1), 2: "x"}, {2: "x", 1: Decimal("1.0")}),
        (Point([1]), Point([1])),
        (-0.0, 0.0),
    ],
)
def test_equal_inputs(a: object, b: object) -> None:
    """The same key with an equal input is the same start: neither order nor trailing zeros make another."""
    assert codec.same(codec.encode(a), codec.encode(b))
    assert paths(a, b) == []


@pytest.mark.parametrize(
    ("a", "b", "where"),
    [
        ({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "d": 3}, ["b", "c", "d"]),
        ({"lines": [{"sku": "A"}, {"sku": "B"}]}, {"lines": [{"sku": "A"}, {"sku": "C"}]}, ["lines[1].sku"]),
        ({"lines": [1]}, {"lines": [1, 2]}, ["lines"]),
        ({"n": 1}, {"n": 1.0}, ["n"]),
        ({"n": 1}, {"n": True}, ["n"]),
        ({"n": (1,)}, {"n": [1]}, ["n"]),
        ({"n": (1, 2)}, {"n": (1, 3)}, ["n[1]"]),
        (Point(1, 2), Point(1, 3), ["y"]),
        (Point(1), Cart([]), ["value"]),
        ({"n": {1, 2}}, {"n": {1, 3}}, ["n"]),
        ({1: 1}, {1: 2}, ["['1']"]),
        (Color.RED, Color.GREEN, ["value"]),
        (order(1), order(2), ["value"]),
        (Decimal(1), Decimal(2), ["value"]),
        (None, 0, ["value"]),
    ],
)
def test_where_two_inputs_differ(a: object, b: object, where: list[str]) -> None:
    """A conflict of keys names the places, not the values."""
    assert paths(a, b) == paths(b, a) or sorted(paths(a, b)) == sorted(paths(b, a))
    assert paths(a, b) == where
    assert not codec.same(codec.encode(a), codec.encode(b))


@given(values.VALUES, values.VALUES)
def test_a_value_is_the_same_as_itself(a: object, b: object) -> None:
    """same() holds of a value and itself, and is the same question both ways round."""
    first, second = codec.encode(a), codec.encode(b)
    assert codec.same(first, codec.encode(codec.decode(first)))
    assert codec.same(first, second) == codec.same(second, first) == (codec.differing_paths(first, second) == [])


class Rot:
    """No encryption to be proud of, but one that changes the text and gives another one each time."""

    def __init__(self) -> None:
        self.count = 0

    def encrypt(self, text: str) -> str:
        self.count += 1
        return f"{self.count}:{base64.b64encode(text.encode()).decode()}"

    def decrypt(self, text: str) -> str:
        return base64.b64decode(text.partition(":")[2], validate=True).decode()


class Bytes:
    @staticmethod
    def encrypt(text: str) -> bytes:
        return text.encode()


rot = Rot()


def test_encryption(settings: Any) -> None:
    """The hook sees the text alone; rows from before it was set stay readable, rows after it are marked."""
    before = codec.encode({"card": "4711"})
    settings.SAGA = {"ENCRYPTION": f"{__name__}.rot"}
    after, again = codec.encode({"card": "4711"}), codec.encode({"card": "4711"})
    assert "4711" in before
    assert "4711" not in after
    assert after.startswith("encrypted:")
    assert after != again
    assert codec.decode(before) == codec.decode(after) == {"card": "4711"}
    assert codec.same(after, again)
    assert codec.same(before, after)
    assert codec.plain(after) == {"card": "4711"}


def test_encryption_gone_wrong(settings: Any) -> None:
    """No key, a wrong key, a hook that returns bytes: each is said, with the place."""
    settings.SAGA = {"ENCRYPTION": f"{__name__}.rot"}
    text = codec.encode(1)
    with pytest.raises(Undecodable, match="cannot be decrypted"):
        codec.decode(text + "?", path="v")
    settings.SAGA = {}
    with pytest.raises(Undecodable, match=r"^v: is encrypted, and SAGA\['ENCRYPTION'\] is not set"):
        codec.decode(text, path="v")
    assert "encrypted" in codec.plain(text)
    settings.SAGA = {"ENCRYPTION": f"{__name__}.Bytes"}
    with pytest.raises(Exception, match="returned bytes, not str"):
        codec.encode(1)


@pytest.mark.parametrize("live", [Color.RED, Rights.READ | Rights.RUN, Point(1), Pair(1, 2), order(5)])
def test_what_reading_would_touch(live: object) -> None:
    """Text that names a class or a row is told from text that is only read; in doubt it is called live."""
    assert codec.inert(
        codec.encode({"a": [Decimal(1), {2}, b"x", {1: (datetime(2024, 1, 1, tzinfo=UTC),)}, "$enum"[1:]]})
    )
    assert not codec.inert(codec.encode({"deep": [{1: (live,)}]}))
    assert not codec.inert("encrypted:1:e30=")
