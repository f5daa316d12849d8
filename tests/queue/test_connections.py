"""What user code leaves of its connections: nothing that is open, and nothing that still runs."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from django.db import connection, connections, transaction

from saga_app.core.errors import StepTimeout
from saga_app.timeouts import bounded, clean_connections
from tests.settings import ENGINE

pytestmark = pytest.mark.django_db(transaction=True)
postgres_only = pytest.mark.skipif(ENGINE != "postgres", reason="SQLite has no server to ask")


def test_one_that_was_left_clean_is_kept() -> None:
    connection.ensure_connection()
    raw = connection.connection
    with clean_connections(), transaction.atomic():
        connection.cursor().execute("SELECT 1")
    assert connection.connection is raw


@pytest.mark.parametrize("leave", ["autocommit", "atomic", "begin"])
def test_one_that_was_left_open_is_closed(leave: str, caplog: pytest.LogCaptureFixture) -> None:
    """What it wrote is gone, and the next to use it gets a new one that works."""
    connection.ensure_connection()
    raw = connection.connection
    with clean_connections():
        if leave == "autocommit":
            transaction.set_autocommit(False)
        elif leave == "atomic":
            transaction.atomic().__enter__()
        else:
            connection.cursor().execute("BEGIN")
        connection.cursor().execute("INSERT INTO site_tag (name) VALUES ('left')")
    assert connection.connection is not raw
    assert not connection.in_atomic_block
    assert transaction.get_autocommit()
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM site_tag")
        assert cursor.fetchone() == (0,)
    assert "left the connection" in caplog.text


def test_the_transaction_around_the_call_is_left_alone() -> None:
    with transaction.atomic():
        connection.cursor().execute("INSERT INTO site_tag (name) VALUES ('mine')")
        raw = connection.connection
        with clean_connections(), transaction.atomic():
            connection.cursor().execute("INSERT INTO site_tag (name) VALUES ('also')")
        assert connection.connection is raw
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM site_tag")
        assert cursor.fetchone() == (2,)


@pytest.mark.parametrize("leave", ["atomic", "commit"])
def test_the_transaction_around_the_call_cannot_be_broken_unseen(leave: str) -> None:
    """Its owner is told when it wants to go on, and nothing of it is committed from then on."""
    failed = False
    try:
        with transaction.atomic():
            connection.cursor().execute("SELECT 1")
            with clean_connections():
                if leave == "atomic":
                    transaction.atomic().__enter__()
                else:
                    connection.cursor().execute("COMMIT")
            connection.cursor().execute("INSERT INTO site_tag (name) VALUES ('late')")
    except Exception:  # noqa: BLE001
        failed = True
    assert failed
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM site_tag WHERE name = 'late'")
        assert cursor.fetchone() == (0,)


@postgres_only
def test_an_interrupted_query_is_cancelled_on_the_server() -> None:
    """Closing alone would leave it running there, with its locks."""
    with pytest.raises(StepTimeout), clean_connections(), bounded(0.3):
        connection.cursor().execute("SELECT pg_sleep(30)")
    time.sleep(0.2)
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'active' AND query ~ 'pg_sleep.30'")
        assert cursor.fetchone() == (1,)  # this query itself names it


@postgres_only
def test_an_interrupted_query_ends_the_transaction_around_it() -> None:
    def body() -> None:
        with transaction.atomic():
            connection.cursor().execute("INSERT INTO site_tag (name) VALUES ('mine')")
            with clean_connections(), bounded(0.3):
                connection.cursor().execute("SELECT pg_sleep(30)")

    with pytest.raises(StepTimeout):
        body()
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM site_tag")
        assert cursor.fetchone() == (0,)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    connections.close_all()
