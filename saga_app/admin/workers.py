"""The list of worker processes: who was seen when, what each drives now, and whose cluster is wedged."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib.admin import ShowFacets, display, register
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from saga_app import clock, messages
from saga_app.admin.pages import ViewOnly
from saga_app.conf import settings
from saga_app.core.failures import readable
from saga_app.models import Execution, StepRecord, Worker
from saga_app.store.transactions import alias
from saga_app.store.workers import UNHEARD, serves

MOST_DRIVEN = 500  # executions that are with workers, more than there are workers to read about
SHOWN = 3  # of one worker, which drives one at a time


@dataclass(slots=True)
class Driven:
    """What is with one worker: executions, each with the queued step that it is for, if it is for one."""

    first: list[tuple[Execution, str]] = field(default_factory=list)
    count: int = 0

    def add(self, execution: Execution, path: str = "") -> None:
        """One more."""
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append((execution, path))


class WorkerChangeList(ChangeList):
    """A page of workers with what they drive."""

    def get_results(self, request: HttpRequest) -> None:
        """Read the page, then what is with workers."""
        super().get_results(request)
        self.result_list = list(self.result_list)
        by_worker = driven()
        for worker in self.result_list:
            worker.drives = by_worker.get(worker.pk, Driven())


@register(Worker)
class WorkerAdmin(ViewOnly):
    """The processes of all clusters, those that are gone for an hour."""

    change_list_template = "admin/saga_app/change_list.html"
    list_display = ("state", "process", "queue", "drives", "claimed", "seen")
    list_display_links = None
    list_per_page = 100
    ordering = ("-seen_at", "host", "pid")
    show_facets = ShowFacets.NEVER
    show_full_result_count = False
    sortable_by: ClassVar[tuple[str, ...]] = ()

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Nobody is selected here."""
        title = capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[WorkerChangeList]:
        """The list that reads what they drive."""
        return WorkerChangeList

    def get_queryset(self, request: HttpRequest) -> Any:
        """From where they are written."""
        return super().get_queryset(request).using(alias())

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list says all there is to say of a worker."""
        return HttpResponseRedirect(reverse("admin:saga_app_worker_changelist", current_app=self.admin_site.name))

    @display(description=gettext_lazy("worker"))
    def state(self, worker: Worker) -> SafeString:
        """Icon and word."""
        code, word = _state(worker)
        return _live(worker, "state", format_html('<span class="saga-worker saga-worker-{}">{}</span>', code, word))

    @display(description=gettext_lazy("process"))
    def process(self, worker: Worker) -> SafeString:
        """Host and number."""
        return format_html('<bdi class="saga-code">{}:{}</bdi>', readable(worker.host), worker.pid)

    @display(description=gettext_lazy("cluster"))
    def queue(self, worker: Worker) -> SafeString:
        """Its cluster, and the queue that it serves."""
        queue = readable(serves(worker.cluster))
        said = _("queue “%s”") % queue if queue else _("default queue")
        return format_html(
            '<bdi class="saga-code">{}</bdi> <span class="saga-note">{}</span>', readable(worker.cluster), said
        )

    @display(description=gettext_lazy("drives now"))
    def drives(self, worker: Any) -> SafeString:
        """The executions whose lease it holds."""
        return _live(worker, "drives", self._links(worker.drives))

    @display(description=gettext_lazy("last claim"))
    def claimed(self, worker: Worker) -> SafeString:
        """When it took something up last."""
        return _live(worker, "claimed", _ago(worker.claimed_at))

    @display(description=gettext_lazy("last seen"))
    def seen(self, worker: Worker) -> SafeString:
        """When its cluster said last that it lives."""
        return _live(worker, "seen", _ago(worker.seen_at))

    def _links(self, known: Driven) -> SafeString | str:
        if not known.count:
            return "–"
        links = [(self._run_url(one), one.saga, one.key or one.pk, path) for one, path in known.first]
        text = format_html_join(
            ", ", '<a href="{}"><bdi>{}</bdi> <bdi class="saga-key">{}</bdi> <bdi>{}</bdi></a>', links
        )
        more = known.count - len(links)
        return format_html("{} {}", text, ngettext("and %d more", "and %d more", more) % more) if more else text

    def _run_url(self, execution: Execution) -> str:
        return reverse("admin:saga_app_execution_change", args=[execution.pk], current_app=self.admin_site.name)


def driven() -> dict[str, Driven]:
    """What is with each worker now, by its id, which a lease begins with (see store.claims.holder_for).

    A lease is held for so long and no longer, so only the index of what is due is read.
    """
    using = alias()
    now = clock.database_now(using)
    until = clock.database_now(using, plus=settings.LEASE)
    found: dict[str, Driven] = {}
    held = Execution.objects.using(using).filter(lease_holder__isnull=False, due_at__gt=now, due_at__lte=until)
    for execution in held.only("saga", "key", "lease_holder").order_by("pk")[:MOST_DRIVEN]:
        found.setdefault(_worker(execution.lease_holder), Driven()).add(execution)
    steps = StepRecord.objects.using(using).filter(row_holder__isnull=False, row_due_at__gt=now, row_due_at__lte=until)
    shown = ("path", "row_holder", "execution__saga", "execution__key")
    for step in steps.select_related("execution").only(*shown).order_by("pk")[:MOST_DRIVEN]:
        found.setdefault(_worker(step.row_holder), Driven()).add(step.execution, step.path)
    return found


def _worker(holder: str | None) -> str:
    return (holder or "").rpartition(":")[0]


def _state(worker: Worker) -> tuple[str, str]:
    if clock.now() - worker.seen_at > timedelta(seconds=UNHEARD):
        return "gone", _("gone")
    if worker.wedged_at is not None:
        return "wedged", _("wedged for %s") % messages.span((clock.now() - worker.wedged_at).total_seconds())
    return "alive", _("alive")


def _live(worker: Worker, part: str, shown: SafeString | str) -> SafeString:
    """A cell whose content is brought up to date; the rows stay as they were when the page was loaded."""
    return format_html('<span id="saga-worker-{}-{}" data-saga-live>{}</span>', part, readable(worker.pk), shown)


def _ago(at: Any) -> SafeString | str:
    if at is None:
        return "–"
    ago = _("%s ago") % messages.span(max((clock.now() - at).total_seconds(), 0))
    return format_html('<time datetime="{0}" title="{0}">{1}</time>', f"{at:%Y-%m-%dT%H:%M:%SZ}", ago)
