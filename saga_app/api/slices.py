"""Slices of what belongs to one execution, in the order of a number that only grows: whoever has seen one asks on."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from saga_app.api.problems import BadQuery

SIZE = 50
MOST = 200
MOST_LARGE = 20  # rows with values that may be a megabyte each
LARGEST = 2**63 - 1


class Slice:
    """What the request asks for: `after` (a number; without it from the beginning), `page_size`, `include`.

    Attributes:
        included: the large parts that are asked for.
    """

    def __init__(self, request: Request, column: str, large: tuple[str, ...] = ()) -> None:
        query = request.query_params
        self.address, self.column = request.build_absolute_uri(), column
        self.included = _included(query.get("include"), large)
        most = MOST_LARGE if self.included else MOST
        self.size = whole(query.get("page_size"), "page_size", 1, most, otherwise=min(SIZE, most))
        self.after = whole(query.get("after"), "after", 0, LARGEST, otherwise=-1)

    def of(self, rows: QuerySet[Any]) -> list[Any]:
        """The rows of it, one query."""
        found = rows.filter(**{f"{self.column}__gt": self.after}).order_by(self.column)
        self.rows = list(found[: self.size + 1])  # one more: is there another?
        return self.rows[: self.size]

    def response(self, results: list[Any]) -> Response:
        """The slice, with the link to the next one; null where there is none yet."""
        more = len(self.rows) > self.size
        last = getattr(self.rows[self.size - 1], self.column) if more else None
        link = replace_query_param(self.address, "after", last) if more else None
        return Response({"next": link, "results": results})


def whole(text: str | None, name: str, least: int, most: int, *, otherwise: int) -> int:
    """A whole number of the query; BadQuery for anything else."""
    if text is None:
        return otherwise
    if text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most:
        return int(text)
    raise BadQuery({name: f"A whole number from {least} to {most}."}, code="invalid")


def _included(text: str | None, large: tuple[str, ...]) -> frozenset[str]:
    if text is None or not large:
        return frozenset()
    asked = frozenset(text.split(","))
    if not asked <= set(large):
        raise BadQuery({"include": f"Some of: {', '.join(large)}; with commas between them."}, code="invalid")
    return asked
