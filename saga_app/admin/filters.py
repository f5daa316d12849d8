"""What the lists of executions can be narrowed by. The choices come from the code: none is looked for in the table.

Each is answered by an index alone or together with the list's order. What only the open ones are asked by says so: they
are few, and have an index of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import cast

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from saga_app import clock, messages
from saga_app.core import registry
from saga_app.core.failures import readable
from saga_app.models import Execution, SagaVersion
from saga_app.querysets import ExecutionQuerySet

Choices = Iterator[tuple[str, str]]
MINUTE, HOUR, DAY, WEEK = 60, 3600, 86_400, 604_800  # seconds


class ChoiceFilter(SimpleListFilter):
    """Executions by one of some choices. An address with another value finds nothing, and never an error."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Execution]) -> QuerySet[Execution]:
        """Those of the chosen value."""
        value = self.value()
        if not value:
            return queryset
        if value not in dict(self.lookup_choices):
            return queryset.none()
        return self.chosen(cast("ExecutionQuerySet", queryset), value)

    def chosen(self, executions: ExecutionQuerySet, value: str) -> QuerySet[Execution]:
        """Those whose field of the filter's name is that value."""
        return executions.filter(**{str(self.parameter_name): value})


class StatusFilter(ChoiceFilter):
    """By status."""

    title = gettext_lazy("status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Choices:
        """All that have not ended, and every status, in the order of a life."""
        yield "open", _("not ended")
        yield from ((code, str(text)) for code, text in messages.STATUS.items())

    def chosen(self, executions: ExecutionQuerySet, value: str) -> QuerySet[Execution]:
        """Those in that status, or in an open one."""
        return executions.open() if value == "open" else executions.filter(status=value)


class ReasonFilter(ChoiceFilter):
    """By why it is stuck."""

    title = gettext_lazy("reason")
    parameter_name = "stuck_reason"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Choices:
        """Every reason."""
        return ((code, str(text)) for code, text in messages.REASON.items())


class SagaFilter(ChoiceFilter):
    """By saga."""

    title = gettext_lazy("saga")
    parameter_name = "saga"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Choices:
        """The sagas this process knows, and those that once ran: their code may be gone, their executions are not."""
        known = {saga.name for saga in registry.all()}
        ran = SagaVersion.objects.order_by().values_list("saga", flat=True).distinct()
        return ((name, readable(name)) for name in sorted({*known, *ran}))


class CreatedFilter(ChoiceFilter):
    """By when it was started."""

    title = gettext_lazy("created")
    parameter_name = "created"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Choices:
        """The last hour, and longer."""
        return ((str(seconds), _("in the last %s") % messages.span(seconds)) for seconds in (HOUR, DAY, WEEK))

    def chosen(self, executions: ExecutionQuerySet, value: str) -> QuerySet[Execution]:
        """Those started since."""
        return executions.filter(created_at__gte=clock.now() - timedelta(seconds=int(value)))


class AgeFilter(ChoiceFilter):
    """By how long nothing has become of it: what has not ended, and has the status it has since then."""

    title = gettext_lazy("age in status")
    parameter_name = "age"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Choices:
        """From a minute on."""
        lengths = (MINUTE, 10 * MINUTE, HOUR, DAY, WEEK)
        return ((str(seconds), _("not ended, over %s") % messages.span(seconds)) for seconds in lengths)

    def chosen(self, executions: ExecutionQuerySet, value: str) -> QuerySet[Execution]:
        """The open ones that have been so for at least so long."""
        return executions.open().filter(status_at__lte=clock.now() - timedelta(seconds=int(value)))


class DirectionFilter(ChoiceFilter):
    """By the way it goes."""

    title = gettext_lazy("direction")
    parameter_name = "direction"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Choices:
        """There are two."""
        yield "forward", _("going forward")
        yield "back", _("going back")

    def chosen(self, executions: ExecutionQuerySet, value: str) -> QuerySet[Execution]:
        """The open ones of that direction: what has ended goes nowhere."""
        return executions.open().filter(unwinding_at__isnull=value == "forward")


class ResumedFilter(ChoiceFilter):
    """By whether an operator has resumed it: what is stuck again tells that the cause was not mended."""

    title = gettext_lazy("resumed before")
    parameter_name = "resumed"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Choices:
        """Whether."""
        yield "yes", _("not ended, resumed before")
        yield "no", _("not ended, never resumed")

    def chosen(self, executions: ExecutionQuerySet, value: str) -> QuerySet[Execution]:
        """The open ones that were, or were not."""
        opened = executions.open()
        return opened.filter(resume_count__gt=0) if value == "yes" else opened.filter(resume_count=0)


class QueueFilter(ChoiceFilter):
    """By the queue its workers look into, where the sagas name any."""

    title = gettext_lazy("queue")
    parameter_name = "queue"
    DEFAULT = "-"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Choices:
        """The queues of the sagas this process knows, and the one of all others."""
        named = sorted({saga.queue for saga in registry.all() if saga.queue})
        if named or self.value():
            yield self.DEFAULT, _("the default one, not ended")
        yield from ((queue, _("%s, not ended") % readable(queue)) for queue in named)

    def chosen(self, executions: ExecutionQuerySet, value: str) -> QuerySet[Execution]:
        """The open ones: of what has ended, nobody asks who would drive it."""
        return executions.open().filter(queue="" if value == self.DEFAULT else value)
