"""One URL says which database."""

from __future__ import annotations

import pytest

from project.databases import database


def test_sqlite_has_the_options_that_a_saga_needs() -> None:
    found = database("sqlite:////var/lib/a%20shop.sqlite3")
    assert found["NAME"] == "/var/lib/a shop.sqlite3"
    assert found["CONN_MAX_AGE"] is None
    assert found["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in found["OPTIONS"]["init_command"]
    assert found["OPTIONS"]["timeout"] >= 20


def test_a_postgres_url_is_taken_apart() -> None:
    found = database("postgresql://me:p%40ss@db.example:5433/shop?sslmode=require")
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert [found[key] for key in ("USER", "PASSWORD", "HOST", "PORT", "NAME")] == [
        "me",
        "p@ss",
        "db.example",
        "5433",
        "shop",
    ]
    assert found["OPTIONS"] == {"sslmode": "require"}


def test_a_unix_socket_is_a_host_option() -> None:
    found = database("postgresql://postgres@/shop?host=/run/postgresql")
    assert (found["HOST"], found["NAME"], found["OPTIONS"]) == ("/run/postgresql", "shop", {})


def test_another_kind_is_refused_with_what_to_write() -> None:
    with pytest.raises(ValueError, match="write sqlite:///path/to/file or postgresql://"):
        database("mysql://localhost/shop")
