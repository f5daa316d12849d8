"""The list of approvals: what waits for the one who looks, and what waits for somebody else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.contrib import admin
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.db.models.functions import Left, Length
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from saga_app import clock, messages
from saga_app.admin.approvals import decidable, gates, node_of, open_approvals
from saga_app.admin.changelist import CappedPaginator
from saga_app.admin.filters import ChoiceFilter
from saga_app.admin.pages import ViewOnly
from saga_app.admin.short import in_short
from saga_app.core import registry
from saga_app.core.approvals import Approval
from saga_app.models import WaitingApproval
from saga_app.templatetags.saga_app import saga_ago, saga_moment

READ = 2_000  # characters of an input that are read to show its beginning
LARGE = ("arguments_text", "output_text", "error_text", "attempts_text")


@dataclass(frozen=True, slots=True)
class Seen:
    """One approval as the one who looks sees it.

    Attributes:
        node: what its saga says; None where this process does not know the saga.
        title: of the saga.
        given: what the execution was started with, in short.
        why_not: why the one who looks cannot decide; empty where they can.
    """

    node: Approval | None
    title: str
    given: str
    why_not: str


class WhoseFilter(SimpleListFilter):
    """Those that wait for the one who looks, unless all are asked for."""

    title = gettext_lazy("for whom")
    parameter_name = "whose"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Iterator[tuple[str, str]]:
        """All is the choice; without it one's own are shown."""
        yield "all", _("all that are open")

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Django calls the first choice “All”, which here it is not."""
        mine, *others = super().choices(changelist)
        yield {**mine, "display": _("waiting for me")}
        yield from others

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """One's own, or all."""
        return queryset if self.value() == "all" else decidable(queryset, request.user)


class SagaWithGatesFilter(ChoiceFilter):
    """By saga: those that have approvals."""

    title = gettext_lazy("saga")
    parameter_name = "saga"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> Iterator[tuple[str, str]]:
        """From the code."""
        return ((name, name) for name in sorted({saga.name for saga, _node in gates()}))

    def chosen(self, executions: QuerySet[Any], value: str) -> QuerySet[Any]:
        """The approvals in executions of the saga."""
        return executions.filter(execution__saga=value)


class ApprovalChangeList(ChangeList):
    """A page of approvals, each with what the one who looks may do about it."""

    def get_results(self, request: HttpRequest) -> None:
        """Read the page, and ask the sagas."""
        super().get_results(request)
        self.full_result_count = self.result_count
        self.result_list = list(self.result_list)
        for row in self.result_list:
            row.seen = _seen(row, request.user)

    def url_for_result(self, result: Any) -> str:
        """The page of its execution."""
        site = self.model_admin.admin_site.name
        return reverse("admin:saga_app_execution_change", args=[result.execution_id], current_app=site)


