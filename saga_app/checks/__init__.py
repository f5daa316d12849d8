"""System checks: every way to misconfigure an engine that must not lose work, each with what to write instead."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004 - Django's name
from django.db import connections
from django.utils.module_loading import import_string

from saga_app import conf
from saga_app.checks import queues, sagas
from saga_app.core.names import nearest
from saga_app.core.redaction import letters
from saga_app.models import Execution, Worker
from saga_app.store.transactions import alias

Messages = Iterator[CheckMessage]

TAG = "saga"
SHORTEST_WAIT = 10  # seconds that a SQLite writer should wait for another


@register(TAG)
def check_all(**_: Any) -> list[CheckMessage]:
    """What can be said without asking a database."""
    return [*queues.found(), *_databases(), *_settings(), *sagas.found()]


@register(TAG, Tags.database)
def check_tables(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """What the tables say: `manage.py check --database default`."""
    return [*_tables(alias())] if alias() in (databases or ()) else []


def _databases() -> Messages:
    using = alias()
    connection = connections[using]
    where, options = f"DATABASES[{using!r}]", connection.settings_dict.get("OPTIONS") or {}
    if connection.vendor == "sqlite":
        yield from _sqlite(where, options, in_memory="memory" in str(connection.settings_dict["NAME"]))
    elif connection.vendor == "postgresql":
        yield from _postgresql(where, options)
    else:
        said = f"{where}: the saga tables are on {connection.display_name}; the engine knows PostgreSQL and SQLite."
        hint = "Keep them on one of these (a database router says which); other tables may live where they are."
        yield Error(said, hint=hint, id="saga_app.E004")
    if connection.settings_dict.get("CONN_MAX_AGE") == 0:
        said = f"{where}: CONN_MAX_AGE is 0, so the queue connects anew for every look at the table."
        hint = 'Write "CONN_MAX_AGE": None, or 600 (and "CONN_HEALTH_CHECKS": True on PostgreSQL).'
        yield Warning(said, hint=hint, id="saga_app.W003")
    for one in connections:
        if (connections[one].settings_dict.get("OPTIONS") or {}).get("pool"):
            said = (
                f"DATABASES[{one!r}] has a connection pool, which `manage.py qcluster` forks: its processes share it."
            )
            hint = 'Take "pool" out of OPTIONS for the cluster, and write "CONN_MAX_AGE": 600 instead.'
            yield Error(said, hint=hint, id="saga_app.E005")


def _sqlite(where: str, options: Mapping[str, Any], *, in_memory: bool) -> Messages:
    if str(options.get("transaction_mode")).upper() not in {"IMMEDIATE", "EXCLUSIVE"}:
        said = f"{where}: a transaction that reads before it writes fails at once when another one writes."
        hint = 'Write OPTIONS["transaction_mode"] = "IMMEDIATE".'
        yield Error(said, hint=hint, id="saga_app.E002")
    command = str(options.get("init_command", "")).lower().replace(" ", "")
    if "journal_mode=wal" not in command and not in_memory:
        said = f"{where}: without a write-ahead log every reader holds up the writers."
        hint = 'Write OPTIONS["init_command"] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;".'
        yield Warning(said, hint=hint, id="saga_app.W001")
    if options.get("timeout", 5) < SHORTEST_WAIT:
        said = f"{where}: a writer waits only {options.get('timeout', 5)} s for another one."
        yield Warning(said, hint='Write OPTIONS["timeout"] = 20.', id="saga_app.W002")


def _postgresql(where: str, options: Mapping[str, Any]) -> Messages:
    from django.db.backends.postgresql.psycopg_any import IsolationLevel  # noqa: PLC0415 - it needs a driver

    level = options.get("isolation_level")
    name = IsolationLevel(level).name if level is not None else ""
    parameters = str(options.get("options", "")).lower()
    if "default_transaction_isolation" in parameters and "committed" not in parameters:
        name = parameters
    if name and "COMMITTED" not in name:
        said = f"{where}: the isolation level is {name}; the engine's row locks are made for READ COMMITTED."
        hint = "Leave the isolation level out, and write it in the transactions of yours that need another one."
        yield Error(said, hint=hint, id="saga_app.E003")


def _settings() -> Messages:
    written = conf.written()
    if not isinstance(written, Mapping):
        said = f"SAGA is {written!r}, and not a dict."
        yield Error(said, hint='Write SAGA = {"LEASE": 30}, or leave it out.', id="saga_app.E007")
        return
    for key in conf.unknown_keys():
        hint = f"{nearest(str(key), conf.DEFAULTS)} It knows {', '.join(conf.DEFAULTS)}."
        yield Error(f"SAGA has a key {key!r}, which means nothing.", hint=hint, id="saga_app.E006")
    for key, value in written.items():
        wanted = _wanted(key, value)
        if wanted:
            yield Error(f'SAGA["{key}"] is {value!r}.', hint=f"Write {wanted}.", id="saga_app.E007")


def _wanted(key: str, value: object) -> str:
    """What should be there instead; "" when the value is fine."""
    default = conf.DEFAULTS.get(key)
    if key == "ENCRYPTION":
        return _wanted_encryption(value)
    if key == "REDACT":
        good = isinstance(value, list | tuple | set | frozenset) and all(map(_is_name, value))
        return "" if good else 'a list of names, such as ["password", "token"]; [] hides nothing'
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "True or False"
    if isinstance(default, int | float):
        kinds, kind = (int, "whole number") if isinstance(default, int) else (int | float, "number")
        good = isinstance(value, kinds) and not isinstance(value, bool) and 0 < value < float("inf")
        return "" if good else f"a {kind} above 0, such as {default}"
    return ""


def _is_name(value: object) -> bool:
    return isinstance(value, str) and letters(value) != ""


def _wanted_encryption(value: object) -> str:
    wanted = "None, or the dotted path of an object with encrypt(text) and decrypt(text)"
    if value is None:
        return ""
    try:
        found = import_string(value) if isinstance(value, str) else None
    except Exception as error:  # noqa: BLE001 - an import may fail in any way
        return f"{wanted} ({error})"
    return "" if all(callable(getattr(found, word, None)) for word in ("encrypt", "decrypt")) else wanted


def _tables(using: str) -> Messages:
    connection = connections[using]
    if Execution._meta.db_table not in connection.introspection.table_names():  # noqa: SLF001 - Django's Meta API
        if "migrate" in sys.argv:
            return  # it is about to be cured
        said = f"The saga tables are not in the database {using!r}."
        yield Warning(said, hint=f"Run `manage.py migrate --database {using}`.", id="saga_app.W006")
        return
    for worker in Worker.objects.using(using).alive().filter(wedged_at__isnull=False).order_by("id")[:1]:
        said = f"The cluster {worker.cluster} on {worker.host} takes nothing from its queue since {worker.wedged_at}."
        hint = 'Kill its processes and start it again, or write SAGA["EXIT_WHEN_WEDGED"] = True under a supervisor.'
        yield Warning(said, hint=hint, id="saga_app.W007")
    yield from queues.unserved(using)
