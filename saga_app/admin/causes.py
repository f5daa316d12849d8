"""The page of a cause: what is stuck of it, one failure in full, and what may be done to all of it at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib import messages as flash
from django.core.exceptions import PermissionDenied
from django.db.models import Max, Subquery
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from saga_app import batches, engine, messages
from saga_app.admin import verbs
from saga_app.admin.cause import cause_of
from saga_app.admin.facts import facts_of
from saga_app.admin.groups import Group, group
from saga_app.core.errors import SagaError
from saga_app.core.failures import readable
from saga_app.core.verbs import Eligibility
from saga_app.models import Event, Execution
from saga_app.store.stuck import stuck_of
from saga_app.store.transactions import alias

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    from saga_app.admin.pages import ViewOnly

MOST = 20  # executions on the page; the list has all of them
WORDS: dict[tuple[str, bool], StrPromise] = {
    ("resume", True): gettext_lazy("Resume one first"),
    ("resume", False): gettext_lazy("Resume all"),
    ("unwind", False): gettext_lazy("Unwind all"),
    ("abandon", False): gettext_lazy("Abandon all"),
}


@dataclass(frozen=True, slots=True)
class Button:
    """What may be done to the group.

    Attributes:
        verb: the verb.
        first: whether to one of them first.
        word: what the button says.
        danger: it cannot be taken back.
        why_not: why it may not be done; empty where it may.
    """

    verb: str
    first: bool
    word: str
    danger: bool
    why_not: str


@dataclass(frozen=True, slots=True)
class Try:
    """The last time that somebody resumed executions that are here again."""

    at: datetime
    who: str
    joined: int


def view(admin: ViewOnly, request: HttpRequest, cause: str) -> HttpResponseBase:
    """GET shows the group, POST freezes it into a batch that waits to be confirmed.

    Raises:
        PermissionDenied: the user may not look, or may not do that to many executions.
        Http404: what was sent is none of the buttons.
    """
    if not admin.has_view_permission(request):
        raise PermissionDenied
    if request.method == "POST":
        return _freeze(admin, request, cause)
    return TemplateResponse(request, "admin/saga_app/cause_group.html", _context(admin, request, cause))


def link(admin: ViewOnly, execution: Execution, text: str) -> SafeString | str:
    """The way from an execution to its group."""
    try:
        address = reverse("admin:saga_app_cause", args=[execution.cause], current_app=admin.admin_site.name)
    except NoReverseMatch:  # it has none: it was stuck before causes were kept of everything
        return text
    return format_html('<a href="{}" title="{}">{}</a>', address, _("All that is stuck of this cause"), text)


def _context(admin: ViewOnly, request: HttpRequest, cause: str) -> dict[str, Any]:
    found = group(cause)
    title = Truncator(found.title).chars(120) if found else _("Cause %(cause)s") % {"cause": cause}
    stuck = reverse("admin:saga_app_stuckexecution_changelist", current_app=admin.admin_site.name)
    context = {
        **admin.page_context(request, title, [("", title)]),
        "group": found,
        "hash": cause,
        "stuck_url": stuck,
        "list_url": f"{stuck}?cause={cause}",
    }
    if found is None:
        return context
    sample = Execution.objects.using(alias()).light().get(pk=found.sample.pk)
    executions = list(stuck_of(cause).light().order_by("status_at", "pk")[:MOST])
    known = facts_of(executions)
    return context | {
        "cure": messages.cure(found.sample.stuck_reason),
        "head": cause_of(sample),
        "rows": [(execution, known[execution.pk]) for execution in executions],
        "more": found.count - len(executions),
        "tried": _last_try(found),
        "buttons": list(_buttons(request, sample)),
    }


def _last_try(found: Group) -> Try | None:
    """A group that has been tried and is here again tells that the cause was not mended."""
    if not found.again:
        return None
    resumes = Event.objects.using(alias()).filter(
        type="resume", execution__status="stuck", execution__cause=found.cause
    )
    last = resumes.order_by().values("type").annotate(last=Max("pk")).values("last")[:1]
    event = Event.objects.using(alias()).filter(pk=Subquery(last)).first()
    if event is None:
        return None
    joined = stuck_of(found.cause).filter(resume_count=0, status_at__gt=event.at).count()
    return Try(event.at, readable(event.actor_name), joined)


def _buttons(request: HttpRequest, sample: Execution) -> Iterator[Button]:
    """Each with its reason why not. All of a group stopped alike, so what is refused to one is refused to all."""
    allowed = engine.eligibility(sample)
    for (verb, first), word in WORDS.items():
        why_not = _why_not(request, verb, allowed[verb])
        yield Button(verb, first, f"{word}…", verb == "abandon", why_not)


def _why_not(request: HttpRequest, verb: str, answer: Eligibility) -> str:
    for permission in batches.permissions(verb):
        if not request.user.has_perm(permission):
            return _("You do not have the permission “%s”.") % permission
    return verbs.reason_of(answer)


def _freeze(admin: ViewOnly, request: HttpRequest, cause: str) -> HttpResponseBase:
    first = "first" in request.POST
    verb = request.POST.get("first" if first else "all", "")
    if (verb, first) not in WORDS:
        raise Http404
    if not all(map(request.user.has_perm, batches.permissions(verb))):
        raise PermissionDenied
    found = group(cause)
    chosen = Truncator(found.title).chars(250) if found else ""
    try:
        batch = batches.freeze(verb, stuck_of(cause), actor=request.user, chosen=chosen)
    except SagaError as error:  # nothing is stuck of it any more, or too much
        admin.message_user(request, str(error), flash.WARNING)
        return HttpResponseRedirect(request.path)
    page = reverse("admin:saga_app_operatorbatch_change", args=[batch.pk], current_app=admin.admin_site.name)
    return HttpResponseRedirect(f"{page}?canary=1" if first else page)
