"""The one place where time is read and dice are thrown, so that tests can hold both in their hand.

What is due, leased or late is judged by the database's time, since workers on many machines share only that.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID

from django.db import connections
from django.db.models import DateTimeField, Func, Value
from django.db.models.expressions import Expression


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


def sleep(seconds: float) -> None:
    """Let that many seconds pass."""
    if _source:
        _source.sleep(seconds)
    else:
        time.sleep(seconds)


def database_now(using: str) -> Expression:
    """The database's moment as an SQL expression.

    STATEMENT_TIMESTAMP, not NOW(): a transaction that waited for a lock must not judge a lease by when it began.
    SQLite lives on one machine, so that machine's clock is the database's.
    """
    if _source or connections[using].vendor != "postgresql":
        return Value(now(), output_field=DateTimeField())
    return Func(function="STATEMENT_TIMESTAMP", output_field=DateTimeField())


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
