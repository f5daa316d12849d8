"""The executions: listed, read, started."""

from __future__ import annotations

import logging
from typing import Any

from django.http import Http404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from saga_app import engine
from saga_app.api import problems, requests, serializers
from saga_app.api.base import SagaViewSet, actor_of, address_of, checked, id_in
from saga_app.core import registry
from saga_app.core.errors import InputError, SagaError
from saga_app.core.inputs import WHOLE
from saga_app.core.saga import Saga

logger = logging.getLogger("saga_app")


class ExecutionViewSet(SagaViewSet):
    """List, retrieve, start."""

    serializer_class = serializers.Detail

    def list(self, request: Request) -> Response:
        """Executions, the newest first, without input and output.

        Query: `saga`, `status`, `stuck_reason`, `key` (exact); `cursor` (from `next`, `previous`), `page_size` (1 to
        200, else 50). 400 `invalid_query` for values that no execution can have.
        """
        query = requests.Query(data=request.query_params.dict())  # an empty value is a value
        if not query.is_valid():
            raise problems.BadQuery(query.errors)
        rows = self.get_queryset().light().filter(**query.validated_data)
        if "stuck_reason" in query.validated_data:
            rows = rows.stuck()  # nothing else has one, and those that are stuck have an index of their own
        page = self.paginate_queryset(rows)
        return self.get_paginated_response([serializers.Summary(row).data for row in page or ()])

    def retrieve(self, request: Request, pk: str) -> Response:
        """One execution, with input and output. 404 `not_found`."""
        execution = self.get_queryset().filter(pk=id_in(pk)).first()
        if execution is None:
            raise Http404
        return Response(serializers.Detail(execution).data)

    def start(self, request: Request) -> Response:
        """Start a saga: `saga` (its name; the highest revision), `input` (an object), `key` (or null).

        201 with `Location`, or 200 with the same execution when the key had named it before. 400 `invalid`,
        `unknown_saga`, `invalid_input`, `unsupported_value`; 409 `key_conflict` when the key names one with another
        input.
        """
        asked = checked(requests.StartRequest, request)
        saga = registry.latest(asked["saga"])
        execution = engine.start(saga, _converted(saga, asked["input"]), key=asked["key"], actor=actor_of(request))
        code = status.HTTP_201_CREATED if execution.is_new else status.HTTP_200_OK
        return Response(serializers.Summary(execution).data, code, headers={"Location": address_of(request, execution)})


def _converted(saga: Saga[Any], given: dict[str, Any]) -> dict[str, Any]:
    """The input as the saga takes it. A form may break on JSON it never expected, and that is no fault of ours."""
    try:
        return saga.convert(given)
    except SagaError:
        raise
    except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
        logger.warning("The input of saga %r broke on what the API was given.", saga.name, exc_info=True)
        raise InputError(saga.name, {WHOLE: f"cannot be read: {type(error).__name__}"}) from error
