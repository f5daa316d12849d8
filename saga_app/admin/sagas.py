"""The pages of sagas: the list of all, the page of one, its start, and its schedules."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib import messages as flash
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext_lazy as _

from saga_app import messages
from saga_app.admin import definitions, timetable
from saga_app.admin.drawing import drawing
from saga_app.admin.outline import outline
from saga_app.admin.pages import Crumb, ViewOnly
from saga_app.admin.starting import SagaForm, StartForm
from saga_app.admin.timetable import ACTS, EFFECT, ScheduleForm
from saga_app.core import registry
from saga_app.core.saga import Saga
from saga_app.models import SagaVersion
from saga_app.queue import schedules
from saga_app.store import shapes as store

START = "saga_app.start_execution"


@admin.register(SagaVersion)
class SagaVersionAdmin(ViewOnly):
    """Every saga that there is: in the code, in the table of what ran, on a timetable."""

    def get_urls(self) -> list[URLPattern]:
        """Ours come first: Django's own last address takes everything."""
        view = self.admin_site.admin_view
        one = "saga/<str:name>/"
        return [
            path(one, view(self.saga_view), name="saga_app_saga"),
            path(f"{one}start/", view(self.start_view), name="saga_app_saga_start"),
            path(f"{one}schedule/", view(self.schedule_view), name="saga_app_saga_schedule"),
            path(f"{one}schedule/<int:pk>/<slug:act>/", view(self.act_view), name="saga_app_saga_schedule_act"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:  # type: ignore[override]
        """The list; it comes from the code as much as from the tables."""
        self._check_view(request)
        if request.method == "POST":
            return HttpResponseNotAllowed(["GET", "HEAD"])
        context = {
            **self.page_context(request, _("Sagas")),
            "sagas": definitions.listed(),
            "executions": self._at("saga_app_execution_changelist"),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/saga_app/saga/list.html", context)

    def change_view(  # type: ignore[override]
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        """A shape that once ran is seen on the page of its saga."""
        self._check_view(request)
        found = SagaVersion.objects.filter(pk=object_id).first() if object_id.isdecimal() else None
        if found is None:
            return HttpResponseRedirect(self._at("saga_app_sagaversion_changelist"))
        return HttpResponseRedirect(f"{self._at('saga_app_saga', found.saga)}?revision={found.revision}")

    def saga_view(self, request: HttpRequest, name: str) -> HttpResponseBase:
        """The page of one saga."""
        self._check_view(request)
        if request.method == "POST":
            return HttpResponseNotAllowed(["GET", "HEAD"])
        if "\x00" in name:  # a character that PostgreSQL cannot be asked for
            raise Http404
        shapes, planned = store.shapes(name), timetable.rows(name, may=request.user.has_perm(START))
        if not shapes and not planned:
            raise Http404
        revision = _revision(request, name, shapes)
        saga = registry.get(name, revision)
        fault = store.fault(saga) if saga else ""
        latest = store.latest(name)
        graph = store.graph(name, revision, saga)
        context = {
            **self._context(request, name),
            "saga": saga,
            "revision": revision,
            "is_latest": latest is not None and latest.revision == revision,
            "fault": fault,
            "limit": messages.span(saga.timeout) if saga and saga.timeout else "",
            "outline": outline(saga.nodes) if saga and not fault else None,
            "input": list(store.input_lines(saga)) if saga and not fault else None,
            "drawing": drawing(graph) if graph else None,
            "shapes": shapes,
            "schedules": planned,
            "may_start": request.user.has_perm(START) and latest is not None and not store.fault(latest),
            "may_plan": schedules.available(),
            "executions": self._at("saga_app_execution_changelist"),
        }
        return TemplateResponse(request, "admin/saga_app/saga/page.html", context)

    def start_view(self, request: HttpRequest, name: str) -> HttpResponseBase:
        """The form that starts one execution."""
        saga = self._startable(request, name)
        form = StartForm(saga, data=request.POST if request.method == "POST" else None)
        if request.method != "POST" or not form.is_valid():
            return self._form(request, saga, form, _("Start"))
        execution = form.start(request)
        if execution is None:
            return self._form(request, saga, form, _("Start"), HTTPStatus.CONFLICT)
        if execution.is_new:
            self.log_addition(request, execution, "start")
            self.message_user(request, _("Started. What becomes of it is shown here."), flash.SUCCESS)
        else:
            said = _("It was started before, with the same key: nothing was started now.")
            self.message_user(request, said, flash.WARNING)
        return HttpResponseRedirect(self._at("saga_app_execution_change", execution.pk))

    def schedule_view(self, request: HttpRequest, name: str) -> HttpResponseBase:
        """The form that makes a schedule."""
        saga = self._startable(request, name)
        if not schedules.available():
            raise Http404
        form = ScheduleForm(saga, data=request.POST if request.method == "POST" else None)
        if request.method != "POST" or not form.is_valid():
            return self._form(request, saga, form, _("Schedule"))
        made = form.make()
        if made is None:
            return self._form(request, saga, form, _("Schedule"))
        self.log_addition(request, made.row, f"schedule {name}")
        self.message_user(request, _("It is on the timetable."), flash.SUCCESS)
        return HttpResponseRedirect(self._at("saga_app_saga", name))

    def act_view(self, request: HttpRequest, name: str, pk: int, act: str) -> HttpResponseBase:
        """The confirm page of what is done about a schedule."""
        self._check_view(request)
        if not request.user.has_perm(START):
            raise PermissionDenied
        found = schedules.find(name, pk) if act in ACTS else None
        if found is None:
            raise Http404
        row = timetable.row_of(found)
        possible = act in dict(row.acts)
        if request.method == "POST" and possible:
            self._act(request, found, act)
            return HttpResponseRedirect(self._at("saga_app_saga", name))
        context = {
            **self._context(request, name, ACTS[act]),
            "row": row,
            "act": act,
            "word": ACTS[act],
            "effect": EFFECT[act],
            "possible": possible,
        }
        status = HTTPStatus.CONFLICT if request.method == "POST" else HTTPStatus.OK
        return TemplateResponse(request, "admin/saga_app/saga/schedule.html", context, status=status)

    def _act(self, request: HttpRequest, found: schedules.Planned, act: str) -> None:
        """Do it, and write it into Django's own log: django-q2 keeps no history of its schedules."""
        if act == "delete":
            self.log_deletions(request, type(found.row).objects.filter(pk=found.row.pk))
            schedules.remove(found.row.pk)
        else:
            change = {"pause": schedules.pause, "go-on": schedules.go_on}[act]
            change(found.row.pk)
            self.log_change(request, found.row, act)
        self.message_user(request, _("%(act)s: done.") % {"act": ACTS[act]}, flash.SUCCESS)

    def _form(
        self, request: HttpRequest, saga: Saga[Any], form: SagaForm, word: Any, status: int = HTTPStatus.OK
    ) -> HttpResponseBase:
        context = {**self._context(request, saga.name, word), "saga": saga, "form": form, "word": word}
        return TemplateResponse(request, "admin/saga_app/saga/start.html", context, status=status)

    def _startable(self, request: HttpRequest, name: str) -> Saga[Any]:
        """The saga, for who may start it."""
        self._check_view(request)
        if not request.user.has_perm(START):
            raise PermissionDenied
        saga = store.latest(name)
        if saga is None or store.fault(saga):
            raise Http404
        return saga

    def _check_view(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def _at(self, name: str, *args: Any) -> str:
        return reverse(f"admin:{name}", args=args, current_app=self.admin_site.name)

    def _context(self, request: HttpRequest, name: str, here: Any = "") -> dict[str, Any]:
        """What every page about one saga needs, `here` being the last crumb after the saga's own."""
        own = self._at("saga_app_saga", name)
        crumbs: list[Crumb] = [(own, name), ("", here)] if here else [("", name)]
        return {**self.page_context(request, name, crumbs), "name": name, "saga_url": own}


def _revision(request: HttpRequest, name: str, shapes: list[store.Shape]) -> int:
    """The one that the address asks for; else the highest of the code, or of what ran."""
    known = {one.revision for one in shapes}
    asked = forms.IntegerField(required=False)
    try:
        wanted = asked.clean(request.GET.get("revision"))
    except forms.ValidationError as error:
        raise Http404 from error
    if wanted is not None and wanted not in known:
        raise Http404
    latest = store.latest(name)
    return int(wanted or (latest.revision if latest else max(known, default=0)))
