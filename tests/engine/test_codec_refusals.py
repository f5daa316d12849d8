"""What cannot come back equal is refused, with the place and the reason."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, make_dataclass
from datetime import datetime, time, tzinfo
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from tempfile import NamedTemporaryFile, TemporaryFile
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from django.core.files.base import ContentFile
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy

from saga_app import codec
from saga_app.core.errors import UnsupportedValue
from tests.engine import codec_values as values
from tests.engine.codec_values import Cart, Point
from tests.site.models import Order


def back(value: object) -> object:
    return codec.decode(codec.encode(value))


def refusal(value: object, path: str = "") -> UnsupportedValue:
    with pytest.raises(UnsupportedValue) as caught:
        codec.encode(value, path=path)
    return caught.value


class Zone(tzinfo):
    pass


class Sub(str):
    __slots__ = ()


class Reprless:
    def __repr__(self) -> str:
        raise RuntimeError

    __str__ = __repr__


@dataclass
class Fault(Exception):
    code: int = 1


class Alias(Enum):
    A = 1


Hidden = make_dataclass("Elsewhere", ["x"])


Alias_A = Alias.A


Alias = None  # type: ignore[assignment, misc]  # a later definition took its name


def with_attribute() -> Point:
    point = Cart([])
    point.extra = 1  # type: ignore[attr-defined]
    return point  # type: ignore[return-value]


def local_class() -> object:
    @dataclass
    class Local:
        x: int = 1

    return Local()


async def never() -> AsyncIterator[int]:
    yield 1


async def work() -> int:
    return 1


REFUSED = {
    "NaN": (lambda: float("nan"), "nan"),
    "infinity": (lambda: float("-inf"), "-inf"),
    "decimal NaN": (lambda: Decimal("NaN"), "NaN"),
    "decimal sNaN": (lambda: Decimal("sNaN"), "sNaN"),
    "decimal infinity": (lambda: Decimal("Infinity"), "Infinity"),
    "lambda": (lambda: lambda: 1, "function"),
    "method": (lambda: [].append, "function"),
    "class": (lambda: Point, "class"),
    "module": (lambda: sys, "module"),
    "generator": (lambda: (i for i in []), "generator"),
    "async generator": (never, "generator"),
    "iterator": (lambda: iter([]), "iterator"),
    "coroutine": (work, "coroutine"),
    "file": (TemporaryFile, "file"),
    "named file": (NamedTemporaryFile, "TemporaryFile"),
    "file in memory": (io.BytesIO, "file"),
    "Django file": (lambda: ContentFile(b""), "file"),
    "lock": (threading.Lock, "lock"),
    "event": (asyncio.Event, "Event"),
    "object": (object, "object"),
    "no repr": (Reprless, "Reprless"),
    "exception": (lambda: ValueError("x"), "exception"),
    "dataclass exception": (Fault, "Fault"),
    "queryset": (Order.objects.all, "queryset"),
    "manager": (lambda: Order.objects, "manager"),
    "lazy text": (lambda: gettext_lazy("Hello"), "lazy"),
    "lazy object": (lambda: SimpleLazyObject(lambda: "text"), "SimpleLazyObject"),
    "safe text": (lambda: mark_safe("<b>"), "SafeString"),
    "subclass of str": (lambda: Sub("x"), "subclass of str"),
    "defaultdict": (lambda: defaultdict(list), "subclass of dict"),
    "OrderedDict": (OrderedDict, "subclass of dict"),
    "Counter": (Counter, "subclass of dict"),
    "deque": (deque, "deque"),
    "bytearray": (bytearray, "bytes()"),
    "memoryview": (lambda: memoryview(b""), "bytes()"),
    "complex": (lambda: 1j, "complex"),
    "Fraction": (lambda: Fraction(1, 3), "Fraction"),
    "own zone": (lambda: datetime(2024, 1, 1, tzinfo=Zone()), "Zone"),
    "own zone of time": (lambda: time(1, tzinfo=Zone()), "Zone"),
    "zone": (lambda: ZoneInfo("UTC"), "ZoneInfo"),
    "local dataclass": (local_class, "inside a function"),
    "lost class": (lambda: Alias_A, "names something else"),
    "misnamed class": (lambda: Hidden(1), "cannot be imported"),
    "struct sequence": (lambda: sys.version_info, "subclass of tuple"),
    "attribute beside the fields": (with_attribute, "extra"),
    "unsaved row": (lambda: Order(sku="unsaved"), "not saved"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_come_back_is_refused(name: str) -> None:
    """The error says where it stands and what it is; no value's own text is asked for. Case C32, Hazard R25."""
    make, says = REFUSED[name]
    value = make()
    error = refusal([{"x": value}], path="deep")
    assert error.path == "deep[0].x"
    assert says in error.reason
    assert str(error).startswith("deep[0].x: ")
    if hasattr(value, "close"):
        value.close()


@pytest.mark.parametrize(
    ("wrap", "path"),
    [
        (lambda bad: {"deep": [{"x": bad}]}, "deep[0].x"),
        (lambda bad: (1, bad), "[1]"),
        (lambda bad: {1: {"two words": bad}}, "[1]['two words']"),
        (lambda bad: {UUID(int=1): bad}, "[UUID]"),
        (lambda bad: {"\x00": bad}, "['\\x00']"),
        (lambda bad: {"k" * 5000: bad}, f"['{'k' * 40}\\u2026']"),
        (lambda bad: Cart(lines=[bad]), "lines[0]"),
        (lambda bad: Point(Point(0, bad)), "x.y"),
        (values.Place, "row"),
        (lambda bad: bad, ""),
    ],
)
def test_the_path_leads_to_the_value(wrap: object, path: str) -> None:
    """However it is wrapped, the path names the way there, and stays short. Case C32."""
    assert refusal(wrap(object())).path == path  # type: ignore[operator]


def test_cycles() -> None:
    """A value that contains itself is refused, and one that is used twice is not. Case C32."""
    loop: list[object] = []
    loop.append(loop)
    assert "refers back" in refusal(loop, path="deep").reason
    around: dict[str, object] = {}
    around["a"] = (1, around)
    assert refusal(around).path == "a[1]"
    shared = [1]
    assert back([shared, shared]) == [[1], [1]]


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: {"a": x}, lambda x: (x,), lambda x: {(1,): x}, Point])
def test_depth(wrap: object) -> None:
    """A hundred levels come back; five thousand are refused, and never by a RecursionError. Case C35."""
    value: object = 1
    for _ in range(100):
        value = wrap(value)  # type: ignore[operator]
    assert back(value) == value
    for _ in range(4_900):
        value = wrap(value)  # type: ignore[operator]
    error = refusal(value, path="v")
    assert "100 levels" in error.reason
    assert len(str(error)) < 500
