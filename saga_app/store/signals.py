"""Signals at the door: each is stored under the row lock, counted, and wakes its execution (design §7.4, §12)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from saga_app.models import Signal
from saga_app.store import sql
from saga_app.store.sql import ONE_MORE, Sql
from saga_app.store.wakes import wake

MOST_UNREAD = 1000  # of one execution: whoever drives it reads them all


@dataclass(frozen=True, slots=True)
class Arrival:
    """What has come.

    Attributes:
        name: the signal's name, or the path of the gate it is meant for.
        payload_text: what it brings, encoded.
        key: names it among those of that name.
        verdict: of a decision `approved` or `rejected`, else empty.
        sender: a user, or None.
    """

    name: str
    payload_text: str
    key: str | None = None
    verdict: str = ""
    sender: Any = None


def known(execution_id: UUID, name: str, key: str | None, using: str) -> Signal | None:
    """The signal of that name and key, if it has come before."""
    if key is None:
        return None
    return Signal.objects.using(using).filter(execution_id=execution_id, name=name, key=key).first()


def insert(execution_id: UUID, arrival: Arrival, using: str) -> int:
    """Store what has come, in a transaction of the caller's that has locked the execution; the row's id.

    `received_at` is the moment of this statement, so that it is later than all that was written before the lock was
    had: a gate that was timed out by then had its deadline before it.
    """
    sender = arrival.sender
    values = {
        "execution": execution_id,
        "name": arrival.name,
        "key": arrival.key,
        "payload_text": arrival.payload_text,
        "verdict": arrival.verdict,
        "sender": None if sender is None else sender.pk,
        "sender_name": "" if sender is None else str(sender.get_username())[:255],
        "received_at": sql.moment(using),
        "consumed_by": "",
    }
    signal_id: int = sql.insert(Signal, using, values)
    changed = {"version": ONE_MORE["version"], "updated_at": sql.moment(using)}
    wake(execution_id, using, unread=Sql("unread + 1"), **changed)
    return signal_id


def received_at(signal_id: int, using: str) -> datetime:
    """When it came: what a deadline is compared with."""
    return Signal.objects.using(using).values_list("received_at", flat=True).get(pk=signal_id)
