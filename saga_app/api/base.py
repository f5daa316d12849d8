"""What all resources of the API share: every policy of a view but authentication, who asks, and what they address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.http import Http404
from django.urls import reverse
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from saga_app.api import problems
from saga_app.api.pagination import NewestFirst
from saga_app.api.permissions import MayDo
from saga_app.api.requests import Closed
from saga_app.api.wire import ASCIIJSONRenderer, ProblemRenderer, StrictJSONParser
from saga_app.models import Execution
from saga_app.querysets import ExecutionQuerySet
from saga_app.store import transactions

UUID_LENGTH = 36


class SagaViewSet(GenericViewSet[Execution]):
    """One resource.

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

    def get_exception_handler(self) -> Callable[..., Response | None]:
        """Ours, on our views only."""
        return problems.handler

    def get_queryset(self) -> ExecutionQuerySet:
        """Executions where they are written, so that a program reads what it has just done."""
        return Execution.objects.using(transactions.alias())

    def execution(self, pk: str) -> Execution:
        """The one that the address names, without the values that may be large; Http404."""
        found = self.get_queryset().light().filter(pk=id_in(pk)).first()
        if found is None:
            raise Http404
        return found


def checked(body: type[Closed], request: Request) -> dict[str, Any]:
    """The request's body, or a ValidationError."""
    found = body(data=request.data)
    found.is_valid(raise_exception=True)
    return found.validated_data  # type: ignore[no-any-return]


def actor_of(request: Request) -> Any:
    """Who asks, as a user of the site's; by name alone where the site's authentication knows users without a row."""
    user, model = request.user, get_user_model()
    if isinstance(user, model):
        return user
    stranger = model(**{model.USERNAME_FIELD: user.get_username()})
    stranger.pk = None
    vars(stranger)["has_perm"] = user.has_perm  # what they may do is what the authentication said, not a table
    return stranger


def id_in(text: str) -> UUID:
    """The id in an address, in its one usual form; anything else names nothing."""
    if len(text) != UUID_LENGTH:
        raise Http404
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None


def address_of(request: Request, execution: Execution) -> str:
    """Where it is, wherever the host has mounted the API."""
    assert request.resolver_match is not None  # noqa: S101 - a view is reached through a URL
    namespace = ":".join(request.resolver_match.namespaces)
    return request.build_absolute_uri(reverse(f"{namespace}:execution-detail", args=[execution.pk]))
