"""The bank: charges a card once per key, and gives the money back once per key."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from dataclasses import dataclass
from decimal import Decimal

from project.shop import outside

_NEVER_ANSWERS = 60.0  # longer than any step waits


class PaymentError(Exception):
    """The bank said no."""


class CardDeclined(PaymentError):
    """Nothing was charged."""


class RefundRefused(PaymentError):
    """The money stays where it is until the bank changes its mind."""


class KeyClosed(PaymentError):
    """This key was refunded before it was charged: a late charge comes too late."""


@dataclass(frozen=True)
class Charge:
    """One line of the bank's ledger."""

    id: str
    key: str
    card: str
    amount: Decimal
    refunded: Decimal


def charge(card: str, total: Decimal, *, idempotency_key: str) -> str:
    """Charge the card and return the charge's id; asked again under the same key, return the first charge's."""
    with outside.journey():
        with outside.ledger() as books:
            charge_id = _charge_once(books, card, int(total * 100), idempotency_key)
            killed, hangs = (outside.told(books, card, what) for what in ("kill", "hang"))
        if not charge_id:  # raised after the commit: the bank remembers that it has declined once
            raise CardDeclined("the card was declined")
        if killed:  # the charge is in the books, and nobody here will ever hear of it
            os.kill(os.getpid(), signal.SIGKILL)
        if hangs:
            time.sleep(_NEVER_ANSWERS)
    return charge_id


def refund(*, original_key: str, total: Decimal | None = None) -> None:
    """Give back what was charged under that key, or a part of it.

    The key is closed first: a charge still on its way comes too late.
    """
    with outside.journey():
        with outside.ledger() as books:
            books.execute("INSERT OR IGNORE INTO closed VALUES (?)", (original_key,))
            charged = books.execute("SELECT * FROM charges WHERE key = ?", (original_key,)).fetchone()
            refused = charged is not None and outside.told(books, charged["card"], "refuse refund")
            if charged is not None and not refused:
                _refund_once(books, charged, charged["cents"] if total is None else int(total * 100))
        if refused:
            raise RefundRefused(f"the bank refuses to refund {charged['id']}")


def find(key: str) -> Charge | None:
    """The charge made under this key, if there is one by now."""
    with outside.journey():
        return next(iter(charges(key=key)), None)


def charges(*, card: str | None = None, key: str | None = None) -> list[Charge]:
    """The bank's ledger: all of it, or what it says of one card or one key."""
    with outside.ledger() as books:
        rows = books.execute(
            "SELECT charges.*, COALESCE(refunds.cents, 0) AS refunded FROM charges LEFT JOIN refunds USING (key)"
            " WHERE (:card IS NULL OR card = :card) AND (:key IS NULL OR key = :key) ORDER BY charges.id",
            {"card": card, "key": key},
        ).fetchall()
    return [Charge(row["id"], row["key"], row["card"], _amount(row["cents"]), _amount(row["refunded"])) for row in rows]


def _charge_once(books: sqlite3.Connection, card: str, cents: int, key: str) -> str:
    first = books.execute("SELECT id, card, cents FROM charges WHERE key = ?", (key,)).fetchone()
    if first is None:
        return _enter(books, card, cents, key)
    if (first["card"], first["cents"]) != (card, cents):
        raise PaymentError(f"{key} was used before, for another charge")
    books.execute("UPDATE charges SET asked = asked + 1 WHERE key = ?", (key,))
    return str(first["id"])


def _enter(books: sqlite3.Connection, card: str, cents: int, key: str) -> str:
    """Enter a charge and return its id; none, where the card is declined."""
    if books.execute("SELECT 1 FROM closed WHERE key = ?", (key,)).fetchone():
        raise KeyClosed(f"{key} was closed by a refund")
    if outside.told(books, card, "decline"):
        return ""
    count = books.execute("SELECT COUNT(*) FROM charges").fetchone()[0]
    charge_id = f"ch-{count + 1:05d}"
    books.execute("INSERT INTO charges VALUES (?, ?, ?, ?, 1, ?)", (key, charge_id, card, cents, time.time()))
    return charge_id


def _refund_once(books: sqlite3.Connection, charged: sqlite3.Row, cents: int) -> None:
    books.execute(
        "INSERT INTO refunds VALUES (?, ?, ?, 1, ?) ON CONFLICT (key) DO UPDATE SET asked = asked + 1",
        (charged["key"], charged["id"], cents, time.time()),
    )


def _amount(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)
