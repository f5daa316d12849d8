"""Values of every kind that can be stored: the classes that a user would write, and strategies that make them."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from dataclasses import InitVar, dataclass, field
from datetime import UTC, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum
from functools import cached_property
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db import models
from django.db.models import TextChoices
from hypothesis import strategies as st

from tests.site.models import Color, Order


class Size(IntEnum):
    SMALL = 1
    LARGE = 2
    BIG = 2  # another name for LARGE


class Mood(StrEnum):
    CALM = "calm"


class Carrier(TextChoices):
    POST = "post", "By post"


class Rights(Flag):
    READ = 1
    WRITE = 2
    RUN = 4


class Bits(IntFlag):
    LOW = 1
    HIGH = 128


@dataclass(frozen=True)
class Point:
    x: Any
    y: Any = 0


@dataclass
class Cart:
    lines: list[Any]
    total: Any = Decimal("0.00")
    weight: Any = field(init=False, default=None)

    @cached_property
    def count(self) -> int:
        return len(self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slotted:
    name: Any
    inner: Any = None


@dataclass
class Parcel:
    """Its __post_init__ changes what it is given, and counts how often it was called."""

    grams: Any
    kilos: InitVar[int]
    made = 0

    def __post_init__(self, kilos: int) -> None:
        self.grams = self.grams + 1000 * kilos
        type(self).made += 1


class Place(NamedTuple):
    row: Any
    seat: Any = "A"


Pair = namedtuple("Pair", ["left", "right"])  # noqa: PYI024 - the older way to write one


class Later(Order):
    """A proxy model."""

    class Meta:
        proxy = True
        app_label = "site"


class Shown(models.Manager):  # type: ignore[type-arg]
    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().none()


class Seat(models.Model):
    """Its primary key has two parts, and its manager hides every row."""

    pk = models.CompositePrimaryKey("row", "number")
    row = models.CharField(max_length=5)
    number = models.IntegerField()

    objects = Shown()

    class Meta:
        app_label = "site"

    def __str__(self) -> str:
        return f"{self.row}{self.number}"


ZONES = st.one_of(
    st.sampled_from([UTC, ZoneInfo("UTC"), ZoneInfo("Europe/Berlin"), ZoneInfo("America/St_Johns")]),
    st.sampled_from([timezone(timedelta(hours=-3, minutes=-30)), timezone(timedelta(seconds=5, microseconds=7), "X")]),
)
FOLDS = st.integers(0, 1)
TEXTS = st.text(st.characters(codec=None), max_size=8)  # lone surrogates and NUL among them
MEMBERS = st.sampled_from([*Color, *Size, *Mood, *Carrier, *Bits, Rights.READ | Rights.RUN, Rights(0), Bits(129)])


def whole_numbers() -> st.SearchStrategy[int]:
    huge = st.builds(lambda sign, bits: sign * ((1 << bits) - 1), st.sampled_from([1, -1]), st.integers(1990, 20_000))
    return st.integers() | huge


def decimals() -> st.SearchStrategy[Decimal]:
    odd = ["0E-10", "-0.00", "1E+999999", "19.9900", "12345678901234567890.12", "1e-5"]
    return st.decimals(allow_nan=False, allow_infinity=False) | st.sampled_from(odd).map(Decimal)


def folded(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(lambda value, fold: value.replace(fold=fold), values, FOLDS)


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    whole_numbers(),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
    decimals(),
    folded(st.datetimes(timezones=st.none() | ZONES)),
    st.dates(),
    folded(st.times(timezones=st.none() | ZONES)),
    st.timedeltas(),
    st.uuids(),
    st.binary(max_size=20),
    MEMBERS,
)
KEYS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.frozensets(inner, max_size=3),
        st.tuples(inner, inner).map(lambda parts: Point(*parts)),
        inner.map(Place),
        st.tuples(inner, inner).map(Pair._make),
        inner.map(lambda name: Slotted(name=name)),
    ),
    max_leaves=4,
)
# Dicts that look like the marks of the stored form.
TAGS = st.sampled_from(["$", "$dict", "$decimal", "$model", "$unknown"])
VALUES = st.recursive(
    KEYS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.sets(KEYS, max_size=3),
        st.frozensets(KEYS, max_size=3),
        st.dictionaries(KEYS, inner, max_size=3),
        st.dictionaries(TEXTS | TAGS, inner, max_size=2),
        st.tuples(st.lists(inner, max_size=2), inner).map(lambda parts: Cart(*parts)),
        st.tuples(inner, inner).map(lambda parts: Slotted(name=parts[0], inner=parts[1])),
    ),
    max_leaves=12,
)


def alike(a: Any, b: Any) -> bool:
    """Equal and of the same types all the way down, more strictly than == is."""
    if type(a) is not type(b):
        return False
    if isinstance(a, Enum):
        return a is b
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            alike(k, m) and alike(v, w) for (k, v), (m, w) in zip(a.items(), b.items(), strict=True)
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, set | frozenset):
        return len(a) == len(b) and all(any(alike(item, other) for other in b) for item in a)
    if dataclasses.is_dataclass(a):
        return all(alike(getattr(a, part.name), getattr(b, part.name)) for part in dataclasses.fields(a))
    if isinstance(a, int):
        return a == b  # its digits may be too many for repr
    # repr tells -0.0 from 0.0, 1.0 from 1.00, one zone from another and one fold from the other.
    return repr(a) == repr(b) and a == b
