"""What an execution costs the database, counted: write transactions as they are owed, statements as they are."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from saga_app import Saga, executor, step

pytestmark = pytest.mark.django_db(transaction=True)

CONTROL = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "SET ")


def made(name: str, *, fails: bool = False, **options: Any) -> Any:
    """A step that does nothing, or raises; with a compensation."""

    def body() -> str:
        if fails:
            raise ValueError(name)
        return name

    one = step(name=name, attempts=1, **options)(body)
    one.compensate(lambda: None)
    return one


SAGAS = {
    # what: nodes, write transactions, statements on SQLite and on PostgreSQL
    "external": (lambda: [made("a"), made("b"), made("c")], 4, 15, 13),
    "atomic": (lambda: [made(name, atomic=True) for name in "abc"], 4, 14, 12),
    "unwind": (lambda: [made("a"), made("b"), made("c", fails=True).named(compensate=False)], 6, 22, 20),
}


@pytest.mark.parametrize("what", SAGAS)
def test_what_three_steps_cost(what: str) -> None:
    """Three external steps: 4 write transactions; three atomic ones: 4; the third fails and two are undone: 6.

    The claim and the first intent share one, each outcome shares one with the next intent, the last with the end.
    """
    nodes, transactions, on_sqlite, on_postgresql = SAGAS[what]
    x = Saga(what, *nodes()).start()
    with CaptureQueriesContext(connection) as captured:
        executor.drive(x.pk, holder="host:1")
    x.refresh_from_db()
    assert x.status in ("completed", "failed")
    statements = [query["sql"] for query in captured.captured_queries]
    assert sum(one.startswith("COMMIT") for one in statements) == transactions
    counted = sum(not one.startswith(CONTROL) for one in statements)
    assert counted == (on_sqlite if connection.vendor == "sqlite" else on_postgresql)


def test_an_idle_look_takes_one_statement_and_no_lock() -> None:
    """Where nothing is due, a drive asks once; on SQLite that takes no write lock."""
    with CaptureQueriesContext(connection) as captured:
        assert not executor.drive(None, holder="host:1")
    statements = [query["sql"] for query in captured.captured_queries]
    assert sum(not one.startswith(CONTROL) for one in statements) == 1
    if connection.vendor == "sqlite":
        assert not any(one.startswith("BEGIN") for one in statements)
