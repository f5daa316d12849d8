"""The world outside: the books of the bank, the warehouse and the suppliers, beyond any transaction of ours."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings

ALWAYS = -1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS rules (subject TEXT, what TEXT, times INTEGER, PRIMARY KEY (subject, what));
CREATE TABLE IF NOT EXISTS charges (key TEXT PRIMARY KEY, id TEXT, card TEXT, cents INTEGER, asked INTEGER, at REAL);
CREATE TABLE IF NOT EXISTS refunds (key TEXT PRIMARY KEY, charge_id TEXT, cents INTEGER, asked INTEGER, at REAL);
CREATE TABLE IF NOT EXISTS closed (key TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS parcels (code TEXT PRIMARY KEY, order_id INTEGER, asked INTEGER, at REAL);
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY, book TEXT, order_id INTEGER, text TEXT, struck INTEGER, asked INTEGER, at REAL
);
CREATE INDEX IF NOT EXISTS charges_card ON charges (card);
CREATE INDEX IF NOT EXISTS entries_order ON entries (book, order_id);
"""


class EntryStruck(Exception):
    """What was asked for has been taken back before it came: it comes too late."""


@dataclass(frozen=True)
class Entry:
    """One line of a book in which lines are entered once per key, and may be struck out."""

    key: str
    order_id: int
    text: str
    struck: bool


@contextmanager
def ledger() -> Iterator[sqlite3.Connection]:
    """One transaction in the outside books: all of it or nothing, whoever is killed meanwhile."""
    connection = sqlite3.connect(settings.OUTSIDE_LEDGER, timeout=20, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;")
        connection.executescript(_SCHEMA)
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    finally:
        connection.close()  # what is not committed by now is rolled back


def tell(subject: str, what: str, *, times: int) -> None:
    """Make the outside misbehave towards one card or order: so many times, or ALWAYS."""
    with ledger() as books:
        books.execute("INSERT OR REPLACE INTO rules VALUES (?, ?, ?)", (subject, what, times))


def forget(subject: str) -> None:
    """Make the outside behave again."""
    with ledger() as books:
        books.execute("DELETE FROM rules WHERE subject = ?", (subject,))


def forget_everything() -> None:
    """Make the outside behave again, towards everybody."""
    with ledger() as books:
        books.execute("DELETE FROM rules")


def told(books: sqlite3.Connection, subject: str, what: str) -> bool:
    """Whether it was told to do this now; one time less from now on."""
    rule = books.execute("SELECT times FROM rules WHERE subject = ? AND what = ?", (subject, what)).fetchone()
    if rule is None or rule["times"] == 0:
        return False
    if rule["times"] != ALWAYS:
        books.execute("UPDATE rules SET times = times - 1 WHERE subject = ? AND what = ?", (subject, what))
    return True


def enter(books: sqlite3.Connection, book: str, key: str, order_id: int, text: str) -> str:
    """Enter a line, and return its text; asked again under the same key, return the text of the first."""
    first = books.execute("SELECT text, struck FROM entries WHERE key = ?", (key,)).fetchone()
    if first is None:
        books.execute("INSERT INTO entries VALUES (?, ?, ?, ?, 0, 1, ?)", (key, book, order_id, text, time.time()))
        return text
    if first["struck"]:
        raise EntryStruck(f"{key} was taken back")
    books.execute("UPDATE entries SET asked = asked + 1 WHERE key = ?", (key,))
    return str(first["text"])


def strike(books: sqlite3.Connection, book: str, key: str) -> None:
    """Strike out what was entered under that key; what has not come yet is struck out before it comes."""
    books.execute(
        "INSERT INTO entries VALUES (?, ?, 0, '', 1, 0, ?) ON CONFLICT (key) DO UPDATE SET struck = 1",
        (key, book, time.time()),
    )


def entries(book: str, order_id: int | None = None) -> list[Entry]:
    """The lines of a book, those struck out too: all of them, or those about one order."""
    with ledger() as books:
        rows = books.execute(
            "SELECT * FROM entries WHERE book = ? AND (? IS NULL OR order_id = ?) ORDER BY at",
            (book, order_id, order_id),
        ).fetchall()
    return [Entry(row["key"], row["order_id"], row["text"], bool(row["struck"])) for row in rows if row["text"]]


@contextmanager
def journey() -> Iterator[None]:
    """The time a call takes, there and back, so that a kill can land on either side of the effect."""
    time.sleep(random.uniform(0, settings.OUTSIDE_LATENCY) / 2)  # noqa: S311 - no secret
    yield
    time.sleep(random.uniform(0, settings.OUTSIDE_LATENCY) / 2)  # noqa: S311


def parcel_of(order_id: int) -> str:
    """The name under which the warehouse knows an order."""
    return f"parcel {order_id}"


def supplier_of(order_id: int) -> str:
    """The name under which the suppliers know an order."""
    return f"supplies {order_id}"


def mail_of(order_id: int) -> str:
    """The name under which the post office knows an order."""
    return f"mail {order_id}"
