"""What the lists of executions offer for many at once: each action freezes the selection into a batch, and shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib import messages as flash
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.views.main import IGNORED_PARAMS
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from saga_app import batches
from saga_app.admin.batch_page import batch_url
from saga_app.admin.pages import ViewOnly
from saga_app.core.errors import SagaError
from saga_app.models import Execution

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    Admin = admin.ModelAdmin[Any]

WORDS: dict[str, StrPromise] = {
    "resume": _("Resume selected…"),
    "cancel": _("Cancel selected…"),
    "suspend": _("Suspend selected…"),
    "unwind": _("Unwind selected…"),
    "abandon": _("Abandon selected…"),
}


def may(user: Any, verb: str) -> bool:
    """Whether somebody may use a verb on many executions at once."""
    return batches.has_all(user, batches.permissions(verb))


def _action(verb: str) -> Callable[..., Any]:
    @admin.action(permissions=[f"batch_{verb}"], description=WORDS[verb])
    def freeze(model_admin: Admin, request: HttpRequest, queryset: QuerySet[Execution]) -> HttpResponse | None:
        chosen = _how(model_admin, request)
        try:
            batch = batches.freeze(verb, queryset, actor=request.user, chosen=chosen)
        except SagaError as error:
            model_admin.message_user(request, str(error), flash.ERROR)
            return None
        return HttpResponseRedirect(batch_url(model_admin.admin_site.name, batch))

    freeze.__name__ = f"batch_{verb}"
    return freeze


def _asks(verb: str) -> Callable[..., bool]:
    def has_permission(_self: object, request: HttpRequest) -> bool:
        return may(request.user, verb)

    return has_permission


def _how(model_admin: Admin, request: HttpRequest) -> str:
    """How the selection was made, for whoever reads the batch later: which list, narrowed by what, how many by hand."""
    parts = [str(capfirst(model_admin.opts.verbose_name_plural))]
    parts += [f"{name}={value}" for name, value in request.GET.items() if name not in (*IGNORED_PARAMS, "o", "p")]
    if request.POST.get("select_across", "0") == "0":
        count = len(request.POST.getlist(ACTION_CHECKBOX_NAME))
        parts.append(ngettext("%(count)d by hand", "%(count)d by hand", count) % {"count": count})
    return ", ".join(parts)


class BatchActions(ViewOnly):
    """A list with these actions, each with its own permission: Django runs one without for everybody who may view."""

    actions = tuple(f"batch_{verb}" for verb in WORDS)

    batch_resume = _action("resume")
    batch_cancel = _action("cancel")
    batch_suspend = _action("suspend")
    batch_unwind = _action("unwind")
    batch_abandon = _action("abandon")

    has_batch_resume_permission = _asks("resume")
    has_batch_cancel_permission = _asks("cancel")
    has_batch_suspend_permission = _asks("suspend")
    has_batch_unwind_permission = _asks("unwind")
    has_batch_abandon_permission = _asks("abandon")
