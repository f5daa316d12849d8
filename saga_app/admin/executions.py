"""The admin of executions: two lists, the run page, and a confirm page for each verb. It edits nothing."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, re_path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from saga_app.admin import around, causes, download, runpage, verbs
from saga_app.admin.actions import BatchActions
from saga_app.admin.changelist import CappedPaginator, ExecutionChangeList
from saga_app.admin.columns import Columns
from saga_app.admin.filters import (
    AgeFilter,
    CreatedFilter,
    DirectionFilter,
    QueueFilter,
    ReasonFilter,
    ResumedFilter,
    SagaFilter,
    StatusFilter,
)
from saga_app.admin.gates import GATE_VERBS
from saga_app.admin.links import BeforeFilter, CauseFilter, ParentFilter, RevisionFilter
from saga_app.admin.pages import Crumb
from saga_app.admin.search import HELP, search
from saga_app.core.failures import readable
from saga_app.core.status import Status
from saga_app.models import Execution, StuckExecution
from saga_app.querysets import ExecutionQuerySet


class ReadOnlyAdmin(Columns, BatchActions):
    """A list of executions, each leading to its run page."""

    change_list_template = "admin/saga_app/execution/list.html"
    list_display_links = ("name",)
    list_per_page = 50
    paginator = CappedPaginator
    search_fields = ("id__exact",)  # this shows the box; what it finds, get_search_results says
    search_help_text = HELP
    show_facets = admin.ShowFacets.NEVER
    show_full_result_count = False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Nothing but our filters. Others would read the whole table, or find out what pages do not show."""
        return lookup in {getattr(one, "parameter_name", one) for one in self.list_filter}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ExecutionChangeList]:
        """The list that reads a page's facts."""
        return ExecutionChangeList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Execution]:
        """Without what may be large: a list shows none of it."""
        return super().get_queryset(request).defer("input_text", "output_text", "error_text")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Execution], search_term: str
    ) -> tuple[QuerySet[Execution], bool]:
        """What the help text says."""
        return (search(cast("ExecutionQuerySet", queryset), search_term) if search_term.strip() else queryset), False


@admin.register(Execution)
class ExecutionAdmin(ReadOnlyAdmin):
    """All executions, the run page, the verbs."""

    list_display = ("state", "of_saga", "name", "step", "attempts", "since", "due", "created")
    list_filter = (
        StatusFilter, SagaFilter, AgeFilter, DirectionFilter, ResumedFilter, QueueFilter, CreatedFilter,
        BeforeFilter, ParentFilter, RevisionFilter,
    )  # fmt: skip
    ordering = ("-created_at", "-pk")
    sortable_by = ("created",)

    def get_urls(self) -> list[URLPattern]:
        """The confirm pages come first: Django's own last address takes everything."""
        view = self.admin_site.admin_view(self.verb_view)
        return [
            path("<uuid:object_id>/verb/<slug:verb>/", view, name="saga_app_execution_verb"),
            path("<uuid:object_id>/json/", self.admin_site.admin_view(self.json_view), name="saga_app_execution_json"),
            *super().get_urls(),
        ]

    def change_view(  # type: ignore[override]
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """The run page. It stands at the address of Django's change form, so that every link to an execution fits."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        execution = self.execution(request, unquote(object_id))
        if execution is None:
            return self._gone(request, object_id)
        context = {**self.run_context(request, execution), **runpage.context(request, execution)}
        if not context["then"].is_past:
            buttons, refused = verbs.offered(request, execution, context["facts"])
            told = [(", ".join(words), why_not) for why_not, words in refused.items()]
            context |= around.context(request, execution) | {"buttons": buttons, "refused": told}
        context |= extra_context or {}
        return TemplateResponse(request, "admin/saga_app/execution/run.html", context)

    def verb_view(self, request: HttpRequest, object_id: UUID, verb: str) -> HttpResponseBase:
        """The confirm page of a verb."""
        if verb not in (*verbs.OFFERED, *GATE_VERBS):
            raise Http404
        if not self.has_view_permission(request):
            raise PermissionDenied
        execution = self.execution(request, object_id)
        if execution is None:
            return self._gone(request, object_id)
        return verbs.confirm(self, request, execution, verb)

    def json_view(self, request: HttpRequest, object_id: UUID) -> HttpResponseBase:
        """Everything that is kept of it, as a file."""
        return download.view(self, request, object_id)

    def execution(self, request: HttpRequest, pk: str | UUID) -> Execution | None:
        """The execution as it is now, if this user may see it. Narrow it for tenants."""
        return runpage.find(pk)

    def _gone(self, request: HttpRequest, pk: str | UUID) -> HttpResponseBase:
        """Say so, and show what there is instead."""
        self.message_user(request, _("There is no execution “%(id)s”.") % {"id": pk}, messages.WARNING)
        return HttpResponseRedirect(reverse("admin:saga_app_execution_changelist", current_app=self.admin_site.name))

    def run_context(self, request: HttpRequest, execution: Execution, here: str = "") -> dict[str, Any]:
        """What every page about one execution needs, `here` being the last crumb after the execution's own."""
        run, run_url = readable(str(execution)), verbs.run_url(self, execution.pk)
        crumbs: list[Crumb] = [(run_url, run), ("", here)] if here else [("", run)]
        return {**self.page_context(request, str(execution), crumbs), "execution": execution, "run_url": run_url}


@admin.register(StuckExecution)
class StuckExecutionAdmin(ReadOnlyAdmin):
    """The executions that wait for an operator, the latest first.

    Whoever is called at night is called because of what got stuck a moment ago; what has been stuck for weeks was seen
    by day, and would fill the first page. For that one there are the other order, and the filter by age.
    """

    list_display = ("state", "of_saga", "name", "step", "attempts", "since", "created")
    list_filter = (ReasonFilter, SagaFilter, AgeFilter, DirectionFilter, ResumedFilter, CauseFilter)
    ordering = ("-status_at", "-pk")
    sortable_by = ("since", "created")

    def get_urls(self) -> list[URLPattern]:
        """The page of a cause, whose hash is in its address."""
        view = self.admin_site.admin_view(self.cause_view)
        return [re_path(r"^cause/(?P<cause>[0-9a-f]{16})/$", view, name="saga_app_cause"), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Execution]:
        """The stuck ones."""
        return super().get_queryset(request).filter(status=Status.STUCK)

    def noted(self, execution: Execution, text: str) -> SafeString | str:
        """The reason leads to everything that is stuck of the same cause."""
        return causes.link(self, execution, text)

    def cause_view(self, request: HttpRequest, cause: str) -> HttpResponseBase:
        """What is stuck of one cause."""
        return causes.view(self, request, cause)

    def change_view(  # type: ignore[override]
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """There is one run page, whichever list led there."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return HttpResponseRedirect(
            reverse("admin:saga_app_execution_change", args=[object_id], current_app=self.admin_site.name)
        )
