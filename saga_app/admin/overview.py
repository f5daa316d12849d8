"""Where an operator looks first: what is open, what is stuck and why, what waits for a person, who did what."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, OuterRef, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from saga_app import messages
from saga_app.admin import approvals, verbs
from saga_app.admin.figures import MOST_SAGAS, NEWEST, SHOWN, figures
from saga_app.admin.groups import groups
from saga_app.admin.pages import ViewOnly
from saga_app.admin.values import readable_lines
from saga_app.core.batching import BatchStatus, ItemStatus
from saga_app.core.failures import readable
from saga_app.core.status import Status
from saga_app.models import Event, OperatorBatch, OperatorBatchItem, Overview
from saga_app.store.transactions import alias
from saga_app.templatetags.addresses import address

LISTS = ("execution", "stuckexecution", "waitingapproval", "operatorbatch", "sagaversion")
MOST_GROUPS = 20
MOST_DEEDS = 10
MOST_VERBS = 200  # that are looked through for them
MOST_BATCHES = 5
GOING_ON = [BatchStatus.RUNNING, BatchStatus.HOLDING, BatchStatus.PAUSED]


@dataclass(frozen=True, slots=True)
class Deed:
    """What somebody did to an execution."""

    event: Event
    word: str
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch that is not over, and how many of its executions are through."""

    row: OperatorBatch
    verb: str
    status: str
    done: int


@admin.register(Overview)
class OverviewAdmin(ViewOnly):
    """One page in the place of a list."""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The page."""
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        if not self.has_view_permission(request):
            raise PermissionDenied
        known = figures()
        stuck = dict(known.by_status)[Status.STUCK]
        found, more = groups(MOST_GROUPS) if stuck else ([], False)
        sagas = known.rows()
        context = {
            **self.page_context(request, _("Overview")),
            "cards": [(status, messages.status_word(status), count) for status, count in known.by_status],
            "statuses": [(status, messages.status_word(status)) for status in SHOWN],
            "any": known.any,
            "stuck": stuck,
            "groups": found,
            "groups_more": more,
            "approvals": approvals.count_for(request.user),
            "approvals_most": approvals.MOST,
            "sagas": sagas[:MOST_SAGAS],
            "sagas_more": len(sagas) - MOST_SAGAS,
            "ended": known.ended,
            "newest": NEWEST,
            "deeds": _deeds(),
            "batches": _batches(),
            "at": _addresses(request),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/saga_app/overview.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """There are no rows of it: the page is the only one."""
        return HttpResponseRedirect(reverse("admin:saga_app_overview_changelist", current_app=self.admin_site.name))


def _addresses(request: HttpRequest) -> dict[str, str]:
    """Where the lists of the console are that this site has."""
    return {name: found for name in LISTS if (found := address(request, f"{name}_changelist"))}


def _deeds() -> list[Deed]:
    """The newest verbs. A signal that no person sent is traffic, of which there may be much: it is left out."""
    events = Event.objects.using(alias()).filter(request_id__isnull=False).order_by("-id").select_related("execution")
    shown = ("at", "type", "actor_name", "reason", *(f"execution__{name}" for name in ("saga", "key", "status")))
    newest = events.only(*shown, "execution__stuck_reason")[:MOST_VERBS]
    told = (event for event in newest if event.type != "signal" or event.actor_name)
    return [
        Deed(event, messages.event_word(event.type), readable(event.actor_name), readable_lines(event.reason))
        for event in islice(told, MOST_DEEDS)
    ]


def _batches() -> list[Batch]:
    """Those that are not over, the newest first. Counted one by one: joined, all items of all batches would be read."""
    batches = OperatorBatch.objects.using(alias()).filter(status__in=GOING_ON).order_by("-created_at", "-id")
    over = OperatorBatchItem.objects.filter(batch=OuterRef("pk")).exclude(status=ItemStatus.PENDING).order_by()
    counted = batches.annotate(done=Subquery(over.values("batch").annotate(count=Count("pk")).values("count")))
    return [
        Batch(one, verbs.word_of(one.verb), messages.word(messages.BATCH, one.status), one.done or 0)
        for one in counted[:MOST_BATCHES]
    ]
