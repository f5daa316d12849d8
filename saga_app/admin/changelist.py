"""Lists that stay quick on millions of executions: they count to a cap, and read a page in two queries."""

from __future__ import annotations

from datetime import UTC
from typing import Any, cast

from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.db.models.expressions import Combinable
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
        """How many rows there are, at most CAP.

        They are counted in the order of the list, by its first column alone: the index that has the order has them
        all. Without an order the database would begin to read the table.
        """
        rows = cast("QuerySet[Execution]", self.object_list)
        first = rows.query.order_by[0] if rows.query.order_by else "pk"
        column = first.lstrip("-") if isinstance(first, str) else cast("Any", first).expression.name
        counted: int = rows.order_by(first).values(column)[: CAP + 1].count()
        self.more = counted > CAP
        return min(counted, CAP)


class ExecutionChangeList(ChangeList):
    """A page of executions with their facts, each row leading to the run page."""

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Execution]) -> list[str | Combinable]:
        """By one column, and then by the id in the same direction, which is how the indexes have it."""
        first = str(super().get_ordering(request, queryset)[0])
        return [first, "-pk" if first.startswith("-") else "pk"]

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

    def older(self) -> str:
        """How the list goes on behind the last page that can be reached; empty where it does not, or not by date."""
        last = self.paginator.more and self.page_num == self.paginator.num_pages and self.result_list
        newest_first = list(self.queryset.query.order_by)[:1] == ["-created_at"]
        if not (last and newest_first):
            return ""
        at = self.result_list[-1].created_at.astimezone(UTC)
        return self.get_query_string({"before": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}"}, ["p"])
