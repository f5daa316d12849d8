"""UPDATE … RETURNING through the ORM: Django adapts the values, and one statement both writes and reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connections, models
from django.db.models.sql import UpdateQuery


def update_returning(
    rows: models.QuerySet[Any],
    changes: Mapping[str, Any],
    columns: Sequence[str],
    *,
    cte: tuple[str, Sequence[Any]] = ("", ()),
    also: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Update the rows of a queryset and return columns of each as they are after it.

    Args:
        rows: the queryset, filtered; its database is used.
        changes: field name → value or expression.
        columns: names of the fields to return.
        cte: a WITH clause to put before the statement, and its parameters.
        also: further SQL expressions to return, under their own text.
    """
    connection = connections[rows.db]
    query = rows.query.chain(UpdateQuery)
    query.add_update_values(dict(changes))  # type: ignore[attr-defined]
    sql, params = query.get_compiler(rows.db).as_sql()
    fields = [rows.model._meta.get_field(name) for name in columns]  # noqa: SLF001 - Django's documented Meta API
    returned = [*(connection.ops.quote_name(field.column) for field in fields), *also]
    with connection.cursor() as cursor:
        cursor.execute(f"{cte[0]}{sql} RETURNING {', '.join(returned)}", (*cte[1], *params))
        found = cursor.fetchall()
    return [
        _converted(rows, fields, row[: len(fields)]) | dict(zip(also, row[len(fields) :], strict=True)) for row in found
    ]


def _converted(rows: models.QuerySet[Any], fields: Sequence[Any], row: Sequence[Any]) -> dict[str, Any]:
    """A row as the driver returned it, each value made what its field holds in Python."""
    compiler = rows.query.get_compiler(rows.db)
    table = rows.model._meta.db_table  # noqa: SLF001
    converters = compiler.get_converters([field.get_col(table) for field in fields])
    (values,) = compiler.apply_converters([row], converters)
    return dict(zip((field.attname for field in fields), values, strict=True))
