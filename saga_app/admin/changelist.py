"""Lists that stay quick on millions of executions: they count to a cap, and read a page in two queries."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast
from uuid import UUID

from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property

from saga_app.admin.facts import facts_of
from saga_app.models import Execution

CAP = 10_000


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts no further than CAP: beyond it nobody turns pages, and a full count reads the whole table.

    Attributes:
        more: there are more rows than the CAP that can be reached by turning pages.
    """

    more = False

    @cached_property
    def count(self) -> int:
        """How many rows there are, at most CAP."""
        rows = cast("QuerySet[Execution]", self.object_list)
        counted = rows.order_by().values("pk")[: CAP + 1].count()
        self.more = counted > CAP
        return min(counted, CAP)


class ExecutionChangeList(ChangeList):
    """A page of executions with their facts, each row leading to the run page."""

    def get_results(self, request: HttpRequest) -> None:
        """Read the page, then what the step records say of it."""
        super().get_results(request)
        self.full_result_count = self.result_count  # the count of everything is never asked for, so never shown
        self.result_list = list(self.result_list)
        facts = facts_of(self.result_list)
        for execution in self.result_list:
            execution.facts = facts[execution.pk]

    def url_for_result(self, result: Any) -> str:
        """The run page is one, whichever list led there."""
        return reverse(
            "admin:saga_app_execution_change", args=[result.pk], current_app=self.model_admin.admin_site.name
        )


def search(executions: QuerySet[Execution], term: str) -> QuerySet[Execution]:
    """The executions of exactly that id or key; both are answered by an index."""
    found = Q(key=term)
    with suppress(ValueError):  # then it is no id
        found |= Q(pk=UUID(term))
    return executions.filter(found)
