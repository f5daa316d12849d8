"""What the page of one execution shows: the parts, and which slice of the long ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models.functions import Left, Length
from django.http import HttpRequest

from saga_app import acting, clock, messages
from saga_app.admin import past, pictures
from saga_app.admin.cause import Cause, cause_of
from saga_app.admin.mentions import linked
from saga_app.admin.moments import Line, lines_of, then_of
from saga_app.admin.steps import plan_of, rows, undone_of, with_values
from saga_app.admin.values import MAX_VALUE, readable_lines, value
from saga_app.core import registry
from saga_app.core.failures import readable
from saga_app.core.past import moments
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import TERMINAL, CompensationStatus, Status, StepStatus
from saga_app.models import Event, Execution
from saga_app.redacting import redacted, returned
from saga_app.store.transactions import alias

STEPS = 20  # on one page, each with its values, errors and attempts
EVENTS = 50
LATE = 5
GRAINS = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the history, as the page shows it."""

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
    """The parts of the run page, as things are or as the address asks for."""
    facts = acting.facts_of(execution)
    lines = lines_of(execution.events)
    known = moments(facts, execution.created_at, [line.told for line in lines])
    then = then_of(request.GET, known, lines)
    output_name = returned(registry.get(execution.saga, execution.revision))
    shown = {
        "facts": facts,
        "then": then,
        "input": value(execution.input_shown, execution.input_length),
        "output": value(execution.output_shown, execution.output_length, output_name),
    }
    if then.is_past:
        told = [line for line in lines if line.told.at <= then.at]
        return shown | past.context(request, execution, facts, lines, then) | _history(request, execution, told)
    return shown | _now(request, execution, facts, lines, known) | _history(request, execution, lines)


def _now(
    request: HttpRequest, execution: Any, facts: Snapshot, lines: Sequence[Line], known: Sequence[datetime]
) -> dict[str, Any]:
    """What is, and what can be done about it."""
    backwards, stuck = execution.unwinding_at is not None, execution.status == Status.STUCK
    undoable = execution.pivoted_at is None
    cause = cause_of(execution)
    steps = page_of(request, "steps", facts.records, STEPS)
    shown = with_values(execution.steps.filter(seq__in=[record.seq for record in steps.object_list]))
    return {
        "status": messages.status_word(execution.status),
        "rollback": messages.rollback_word(execution.rollback_status),
        "remark": _remark(facts),
        "cause": cause,
        "cause_page": _page_of(facts, cause),
        "late": _late(lines),
        "undone": undone_of(execution, facts) if undoable and (backwards or stuck) else None,
        "plan": plan_of(execution, facts) if undoable and execution.status not in TERMINAL else None,
        "plan_open": backwards or stuck,
        "steps": steps,
        "rows": rows(shown.order_by("seq"), registry.get(execution.saga, execution.revision)),
        **pictures.context(
            request, execution, facts, _about_now(execution.created_at, known[-1]), pictures.Addresses(facts, STEPS)
        ),
    }


def _about_now(created_at: datetime, latest: datetime) -> datetime:
    """Now, as finely as the timeline can show it: a page on which nothing moves is the same page for a while."""
    age = (clock.now() - created_at).total_seconds()
    grain = max(age / GRAINS, 1.0)
    return max(created_at + timedelta(seconds=age // grain * grain), latest)


def page_of(request: HttpRequest, name: str, found: Sequence[Any], size: int) -> Page[Any]:
    """The slice that the address asks for; a page that is not there is the nearest that is."""
    return Paginator(found, size).get_page(request.GET.get(name))


def _history(request: HttpRequest, execution: Any, lines: Sequence[Line]) -> dict[str, Any]:
    """The lines of the history, the latest first, in slices."""
    history = page_of(request, "events", lines[::-1], EVENTS)
    events = execution.events.filter(id__in=[line.id for line in history.object_list])
    return {"events": history, "lines": [_entry(request, event) for event in events.order_by("-id")]}


def _page_of(facts: Snapshot, cause: Cause) -> int:
    """Which page of the steps has the step that the head speaks of."""
    if cause.record is None:
        return 1
    return sum(record.seq < cause.record.seq for record in facts.records) // STEPS + 1


def _remark(facts: Snapshot) -> str:
    """What every page says beside "rolled back" and "completed": what was done by hand, what failed and was allowed."""
    if facts.status == Status.COMPLETED:
        count = sum(record.status == StepStatus.FAILED for record in facts.records)
        return messages.optional_failed(count) if count else ""
    count = sum(record.compensation_status == CompensationStatus.RESOLVED for record in facts.records)
    return messages.by_hand(count) if count and facts.unwinding else ""


def _late(lines: Sequence[Line]) -> list[tuple[datetime, str]]:
    """Results that came after their worker had lost the execution."""
    late = [line.told for line in lines if line.told.type == "late_result"]
    return [(one.at, _said(one.data)) for one in late[:LATE]]


def _entry(request: HttpRequest, event: Event) -> Entry:
    return Entry(
        event=event,
        word=messages.event_word(event.type),
        who=readable(event.actor_name),
        why=readable_lines(event.reason),
        data=linked(request, _said(event.data), event.data) if event.data else "",
    )


def _said(data: Any) -> str:
    """What else a line of the history says."""
    return readable_lines(json.dumps(redacted(data), ensure_ascii=False)[:MAX_VALUE])
