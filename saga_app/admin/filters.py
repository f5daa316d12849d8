"""Filters whose choices come from the code: no query reads the whole table to find out what there is."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from saga_app import messages
from saga_app.core import registry
from saga_app.models import Execution


class _FieldFilter(SimpleListFilter):
    """Executions whose field of that name is the chosen value."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Execution]) -> QuerySet[Execution]:
        """Those of the chosen value."""
        chosen = self.value()
        return queryset.filter(**{str(self.parameter_name): chosen}) if chosen else queryset


class StatusFilter(_FieldFilter):
    """By status."""

    title = _("status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Iterator[tuple[str, str]]:
        """Every status, in the order of a life."""
        return ((code, str(text)) for code, text in messages.STATUS.items())


class ReasonFilter(_FieldFilter):
    """By why it is stuck."""

    title = _("reason")
    parameter_name = "stuck_reason"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Iterator[tuple[str, str]]:
        """Every reason."""
        return ((code, str(text)) for code, text in messages.REASON.items())


class SagaFilter(_FieldFilter):
    """By saga."""

    title = _("saga")
    parameter_name = "saga"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Iterator[tuple[str, str]]:
        """The sagas this process knows."""
        return ((name, name) for name in sorted({saga.name for saga in registry.all()}))