@admin.register(WaitingApproval)
class WaitingApprovalAdmin(ViewOnly):
    """Approvals that nobody has decided yet."""

    change_list_template = "admin/saga_app/approval/change_list.html"
    list_display = ("gate", "of", "decide", "given", "since", "until", "asks_for")
    list_display_links = ("of",)
    list_filter = (WhoseFilter, SagaWithGatesFilter)
    list_per_page = 50
    paginator = CappedPaginator
    show_facets = admin.ShowFacets.NEVER
    show_full_result_count = False
    sortable_by = ()

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Nothing but our filters."""
        return lookup in (WhoseFilter.parameter_name, SagaWithGatesFilter.parameter_name)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:  # type: ignore[override]
        """The list, under its name."""
        return super().changelist_view(request, {"title": _("Approvals"), **(extra_context or {})})

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ApprovalChangeList]:
        """The list that asks the sagas."""
        return ApprovalChangeList

    def get_ordering(self, request: HttpRequest) -> tuple[Any, ...]:
        """Whose time ends first is first; then what has waited longest."""
        return tuple(open_approvals(request.user).query.order_by)

    def get_queryset(self, request: HttpRequest) -> QuerySet[WaitingApproval]:
        """With its execution, without what may be large but for the beginning of the input."""
        large = (*LARGE, *(f"execution__{name}" for name in ("input_text", "output_text", "error_text")))
        text = "execution__input_text"
        rows = open_approvals(request.user).select_related("execution").defer(*large)
        return rows.annotate(input_shown=Left(text, READ), input_length=Length(text))

    def change_view(  # type: ignore[override]
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """An approval is seen on the page of its execution."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        site = self.admin_site.name
        found = open_approvals(request.user).filter(pk=object_id).first() if object_id.isdecimal() else None
        if found is None:
            return HttpResponseRedirect(reverse("admin:saga_app_waitingapproval_changelist", current_app=site))
        return HttpResponseRedirect(
            reverse("admin:saga_app_execution_change", args=[found.execution_id], current_app=site)
        )

    @admin.display(description=gettext_lazy("decision"))
    def gate(self, row: WaitingApproval) -> SafeString:
        """Where in the saga it stands, and what the saga is called."""
        return format_html('<bdi>{}</bdi> <span class="saga-note"><bdi>{}</bdi></span>', row.path, seen(row).title)

    @admin.display(description=gettext_lazy("execution"))
    def of(self, row: WaitingApproval) -> SafeString:
        """Saga and key; the end of the id where it has no key."""
        key = row.execution.key or f"…{str(row.execution_id)[-12:]}"
        return format_html('<bdi>{}</bdi> <bdi class="saga-key">{}</bdi>', row.execution.saga, key)

    @admin.display(description=gettext_lazy("input"))
    def given(self, row: WaitingApproval) -> SafeString:
        """What the execution was started with, in short."""
        return format_html('<bdi class="saga-code">{}</bdi>', seen(row).given or "–")

    @admin.display(description=gettext_lazy("waits for"))
    def since(self, row: WaitingApproval) -> SafeString | str:
        """How long it has been waiting."""
        return saga_ago(row.started_at)

    @admin.display(description=gettext_lazy("until"))
    def until(self, row: WaitingApproval) -> SafeString | str:
        """When its time is up."""
        return saga_moment(row.due_at) if row.due_at else _("no time is set")

    @admin.display(description=gettext_lazy("permission"))
    def asks_for(self, row: WaitingApproval) -> SafeString | str:
        """What who decides has to have, and be."""
        node = seen(row).node
        if node is None:
            return "–"
        extra = _("somebody else than who started it") if node.four_eyes else ""
        return format_html(
            '<bdi class="saga-code">{}</bdi> <span class="saga-note">{}</span>', node.permission or "–", extra
        )

    @admin.display(description=gettext_lazy("you can"))
    def decide(self, row: WaitingApproval) -> SafeString:
        """The pages on which it is decided; or why this user cannot."""
        if seen(row).why_not:
            return format_html('<span class="saga-note">{}</span>', seen(row).why_not)
        at = f"?gate={quote(row.path, safe='')}"
        verbs = [
            reverse("admin:saga_app_execution_verb", args=[row.execution_id, verb], current_app=self.admin_site.name)
            for verb in ("approve", "reject")
        ]
        return format_html(
            '<a class="saga-door" href="{}{}">{}</a> <a class="saga-door" href="{}{}">{}</a>',
            verbs[0], at, _("Approve…"), verbs[1], at, _("Reject…"),
        )  # fmt: skip


def seen(row: WaitingApproval) -> Seen:
    """What the change list found out."""
    return row.seen  # type: ignore[attr-defined, no-any-return]


def _seen(row: Any, user: Any) -> Seen:
    saga, node = registry.get(row.execution.saga, row.execution.revision), node_of(row)
    return Seen(
        node=node,
        title=saga.title if saga else "",
        given=in_short(row.input_shown, row.input_length),
        why_not=_why_not(row, node, user),
    )


def _why_not(row: Any, node: Approval | None, user: Any) -> str:
    if node is None:
        return messages.sentence("unknown_saga")
    if node.permission is not None and not user.has_perm(node.permission):
        return _("You do not have the permission “%s”.") % node.permission
    if node.four_eyes and row.started_by_me:
        return messages.sentence("four_eyes", {"gate": row.path})
    if row.due_at is not None and row.due_at < clock.now():
        return _("Its time is up.")
    return ""
