"""Pages of executions, the newest first, without counting them."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from saga_app.api.problems import BadQuery
from saga_app.models import Execution


class Cursor(NamedTuple):
    """The execution a page begins next to, and on which side."""

    older: bool
    created_at: datetime
    pk: UUID

    def encode(self) -> str:
        """An opaque word for an address."""
        text = f"{'older' if self.older else 'newer'} {self.created_at.isoformat()} {self.pk}"
        return urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, word: str) -> Cursor:
        """Read one back; BadQuery for anything we did not write."""
        try:
            side, moment, pk = urlsafe_b64decode(word.encode("ascii") + b"==").decode("ascii").split(" ")
            created_at = datetime.fromisoformat(moment).astimezone(UTC)
            return cls({"older": True, "newer": False}[side], created_at, UUID(pk))
        except (ValueError, KeyError, OverflowError):
            raise BadQuery({"cursor": "This is no cursor of ours."}, code="invalid") from None


class NewestFirst(BasePagination):
    """Keyset pages over (created_at, id): a page costs the same however far back it is, and misses and repeats nothing.

    `next` leads to older executions, `previous` to newer ones; each is null where there are none.
    """

    page_size = 50
    max_page_size = 200

    def paginate_queryset(  # type: ignore[override] # a list cannot be narrowed
        self, queryset: QuerySet[Any], request: Request, view: APIView | None = None
    ) -> list[Any]:
        """Return the executions of the page that the request asks for."""
        self.address = request.build_absolute_uri()
        size = self._size(request.query_params.get("page_size"))
        word = request.query_params.get("cursor")
        self.cursor = None if word is None else Cursor.decode(word)
        older = self.cursor is None or self.cursor.older
        order = ("-created_at", "-pk") if older else ("created_at", "pk")
        rows = list(_beyond(queryset, self.cursor).order_by(*order)[: size + 1])  # one more: is there another page?
        more = len(rows) > size
        self.page = rows[:size] if older else rows[:size][::-1]
        self.has_older = more if older else True
        self.has_newer = self.cursor is not None if older else more
        return self.page

    def get_paginated_response(self, data: Any) -> Response:
        """Return the page with the links to its neighbours."""
        next_link = self._link(self.page[-1], older=True) if self.page and self.has_older else None
        previous = self._link(self.page[0], older=False) if self.page and self.has_newer else None
        return Response({"next": next_link, "previous": previous, "results": data})

    def _size(self, asked: str | None) -> int:
        if asked is None:
            return self.page_size
        if asked.isascii() and asked.isdigit() and len(asked) <= len(str(self.max_page_size)):
            size = int(asked)
            if 1 <= size <= self.max_page_size:
                return size
        raise BadQuery({"page_size": f"A whole number from 1 to {self.max_page_size}."}, code="invalid")

    def _link(self, execution: Execution, *, older: bool) -> str:
        cursor = Cursor(older, execution.created_at, execution.pk)
        return replace_query_param(self.address, "cursor", cursor.encode())


def _beyond(queryset: QuerySet[Any], cursor: Cursor | None) -> QuerySet[Any]:
    """Those on the far side of the cursor. The outer comparison is redundant: it is what the index can begin at."""
    if cursor is None:
        return queryset
    at, pk = cursor.created_at, cursor.pk
    if cursor.older:
        return queryset.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=pk), created_at__lte=at)
    return queryset.filter(Q(created_at__gt=at) | Q(created_at=at, pk__gt=pk), created_at__gte=at)
