"""The executions resource: each method checks the request, asks one verb or one read, and shows what is true now."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.http import Http404
from django.urls import reverse
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from saga_app import engine
from saga_app.api import problems, serializers
from saga_app.api.pagination import NewestFirst
from saga_app.api.permissions import MayDo
from saga_app.api.wire import ASCIIJSONRenderer, ProblemRenderer, StrictJSONParser
from saga_app.core import registry
from saga_app.core.errors import InputError, SagaError, UnsupportedValue
from saga_app.core.inputs import WHOLE
from saga_app.core.saga import Saga
from saga_app.models import Execution
from saga_app.querysets import ExecutionQuerySet
from saga_app.store import transactions

logger = logging.getLogger("saga_app")

UUID_LENGTH = 36


class ExecutionViewSet(GenericViewSet[Execution]):
    """List, retrieve, start, resume, abandon, cancel, signal.

    All policies but authentication are set here: the host's REST_FRAMEWORK setting neither changes this API nor is
    changed by it.
    """

    permission_classes = [MayDo]
    throttle_classes = []
    parser_classes = [StrictJSONParser]
    renderer_classes = [ASCIIJSONRenderer, ProblemRenderer]
    content_negotiation_class = DefaultContentNegotiation
    filter_backends = []
    pagination_class = NewestFirst
    versioning_class = None
    metadata_class = None
    serializer_class = serializers.Detail

    def get_exception_handler(self) -> Callable[..., Response | None]:
        """Ours, on our views only."""
        return problems.handler

    def get_queryset(self) -> ExecutionQuerySet:
        """Executions where they are written, so that a program reads what it has just done."""
        return Execution.objects.using(transactions.alias())

    def list(self, request: Request) -> Response:
        """Executions, the newest first, without input and output.

        Query: `saga`, `status`, `stuck_reason`, `key` (exact); `cursor` (from `next`, `previous`), `page_size` (1 to
        200, else 50). 400 `invalid_query` for values that no execution can have.
        """
        query = serializers.Query(data=request.query_params.dict())  # an empty value is a value
        if not query.is_valid():
            raise problems.BadQuery(query.errors)
        rows = self.get_queryset().light().filter(**query.validated_data)
        if "stuck_reason" in query.validated_data:
            rows = rows.stuck()  # nothing else has one, and those that are stuck have an index of their own
        page = self.paginate_queryset(rows)
        return self.get_paginated_response([serializers.Summary(row).data for row in page or ()])

    def retrieve(self, request: Request, pk: str) -> Response:
        """One execution, with input and output. 404 `not_found`."""
        execution = self.get_queryset().filter(pk=_id(pk)).first()
        if execution is None:
            raise Http404
        return Response(serializers.Detail(execution).data)

    def start(self, request: Request) -> Response:
        """Start a saga: `saga` (its name; the highest revision), `input` (an object), `key` (or null).

        201 with `Location`, or 200 with the same execution when the key had named it before. 400 `invalid`,
        `unknown_saga`, `invalid_input`, `unsupported_value`; 409 `key_conflict` when the key names one with another
        input.
        """
        asked = _checked(serializers.StartRequest, request)
        saga = registry.latest(asked["saga"])
        execution = engine.start(saga, _converted(saga, asked["input"]), key=asked["key"], actor=_actor(request))
        code = status.HTTP_201_CREATED if execution.is_new else status.HTTP_200_OK
        return Response(serializers.Summary(execution).data, code, headers={"Location": _address(request, execution)})

    def resume(self, request: Request, pk: str) -> Response:
        """Try again what stopped. `version` as seen, `reason`. 409 with the refusal's code; 404."""
        return self._act(engine.resume, serializers.PlanRequest, request, pk)

    def abandon(self, request: Request, pk: str) -> Response:
        """Give up what is stuck. `version` as seen, `reason` (else 400). 409 with the refusal's code; 404."""
        return self._act(engine.abandon, serializers.PlanRequest, request, pk)

    def cancel(self, request: Request, pk: str) -> Response:
        """Ask it to stop and undo what it did. `reason`; `version` if it matters. 409 with the refusal's code; 404."""
        return self._act(engine.cancel, serializers.VerbRequest, request, pk)

    def signal(self, request: Request, pk: str) -> Response:
        """Send a signal: `name`, or a gate's path; `payload`, any JSON value; `key`, sent again it is stored once.

        409 with the refusal's code, as for a name that no gate waits for; 404.
        """
        asked = _checked(serializers.SignalRequest, request)
        try:
            execution = engine.signal(_id(pk), actor=_actor(request), **asked)
        except UnsupportedValue as error:
            raise ValidationError({"payload": error.reason}, code="unsupported_value") from error
        except InputError as error:
            raise ValidationError(dict(error.errors), code="invalid") from error
        return Response(serializers.Summary(execution).data)

    def _act(
        self, verb: Callable[..., Execution], body: type[serializers.VerbRequest], request: Request, pk: str
    ) -> Response:
        asked: dict[str, Any] = _checked(body, request)
        return Response(serializers.Summary(verb(_id(pk), actor=_actor(request), **asked)).data)


def _checked(body: type[serializers.Closed], request: Request) -> dict[str, Any]:
    """The request's body, or a ValidationError."""
    checked = body(data=request.data)
    checked.is_valid(raise_exception=True)
    return checked.validated_data  # type: ignore[no-any-return]


def _converted(saga: Saga[Any], given: dict[str, Any]) -> dict[str, Any]:
    """The input as the saga takes it. A form may break on JSON it never expected, and that is no fault of ours."""
    try:
        return saga.convert(given)
    except SagaError:
        raise
    except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
        logger.warning("The input of saga %r broke on what the API was given.", saga.name, exc_info=True)
        raise InputError(saga.name, {WHOLE: f"cannot be read: {type(error).__name__}"}) from error


def _actor(request: Request) -> Any:
    """Who asks, as a user of the site's; by name alone where the site's authentication knows users without a row."""
    user, model = request.user, get_user_model()
    if isinstance(user, model):
        return user
    stranger = model(**{model.USERNAME_FIELD: user.get_username()})
    stranger.pk = None
    return stranger


def _id(text: str) -> UUID:
    """The id in an address, in its one usual form; anything else names nothing."""
    if len(text) != UUID_LENGTH:
        raise Http404
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None


def _address(request: Request, execution: Execution) -> str:
    """Where it is, wherever the host has mounted the API."""
    assert request.resolver_match is not None  # noqa: S101 - a view is reached through a URL
    namespace = ":".join(request.resolver_match.namespaces)
    return request.build_absolute_uri(reverse(f"{namespace}:execution-detail", args=[execution.pk]))
