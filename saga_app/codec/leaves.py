"""The values without parts that JSON has no word for: numbers, moments, ids, bytes."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from saga_app.codec.wire import Json

MAX_PLAIN_BITS = 2_000  # Python refuses to read longer numbers in decimal digits: 640 digits at its strictest
SHOWN_BYTES = 32
MICROSECOND = timedelta(microseconds=1)
# Two code points that JSON would read back as one character.
SPLIT_PAIR = re.compile(r"(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One type: how it is written, read and shown. `pack` raises ValueError with the reason when it cannot.

    `size` is known before the work of packing: what it takes at least.
    """

    type: type
    tag: str
    pack: Callable[[Any], Json]
    unpack: Callable[[Any], Any]
    show: Callable[[Any], str] = str
    size: Callable[[Any], int] = lambda _: 2


def _pack_decimal(value: Decimal) -> Json:
    if not value.is_finite():
        raise ValueError(f"{value} is not a number that can be stored: use None, or a text")
    return str(value)


def _pack_zone(zone: tzinfo | None) -> Json:
    """None, the key of a zoneinfo, or a fixed offset: [microseconds] or [microseconds, name]."""
    if zone is None:
        return None
    if type(zone) is ZoneInfo and _is_known(zone.key):
        return zone.key
    if type(zone) is timezone:
        offset, name = zone.utcoffset(None), zone.tzname(None)
        micros = offset // MICROSECOND
        return [micros] if timezone(offset).tzname(None) == name else [micros, name]
    raise ValueError(
        f"its time zone is a {type(zone).__module__}.{type(zone).__qualname__}: use zoneinfo or datetime.UTC"
    )


def _is_known(key: str | None) -> bool:
    """Whether the key leads back to a zone; one read from a file may have none, or any."""
    try:
        return key is not None and bool(ZoneInfo(key))
    except (LookupError, ValueError, OSError):
        return False


def _unpack_zone(packed: Json) -> tzinfo | None:
    if packed is None:
        return None
    if isinstance(packed, str):
        return ZoneInfo(packed)
    micros, *name = packed
    return timezone(timedelta(microseconds=micros), *name)


def _pack_wall(value: datetime | time) -> Json:
    # The wall time with its zone, not the instant: an appointment stays at ten when the zone's rules change.
    packed = [value.replace(tzinfo=None, fold=0).isoformat(), _pack_zone(value.tzinfo)]
    return [*packed, 1] if value.fold else packed


def _unpack_datetime(packed: Json) -> datetime:
    text, zone, *fold = packed
    return datetime.fromisoformat(text).replace(tzinfo=_unpack_zone(zone), fold=1 if fold else 0)


def _unpack_time(packed: Json) -> time:
    text, zone, *fold = packed
    return time.fromisoformat(text).replace(tzinfo=_unpack_zone(zone), fold=1 if fold else 0)


def _pack_bytes(value: bytes) -> Json:
    return b64encode(value).decode()


def _unpack_bytes(packed: Json) -> bytes:
    return b64decode(packed, validate=True)


def _show_bytes(value: bytes) -> str:
    more = "…" if len(value) > SHOWN_BYTES else ""
    return f"{len(value):,} bytes: {value[:SHOWN_BYTES].hex()}{more}"


LEAVES = [
    Leaf(Decimal, "$decimal", _pack_decimal, Decimal),
    Leaf(datetime, "$datetime", _pack_wall, _unpack_datetime, datetime.isoformat),
    Leaf(date, "$date", date.isoformat, date.fromisoformat),
    Leaf(time, "$time", _pack_wall, _unpack_time),
    Leaf(timedelta, "$timedelta", lambda v: [v.days, v.seconds, v.microseconds], lambda packed: timedelta(*packed)),
    Leaf(UUID, "$uuid", str, UUID),
    Leaf(bytes, "$bytes", _pack_bytes, _unpack_bytes, _show_bytes, lambda value: len(value) * 4 // 3),
    Leaf(int, "$int", hex, lambda packed: int(packed, 16), hex, lambda value: value.bit_length() // 4),
    Leaf(str, "$str", SPLIT_PAIR.split, "".join),
]
BY_TYPE = {leaf.type: leaf for leaf in LEAVES}
BY_TAG = {leaf.tag: leaf for leaf in LEAVES}
