"""The DATABASES setting from one URL, so that the same site runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

SQLITE_OPTIONS = {
    # A saga's transactions write: taking the lock at BEGIN is what keeps SQLite from refusing the upgrade later.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
}


def database(url: str) -> dict[str, Any]:
    """One entry of DATABASES for `sqlite:///path` or `postgresql://user:password@host:port/name?option=value`."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        # None, not 0: the queue's broker would open a new connection for every look at the table.
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": unquote(parts.path[1:]),
            "OPTIONS": dict(SQLITE_OPTIONS),
            "CONN_MAX_AGE": None,
        }
    if parts.scheme in {"postgres", "postgresql"}:
        options = dict(parse_qsl(parts.query))
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path[1:]),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": options.pop("host", "") or unquote(parts.hostname or ""),  # ?host=/path is a Unix socket's folder
            "PORT": options.pop("port", "") or str(parts.port or ""),
            "OPTIONS": options,
            "CONN_MAX_AGE": None,
            "CONN_HEALTH_CHECKS": True,
        }
    raise ValueError(
        f"DATABASE_URL begins with {parts.scheme!r}; write sqlite:///path/to/file or postgresql://user@host/name"
    )
