"""What the page of one execution shows: the parts, and which slice of the long ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.db.models.functions import Left, Length
from django.http import HttpRequest

from saga_app import messages
from saga_app.admin.cause import Cause, cause_of
from saga_app.admin.steps import plan_of, rows, undone_of, with_values
from saga_app.admin.values import MAX_VALUE, readable_lines, value
from saga_app.core.failures import readable
from saga_app.core.status import TERMINAL, CompensationStatus, Status, StepStatus
from saga_app.models import Event, Execution
from saga_app.store.transactions import alias

STEPS = 20  # on one page, each with its values, errors and attempts
EVENTS = 50


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the history."""

    event: Event
    word: str
    who: str
    why: str
    data: str


def find(pk: str | UUID) -> Execution | None:
    """The execution with the beginnings of its large values only, or None; from where it is written, not a replica."""
    try:
        wanted = UUID(str(pk))
    except ValueError:
        return None
    shown = (
        Execution.objects.using(alias())
        .light()
        .annotate(
            input_shown=Left("input_text", MAX_VALUE + 1),
            input_length=Length("input_text"),
            output_shown=Left("output_text", MAX_VALUE + 1),
            output_length=Length("output_text"),
        )
    )
    return shown.filter(pk=wanted).first()


def context(request: HttpRequest, execution: Any) -> dict[str, Any]:
    """The parts of the run page."""
    steps = _page(request, "steps", with_values(execution.steps.order_by("seq")), STEPS)
    history = _page(request, "events", execution.events.order_by("-id"), EVENTS)
    backwards, stuck = execution.unwinding_at is not None, execution.status == Status.STUCK
    undoable = execution.pivoted_at is None
    cause = cause_of(execution)
    return {
        "status": messages.status_word(execution.status),
        "rollback": messages.rollback_word(execution.rollback_status),
        "remark": _remark(execution),
        "cause": cause,
        "cause_page": _page_of(execution, cause),
        "late": list(execution.events.of("late_result")[:5]),
        "undone": undone_of(execution) if undoable and (backwards or stuck) else None,
        "plan": plan_of(execution) if undoable and execution.status not in TERMINAL else None,
        "plan_open": backwards or stuck,
        "input": value(execution.input_shown, execution.input_length),
        "output": value(execution.output_shown, execution.output_length),
        "steps": steps,
        "rows": rows(steps.object_list),
        "events": history,
        "lines": [_line(event) for event in history.object_list],
    }


def _page(request: HttpRequest, name: str, found: QuerySet[Any], size: int) -> Page[Any]:
    """The slice that the address asks for; a page that is not there is the nearest that is."""
    return Paginator(found, size).get_page(request.GET.get(name))


def _page_of(execution: Execution, cause: Cause) -> int:
    """Which page of the steps has the step that the head speaks of."""
    if cause.record is None:
        return 1
    return execution.steps.filter(seq__lt=cause.record.seq).count() // STEPS + 1


def _remark(execution: Execution) -> str:
    """What every page says beside "rolled back" and "completed": what was done by hand, what failed and was allowed."""
    if execution.status == Status.COMPLETED:
        count = execution.steps.filter(status=StepStatus.FAILED).count()
        return messages.optional_failed(count) if count else ""
    if execution.unwinding_at is None:
        return ""
    count = execution.steps.filter(compensation_status=CompensationStatus.RESOLVED).count()
    return messages.by_hand(count) if count else ""


def _line(event: Event) -> Line:
    data = event.data
    return Line(
        event=event,
        word=messages.event_word(event.type),
        who=readable(event.actor_name),
        why=readable_lines(event.reason),
        data=readable_lines(json.dumps(data, ensure_ascii=False)[:MAX_VALUE]) if data else "",
    )
