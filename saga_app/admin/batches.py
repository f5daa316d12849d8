"""The admin of batches: the list, the page of each, and what may be done with it: begin, pause, go on, cancel."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.contrib import messages as flash
from django.contrib.admin import ShowFacets, display, register
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from saga_app import batches, messages
from saga_app.admin import batch_page
from saga_app.admin.batch_forms import ActForm, BeginForm
from saga_app.admin.batch_page import batch_url, needed
from saga_app.admin.changelist import CappedPaginator
from saga_app.admin.pages import ViewOnly
from saga_app.core.errors import SagaError
from saga_app.core.failures import readable
from saga_app.models import OperatorBatch
from saga_app.store.transactions import alias
from saga_app.templatetags.saga_app import saga_moment

ACTS = ("begin", "discard", "pause", "go_on", "cancel")


def begin_url(site: str, batch: OperatorBatch) -> str:
    """Where a draft is shown, and begun."""
    return batch_url(site, batch)


@register(OperatorBatch)
class OperatorBatchAdmin(ViewOnly):
    """Batches, the newest first."""

    change_list_template = "admin/saga_app/batch/change_list.html"
    list_display = ("what", "state", "size", "selection", "who", "made")
    list_per_page = 50
    ordering = ("-created_at", "-id")
    paginator = CappedPaginator
    show_facets = ShowFacets.NEVER
    show_full_result_count = False
    sortable_by: ClassVar[tuple[str, ...]] = ()

    def get_queryset(self, request: HttpRequest) -> Any:
        """From where they are written."""
        return super().get_queryset(request).using(alias()).defer("history_text")

    @display(description=_("verb"))
    def what(self, batch: OperatorBatch) -> str:
        """What is done to each."""
        return readable(batch_page.verb_word(batch))

    @display(description=_("status"))
    def state(self, batch: OperatorBatch) -> SafeString:
        """Icon and word."""
        word = messages.word(messages.BATCH, batch.status)
        return format_html('<span class="saga-status saga-batch-{}">{}</span>', batch.status, word)

    @display(description=_("selection"))
    def selection(self, batch: OperatorBatch) -> SafeString:
        """How they were chosen."""
        return format_html("<bdi>{}</bdi>", readable(batch.chosen))

    @display(description=_("by"))
    def who(self, batch: OperatorBatch) -> SafeString:
        """In whose name."""
        return format_html("<bdi>{}</bdi>", readable(batch.actor_name))

    @display(description=_("created"))
    def made(self, batch: OperatorBatch) -> SafeString | str:
        """When the selection was frozen."""
        return saga_moment(batch.created_at)

    def get_urls(self) -> list[URLPattern]:
        """Ours come first: Django's own last address takes everything."""
        view = self.admin_site.admin_view(self.act_view)
        return [
            path("<uuid:object_id>/do/<slug:act>/", view, name="saga_app_operatorbatch_act"),
            *super().get_urls(),
        ]

    def change_view(  # type: ignore[override]
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """The page of a batch, at the address of Django's change form."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        batch = self.find(unquote(object_id))
        return self._page(request, batch) if batch else self._gone(request)

    def act_view(self, request: HttpRequest, object_id: UUID, act: str) -> HttpResponseBase:
        """POST does it; whoever comes here by a link is shown the batch.

        Raises:
            Http404: there is no such act.
            PermissionDenied: the user may not do it.
        """
        if act not in ACTS:
            raise Http404
        if not self.has_view_permission(request):
            raise PermissionDenied
        batch = self.find(str(object_id))
        if batch is None:
            return self._gone(request)
        if request.method != "POST":
            return HttpResponseRedirect(batch_url(self.admin_site.name, batch))
        if not batches.has_all(request.user, needed(act, batch.verb)):
            raise PermissionDenied
        return self._do(request, batch, act)

    def find(self, pk: str) -> OperatorBatch | None:
        """The batch as it is now. Narrow it for tenants."""
        try:
            wanted = UUID(pk)
        except ValueError:
            return None
        return OperatorBatch.objects.using(alias()).filter(pk=wanted).first()

    def _do(self, request: HttpRequest, batch: OperatorBatch, act: str) -> HttpResponseBase:
        form = BeginForm(batch, data=request.POST) if act == "begin" else ActForm(request.POST)
        here = HttpResponseRedirect(batch_url(self.admin_site.name, batch))
        if not form.is_valid():
            return self._page(request, batch, form) if isinstance(form, BeginForm) else here
        try:
            if act == "discard":
                batches.discard(batch, version=form.cleaned_data["version"])
            else:
                asked = form.arguments() if isinstance(form, BeginForm) else form.cleaned_data
                getattr(batches, act)(batch, actor=request.user, **asked)
        except SagaError as error:  # somebody was first: the page shows what is now
            self.message_user(request, str(error), flash.ERROR)
            return here
        if act == "discard":
            self.message_user(request, _("The selection was thrown away; nothing was done."), flash.SUCCESS)
            return HttpResponseRedirect(self._list())
        self.log_change(request, batch, f"{act}: {batch.verb}")
        self.message_user(request, _("Accepted. How far it is, is shown here."), flash.SUCCESS)
        return here

    def _page(self, request: HttpRequest, batch: OperatorBatch, form: BeginForm | None = None) -> TemplateResponse:
        name = readable(batch_page.title(batch))
        context = {
            **self.page_context(request, name, [("", name)]),
            **batch_page.context(request, batch, form),
        }
        return TemplateResponse(request, "admin/saga_app/batch/batch.html", context)

    def _gone(self, request: HttpRequest) -> HttpResponseBase:
        self.message_user(request, messages.sentence("batch_gone"), flash.WARNING)
        return HttpResponseRedirect(self._list())

    def _list(self) -> str:
        return reverse("admin:saga_app_operatorbatch_changelist", current_app=self.admin_site.name)
