"""The store's statements as text, made once for each shape: a drive runs a dozen, and the ORM would build each anew.

Values are adapted by the fields of the models; names come from them too, so no text from outside is ever part of a
statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

from saga_app import clock
from saga_app.clock import MomentField

Model = type[models.Model]


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of a statement in the place of a value: our own text, with its parameters."""

    text: str
    params: tuple[Any, ...] = ()


ONE_MORE = {name: Sql(f"{name} + 1") for name in ("writes", "wakes", "version", "epoch", "deaths")}


def placeholder(value: object) -> str:
    """What stands in the statement for a value."""
    return value.text if isinstance(value, Sql) else "%s"


def moment(using: str, plus: float = 0.0) -> Sql:
    """The database's moment, `plus` seconds from it (see clock.database_now)."""
    if clock.asks_database(using):
        return Sql("STATEMENT_TIMESTAMP() + %s", (timedelta(seconds=plus),)) if plus else Sql("STATEMENT_TIMESTAMP()")
    field, connection = MomentField(), connections[using]
    return Sql("%s", (field.get_db_prep_value(clock.now() + timedelta(seconds=plus), connection),))


def update(
    model: Model, using: str, changes: Mapping[str, Any], where: Mapping[str, Any], returning: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """UPDATE … SET changes WHERE all of `where` are equal; the columns in `returning` as they are after it."""
    shape = tuple((name, placeholder(value)) for name, value in changes.items())
    text = _update(model, shape, tuple(where), tuple(returning))
    return run(model, using, text, [*_params(model, using, changes), *_params(model, using, where)], returning)


def insert(model: Model, using: str, values: Mapping[str, Any]) -> Any:
    """INSERT one row; its primary key."""
    shape = tuple((name, placeholder(value)) for name, value in values.items())
    key = model._meta.pk.attname  # noqa: SLF001 - Django's documented Meta API
    (row,) = run(model, using, _insert(model, shape, key), list(_params(model, using, values)), [key])
    return row[key]


def run(
    model: Model, using: str, text: str, params: Sequence[Any], returning: Sequence[str], *, extra: int = 0
) -> list[dict[str, Any]]:
    """Run a statement that returns those columns of the model, and after them `extra` others as they come."""
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute(text, params)
        found = cursor.fetchall() if returning else []
    names, fields = _shape(model, tuple(returning), connection.vendor)
    rows = [dict(zip(names, row, strict=False)) for row in found]
    for values, row in zip(rows, found, strict=True):
        for field in fields:
            if (value := values[field.attname]) is not None:
                values[field.attname] = read(field, value, connection)
        if extra:
            values["extra"] = row[-extra:]
    return rows


def read(field: models.Field[Any, Any], value: Any, connection: BaseDatabaseWrapper) -> Any:
    """A value as the driver returned it, made what the field holds in Python."""
    kind = _kind(field)
    if isinstance(kind, MomentField):
        return kind.from_db_value(value, None, connection)
    if isinstance(kind, models.UUIDField):
        return value if isinstance(value, UUID) else UUID(value)
    return bool(value)


@lru_cache(maxsize=64)
def _shape(model: Model, returning: tuple[str, ...], vendor: str) -> tuple[list[str], list[models.Field[Any, Any]]]:
    """What the columns are called in Python, and the fields whose values the driver does not return as they are meant.

    An execution has thousands of records: nothing is asked of each value that can be asked of its column once.
    """
    fields = [_field(model, name) for name in returning]
    kinds = (MomentField,) if vendor == "postgresql" else (MomentField, models.UUIDField, models.BooleanField)
    return [field.attname for field in fields], [field for field in fields if isinstance(_kind(field), kinds)]


def _kind(field: models.Field[Any, Any]) -> models.Field[Any, Any]:
    return _kind(field.target_field) if isinstance(field, models.ForeignKey) else field


def read_moment(using: str, value: Any) -> datetime:
    """A moment that a statement returned for `moment()`."""
    return MomentField().from_db_value(value, None, connections[using])  # type: ignore[return-value]


def columns(model: Model, names: Iterable[str], table: str = "") -> str:
    """The columns of those fields, quoted, for a SELECT or RETURNING."""
    prefix = f"{table}." if table else ""
    return ", ".join(f'{prefix}"{_field(model, name).column}"' for name in names)


def table(model: Model) -> str:
    """The model's table, quoted."""
    return f'"{model._meta.db_table}"'  # noqa: SLF001


def prepared(model: Model, using: str, name: str, value: Any) -> Any:
    """A value as the driver wants it."""
    return _field(model, name).get_db_prep_save(value, connections[using])


def _params(model: Model, using: str, values: Mapping[str, Any]) -> Iterable[Any]:
    connection = connections[using]
    for name, value in values.items():
        if isinstance(value, Sql):
            yield from value.params
        else:
            yield _field(model, name).get_db_prep_save(value, connection)


@lru_cache(maxsize=1024)
def _update(
    model: Model, shape: tuple[tuple[str, str], ...], where: tuple[str, ...], returning: tuple[str, ...]
) -> str:
    assignments = ", ".join(f"{columns(model, [name])} = {text}" for name, text in shape)
    conditions = " AND ".join(f"{columns(model, [name])} = %s" for name in where)
    answer = f" RETURNING {columns(model, returning)}" if returning else ""
    return f"UPDATE {table(model)} SET {assignments} WHERE {conditions}{answer}"


@lru_cache(maxsize=64)
def _insert(model: Model, shape: tuple[tuple[str, str], ...], key: str) -> str:
    names, texts = columns(model, [name for name, _ in shape]), ", ".join(text for _, text in shape)
    return f"INSERT INTO {table(model)} ({names}) VALUES ({texts}) RETURNING {columns(model, [key])}"


@lru_cache(maxsize=256)
def _field(model: Model, name: str) -> models.Field[Any, Any]:
    field: models.Field[Any, Any] = model._meta.get_field(name)  # type: ignore[assignment]  # noqa: SLF001
    return field
