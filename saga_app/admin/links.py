"""Filters that only links set: they stand beside the list while they are on, so that they can be taken off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

from django.contrib.admin import ModelAdmin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy

from saga_app.admin.filters import ChoiceFilter
from saga_app.models import Execution
from saga_app.querysets import ExecutionQuerySet

CAUSE = re.compile(r"[0-9a-f]{1,32}")
LONGEST_NUMBER = 10  # digits of a revision
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)  # that every zone can show


class LinkedFilter(ChoiceFilter):
    """The value in the address is the only choice; one that cannot be meant finds nothing."""

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Execution]) -> Iterator[tuple[str, str]]:
        """That value, while there is one."""
        if value := self.value():
            yield value, self.shown(value) or "?"

    def chosen(self, executions: ExecutionQuerySet, value: str) -> QuerySet[Execution]:
        """Those it is about."""
        return self.of(executions, value) if self.shown(value) else executions.none()

    def shown(self, value: str) -> str:
        """The value as it is read; empty when it cannot be one."""
        raise NotImplementedError

    def of(self, executions: ExecutionQuerySet, value: str) -> QuerySet[Execution]:
        """Those whose field of the filter's name is that value."""
        return executions.filter(**{str(self.parameter_name): value})


class CauseFilter(LinkedFilter):
    """By cause: the group on the overview."""

    title = gettext_lazy("cause")
    parameter_name = "cause"

    def shown(self, value: str) -> str:
        """The hash."""
        return value if CAUSE.fullmatch(value) else ""


class ParentFilter(LinkedFilter):
    """The children of one execution."""

    title = gettext_lazy("parent")
    parameter_name = "parent__id__exact"

    def shown(self, value: str) -> str:
        """Its id."""
        try:
            return str(UUID(value))
        except ValueError:
            return ""


class RevisionFilter(LinkedFilter):
    """Those of one revision of their sagas that have not ended: the index on open executions has them."""

    title = gettext_lazy("revision, not ended")
    parameter_name = "revision"

    def shown(self, value: str) -> str:
        """The number."""
        return value if value.isascii() and value.isdecimal() and 0 < len(value) < LONGEST_NUMBER else ""

    def of(self, executions: ExecutionQuerySet, value: str) -> QuerySet[Execution]:
        """Those."""
        return executions.open().filter(revision=int(value))


class BeforeFilter(LinkedFilter):
    """Created up to a moment: how the list goes on where its pages end."""

    title = gettext_lazy("created up to")
    parameter_name = "before"

    def shown(self, value: str) -> str:
        """The moment, in the reader's zone."""
        at = _moment(value)
        if at is None or not EARLIEST < at < LATEST:
            return ""
        return f"{timezone.localtime(at, timezone.get_current_timezone()):%Y-%m-%d %H:%M:%S}"

    def of(self, executions: ExecutionQuerySet, value: str) -> QuerySet[Execution]:
        """Those; with that moment itself, since several may have been created in it."""
        return executions.filter(created_at__lte=_moment(value))


def _moment(value: str) -> datetime | None:
    try:
        at = parse_datetime(value)
        return at.astimezone(UTC) if at and at.tzinfo else None
    except (ValueError, OverflowError):  # no such day, or none that every zone has
        return None
