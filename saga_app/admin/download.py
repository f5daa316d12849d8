"""An execution as one JSON document: everything that is kept of it, redacted, for a ticket or a colleague."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseNotAllowed, StreamingHttpResponse
from django.urls import reverse

from saga_app import clock, codec
from saga_app.core import registry
from saga_app.core.failures import ErrorInfo
from saga_app.models import Event, Execution, Signal, StepRecord
from saga_app.models.told import EVENT, SIGNAL, STEP
from saga_app.redacting import provided, redacted, returned

if TYPE_CHECKING:
    from saga_app.admin.executions import ExecutionAdmin

AT_ONCE = 50  # rows in memory, each of which may have two values of a megabyte
EXECUTION = (
    "id", "saga", "revision", "fingerprint", "key", "status", "rollback_status", "stuck_reason", "failing_path",
    "cause", "unwind_cause", "cancel_reason", "suspend_reason", "rested_at", "queue", "priority", "parent_id",
    "parent_path", "resume_count", "version", "due_at", "deadline_at", "pivoted_at", "unwinding_at",
    "cancel_requested_at", "suspend_requested_at", "created_at", "started_at", "updated_at", "finished_at",
)  # fmt: skip


def view(admin: ExecutionAdmin, request: HttpRequest, object_id: UUID) -> HttpResponseBase:
    """The document as a file. It is sent while it is read, so that thousands of steps need no memory."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    if not admin.has_view_permission(request):
        raise PermissionDenied
    execution = admin.execution(request, object_id)
    if execution is None:
        raise Http404
    headers = {
        "Content-Disposition": f'attachment; filename="execution-{execution.pk}.json"',
        "X-Content-Type-Options": "nosniff",
    }
    pieces = document(execution) if request.method == "GET" else iter(())
    return StreamingHttpResponse(pieces, content_type="application/json", headers=headers)


def url(admin: ExecutionAdmin, pk: object) -> str:
    """The address of the document."""
    return reverse("admin:saga_app_execution_json", args=[pk], current_app=admin.admin_site.name)


def document(execution: Execution) -> Iterator[str]:
    """The text of the document, piece by piece."""
    saga = registry.get(execution.saga, execution.revision)
    about = _execution(execution, returned(saga))
    yield f'{{"read_at": {_json(clock.now())},\n"execution": {_json(about)},\n"steps": '
    yield from _list(_step(row, provided(saga, row.path)) for row in _slices(execution.steps.all(), "seq"))
    yield ',\n"signals": '
    yield from _list(map(_signal, _slices(execution.signals.all(), "id")))
    yield ',\n"events": '
    yield from _list(map(_event, _slices(execution.events.all(), "id")))
    yield ',\n"children": '
    yield from _list(str(pk) for pk in execution.children.order_by("created_at", "pk").values_list("pk", flat=True))
    yield "}\n"


def _slices(found: QuerySet[Any], column: str) -> Iterator[Any]:
    """All rows in the order of that column, a few at once."""
    last = -1
    while rows := list(found.filter(**{f"{column}__gt": last}).order_by(column)[:AT_ONCE]):
        yield from rows
        last = getattr(rows[-1], column)


def _list(items: Iterable[Any]) -> Iterator[str]:
    between = "["
    for item in items:
        yield f"{between}\n{_json(item)}"
        between = ","
    yield "[]" if between == "[" else "\n]"


def _execution(row: Execution, output_name: str) -> dict[str, Any]:
    return _columns(row, EXECUTION) | {
        "input": redacted(codec.plain(row.input_text)),
        "output": redacted(codec.plain(row.output_text), output_name),
        "error": _error(row.error_text),
    }


def _step(row: StepRecord, provides: str) -> dict[str, Any]:
    return _columns(row, STEP) | {
        "arguments": redacted(codec.plain(row.arguments_text)),
        "output": redacted(codec.plain(row.output_text), row.name, provides),
        "error": _error(row.error_text),
        "compensation_error": _error(row.compensation_error_text),
        "attempts": row.attempts,
    }


def _signal(row: Signal) -> dict[str, Any]:
    return _columns(row, SIGNAL) | {"payload": redacted(codec.plain(row.payload_text), row.name)}


def _event(row: Event) -> dict[str, Any]:
    return _columns(row, EVENT) | {"data": redacted(row.data)}


def _columns(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _error(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    info = ErrorInfo.from_json(text)
    return {"type": info.type, "message": info.message, "notes": list(info.notes), "traceback": info.traceback}


def _json(data: Any) -> str:
    """ASCII, so that no reader is asked what a lone surrogate is."""
    return json.dumps(data, cls=DjangoJSONEncoder)
