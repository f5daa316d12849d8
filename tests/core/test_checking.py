"""Checking: a value fits the declared type or not; nothing is coerced, and what is not understood fits."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NewType, Protocol, TypeVar
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_app.core.checking import mismatch

OrderId = NewType("OrderId", int)
T = TypeVar("T")
OPTIONAL, UNION = typing.Optional[int], typing.Union[int, str]  # noqa: UP007, UP045 - both spellings are in use


class Color(Enum):
    RED = "red"


class Payer(Protocol):
    def pay(self) -> None: ...


@dataclass
class Line:
    sku: str


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        (int, 1), (float, 1.5), (float, 1), (complex, 1), (bool, True), (str, ""), (bytes, b""), (None, None),
        (Decimal, Decimal(1)), (datetime, datetime.now(UTC)), (date, date.max), (timedelta, timedelta()),
        (UUID, UUID(int=1)), (Color, Color.RED), (Line, Line("A")), (OrderId, 3), (Any, object()), (object, 1),
        (T, 3), (Payer, 3), ("Nowhere", 3), (list, [1]), (int | None, None), (OPTIONAL, 3),
        (UNION, "a"), (list[int], []), (list[int], [1, 2]), (list[int | None], [1, None]),
        (tuple[int, str], (1, "a")), (tuple[int, ...], (1, 2, 3)), (tuple[int, ...], ()), (tuple[()], ()),
        (set[int], {1}),
        (frozenset[str], frozenset("a")), (dict[str, int], {"a": 1}), (Mapping[str, list[int]], {"a": [1]}),
        (Sequence[int], (1, 2)), (Sequence[str], "abc"), (Literal["a", 1], "a"), (Literal["a", 1], 1),
        (Annotated[int, "positive"], 3), (type[int], int), (dict[str, Any], {"a": object()}),
    ],
)  # fmt: skip
def test_what_fits(declared: Any, value: Any) -> None:
    """A type checker would let it pass too, or does not know better."""
    assert mismatch(declared, value) == ""


@pytest.mark.parametrize(
    ("declared", "value", "said"),
    [
        (int, True, "must be int, is bool"),
        (float, False, "must be float, is bool"),
        (int, 1.0, "must be int, is float"),
        (complex, "1", "must be complex, is str"),
        (str, 1, "must be str, is int"),
        (bool, 1, "must be bool, is int"),
        (Decimal, 1.5, "must be Decimal, is float"),
        (UUID, str(UUID(int=1)), "must be UUID, is str"),
        (datetime, date.max, "must be datetime, is date"),
        (None, 0, "must be None, is int"),
        (Color, "red", "must be Color, is str"),
        (Line, {"sku": "A"}, "must be Line, is dict"),
        (OrderId, "3", "must be int, is str"),
        (int | None, "3", "must be int or None, is str"),
        (list[int], (1,), "must be list, is tuple"),
        (list[int], [1, "a"], "[1]: must be int, is str"),
        (list[Line], "A", "must be list, is str"),
        (dict[str, list[int]], {"a": [1, "b"]}, "['a'][1]: must be int, is str"),
        (dict[str, int], {1: 1}, "key 1: must be str, is int"),
        (tuple[int, str], (1,), "must have 2 elements, has 1"),
        (list[tuple[int, str]], [(1, 2)], "[0][1]: must be str, is int"),
        (set[int], {"a"}, "[0]: must be int, is str"),
        (Literal["a", 1], "b", "must be one of 'a', 1, is 'b'"),
        (Literal[1], True, "must be one of 1, is True"),
        (Annotated[int, "positive"], "3", "must be int, is str"),
    ],
)
def test_what_does_not(declared: Any, value: Any, said: str) -> None:
    """The text says where, what it must be and what it is."""
    assert mismatch(declared, value) == said


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda each: st.lists(each) | st.dictionaries(st.text(), each),
    )
)
def test_it_never_fails(value: Any) -> None:
    """Whatever the value, each declared type gives a text."""
    for declared in (int, list[int], dict[str, list[str]], int | None, Literal["a"], Line, Payer, tuple[int, ...]):
        assert isinstance(mismatch(declared, value), str)
