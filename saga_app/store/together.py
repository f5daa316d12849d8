"""Several reads as one statement, for pages that may ask little. The ORM joins limited parts on PostgreSQL alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db import connections
from django.db.models import QuerySet


class Part(NamedTuple):
    """One of the reads.

    Attributes:
        text: what is selected of it, `{}` standing for the rows; our own text, with columns as many as the others'.
        rows: the rows, of which the names are those of values().
        params: of the placeholders in the text that come before the rows.
    """

    text: str
    rows: QuerySet[Any, Any]
    params: tuple[Any, ...] = ()


def read(using: str, parts: Iterable[Part]) -> list[tuple[Any, ...]]:
    """What they find, part by part, as the driver returns it."""
    texts: list[str] = []
    params: list[Any] = []
    for part in parts:
        rows, inner = part.rows.query.get_compiler(using).as_sql()
        texts.append(part.text.format(f"({rows}) AS found"))
        params += [*part.params, *inner]
    with connections[using].cursor() as cursor:
        cursor.execute(" UNION ALL ".join(texts), params)
        return list(cursor.fetchall())
