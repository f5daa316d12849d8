"""The one place where time is read and dice are thrown, so that tests can hold both in their hand.

What is due, leased or late is judged by the database's time, since workers on many machines share only that.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import DateTimeField, Func, Value
from django.db.models.expressions import Combinable
from django.utils import timezone


class Source(Protocol):
    """A clock that stands in for the real one (testing kit)."""

    def now(self) -> datetime:
        """The moment it is, aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    def sleep(self, seconds: float) -> None:
        """Let that many seconds pass."""


_source: Source | None = None


def now() -> datetime:
    """This process's idea of the moment it is, in UTC. For display and SQLite; PostgreSQL is asked for its own."""
    return _source.now() if _source else datetime.now(UTC)


def monotonic() -> float:
    """Seconds that never go back: how long a lease has been held, by our own count."""
    return _source.monotonic() if _source else time.monotonic()


def stands_still() -> bool:
    """Whether another clock is in the place of the real one, so that nothing passes by itself."""
    return _source is not None


def sleep(seconds: float) -> None:
    """Let that many seconds pass."""
    if _source:
        _source.sleep(seconds)
    else:
        time.sleep(seconds)


def asks_database(using: str) -> bool:
    """Whether that database is asked for the moment; else it is this process's own, or the test clock's."""
    return _source is None and connections[using].vendor == "postgresql"


def database_now(using: str, plus: float = 0.0) -> Combinable:
    """The database's moment as an SQL expression, `plus` seconds from it.

    STATEMENT_TIMESTAMP, not NOW(): a transaction that waited for a lock must not judge a lease by when it began.
    SQLite lives on one machine, so that machine's clock is the database's.
    """
    if not asks_database(using):
        return Value(now() + timedelta(seconds=plus), output_field=MomentField())
    moment = Func(function="STATEMENT_TIMESTAMP", output_field=MomentField())
    return moment + timedelta(seconds=plus) if plus else moment


def aware(moment: datetime) -> datetime:
    """The moment in UTC; a naive one is read in the project's zone.

    One that the clocks leave out moves forward with them, one that they show twice is the first.
    """
    zoned = moment if timezone.is_aware(moment) else moment.replace(tzinfo=timezone.get_default_timezone())
    return zoned.astimezone(UTC)


def uuid7() -> UUID:
    """A time-ordered id (RFC 9562): 48 bits of milliseconds, 74 random bits, so that new rows sit together."""
    milliseconds = int(now().timestamp() * 1000) & (1 << 48) - 1
    dice = secrets.randbits(74)
    return UUID(int=milliseconds << 80 | 0x7 << 76 | (dice >> 62) << 64 | 0b10 << 62 | dice & (1 << 62) - 1)


def token() -> str:
    """A short word that nobody else will draw."""
    return secrets.token_hex(6)


def dice() -> float:
    """A number in [0, 1) for the jitter of a delay."""
    return random.random()  # noqa: S311 - jitter, not a secret


def replace(source: Source | None) -> None:
    """Put another clock in the place of the real one, for this process; None: the real one."""
    global _source  # noqa: PLW0603 - the process has one clock
    _source = source


@contextmanager
def replaced(source: Source) -> Iterator[None]:
    """The same for the length of a with block."""
    before = _source
    replace(source)
    try:
        yield
    finally:
        replace(before)


class MomentField(DateTimeField):  # type: ignore[type-arg]
    """An instant, read back as aware UTC whatever USE_TZ says, so that no wall clock decides when work is due."""

    def from_db_value(
        self, value: datetime | str | None, _expression: object, connection: BaseDatabaseWrapper
    ) -> datetime | None:
        """Make what the driver returned an aware UTC datetime."""
        if value is None:
            return None
        if isinstance(value, str):  # SQLite, read without Django's own converters: its UTC text
            value = datetime.fromisoformat(value)
        if value.tzinfo is None:  # USE_TZ is False: the backend returned the connection's wall clock
            value = value.replace(tzinfo=UTC if connection.vendor == "sqlite" else ZoneInfo(connection.timezone_name))
        return value.astimezone(UTC)

    def get_prep_value(self, value: Any) -> Any:
        """Moments come from our clock; a naive one would be a guess."""
        if isinstance(value, datetime) and value.tzinfo is None:
            msg = f"{self.name} takes an aware datetime, not {value!r}"
            raise ValueError(msg)
        return value

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:  # noqa: FBT001, FBT002 - Django's signature
        """Hand PostgreSQL the instant, and SQLite its UTC text."""
        value = value if prepared else self.get_prep_value(value)
        if not isinstance(value, datetime) or connection.vendor != "sqlite":
            return value
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
