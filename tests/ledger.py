"""The ledger: what bodies really did, noted in a database that no transaction of a saga reaches.

One table in "outside", shared by all processes of a test. A call is noted when its body begins, and again as "done"
when it has returned or "raised" when it has not; a body whose process was killed has the first note alone.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connections

from saga_app import clock
from saga_app.queue.processes import Process, me

DATABASE = "outside"
COLUMNS = "event, name, path, key, execution, attempt, pid, born, at, data"


@dataclass(frozen=True)
class Note:
    """One line. `name` is "a", "~a" for a's compensation, "?a" for its reconcile; `path` likewise."""

    id: int
    event: str
    name: str
    path: str
    key: str
    execution: str
    attempt: int
    pid: int
    born: int
    at: float
    data: dict[str, Any]


def prepare() -> None:
    """Make the tables, once per database, and empty them."""
    _execute(
        "CREATE TABLE IF NOT EXISTS ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT, name TEXT, path TEXT, "
        "key TEXT, execution TEXT, attempt INTEGER, pid INTEGER, born INTEGER, at REAL, data BLOB)"
    )
    _execute("CREATE TABLE IF NOT EXISTS fixes (name TEXT PRIMARY KEY, since INTEGER, plan BLOB)")
    clear()


def clear() -> None:
    """Empty the ledger; every step follows its own plan again."""
    _execute("DELETE FROM ledger")
    _execute("DELETE FROM fixes")


def note(event: str, name: str, path: str, key: str, execution: object, attempt: int, data: dict[str, Any]) -> None:
    """Write one line."""
    born = Process.of(os.getpid()).started
    at = clock.now().timestamp()
    values = [event, name, path, key, str(execution), attempt, os.getpid(), born, at, _pickled(data)]
    _execute(f"INSERT INTO ledger ({COLUMNS}) VALUES ({', '.join(['%s'] * 10)})", values)  # noqa: S608 - our own names


def notes(condition: str = "1 = 1", *values: object) -> list[Note]:
    """The lines for which a condition is true, oldest first."""
    rows = _execute(f"SELECT id, {COLUMNS} FROM ledger WHERE {condition} ORDER BY id", values)  # noqa: S608
    return [Note(*row[:-1], data=pickle.loads(row[-1])) for row in rows]  # noqa: S301 - written by these tests


def begun(condition: str = "1 = 1", *values: object) -> list[Note]:
    """The calls among them."""
    return [one for one in notes(condition, *values) if one.event == "began"]


def running() -> list[Note]:
    """The calls whose bodies have not ended, in processes that live."""
    ended = "SELECT 1 FROM ledger e WHERE e.event <> 'began' AND e.id > ledger.id AND e.pid = ledger.pid"
    same = "AND e.path = ledger.path AND e.execution = ledger.execution AND e.attempt = ledger.attempt"
    left = begun(f"event = 'began' AND NOT EXISTS ({ended} {same})")
    return [one for one in left if Process(one.pid, one.born).is_alive()]


def has(mark: str) -> bool:
    """Whether it says so: "hotel began", "car done", "air raised"."""
    name, event = mark.rsplit(" ", 1)
    return bool(_execute("SELECT 1 FROM ledger WHERE name = %s AND event = %s LIMIT 1", [name, event]))


def begun_in(execution: str) -> int:
    """How many bodies of that execution have been called, each counted once."""
    found = _execute("SELECT COUNT(DISTINCT path) FROM ledger WHERE execution = %s AND event = 'began'", [execution])
    return int(found[0][0])


def calls(name: str) -> int:
    """How often that body was called; "~a" is a's compensation, "?a" its reconcile."""
    return len(begun("name = %s", name))


def order() -> list[str]:
    """Names in the order of the calls, compensations with "~", reconciles left out."""
    return [one.name for one in begun() if not one.name.startswith("?")]


def order_of(execution: Any) -> list[str]:
    """The same of one execution."""
    return [one.name for one in begun("execution = %s", str(execution.pk)) if not one.name.startswith("?")]


def paths() -> list[str]:
    """The same with paths ("line[0]/pack")."""
    return [one.path for one in begun() if not one.name.startswith("?")]


def keys(name: str) -> set[str]:
    """The idempotency keys it was called with."""
    return {one.key for one in begun("name = %s", name)}


def seen(name: str) -> list[dict[str, Any]]:
    """One dict of arguments per call; for "~a" with result (if any), outcome and forward_key too."""
    return [one.data for one in begun("name = %s", name)]


def pids() -> set[int]:
    """The processes that called bodies."""
    return {one.pid for one in begun()}


def fix(name: str, plan: tuple[Callable[..., Any], ...]) -> None:
    """A new plan from now on, in every process: its entries are for the calls that come."""
    since = _execute("SELECT COALESCE(MAX(id), 0) FROM ledger")[0][0]
    _execute("DELETE FROM fixes WHERE name = %s", [name])
    _execute("INSERT INTO fixes (name, since, plan) VALUES (%s, %s, %s)", [name, since, pickle.dumps(plan)])


def fixed(name: str, execution: object) -> tuple[tuple[Callable[..., Any], ...], int] | None:
    """The new plan of that body, if any, and how often this execution has followed it (this call included)."""
    for since, plan in _execute("SELECT since, plan FROM fixes WHERE name = %s", [name]):
        calls_since = begun("name = %s AND execution = %s AND id > %s", name, str(execution), since)
        return pickle.loads(plan), len(calls_since)  # noqa: S301
    return None


def _pickled(data: dict[str, Any]) -> bytes:
    """Python's own form, since the codec is among what is tested; where there is none, what repr says."""
    try:
        return pickle.dumps(data)
    except Exception:  # noqa: BLE001 - whatever has no form of its own raises whatever it likes
        return pickle.dumps({name: repr(value) for name, value in data.items()})


def _execute(sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
    with connections[DATABASE].cursor() as cursor:
        cursor.execute(sql, list(values))
        return cursor.fetchall() if cursor.description else []


__all__ = ["calls", "clear", "keys", "me", "order", "order_of", "paths", "pids", "seen"]
