"""The run page as it was at a past moment: nothing on it can be acted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from saga_app import messages
from saga_app.admin import pictures
from saga_app.admin.moments import Line, Then
from saga_app.core.failures import readable
from saga_app.core.past import past
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import Status
from saga_app.models import Execution

STEPS = 50  # on one page: each is one line


@dataclass(frozen=True, slots=True)
class Row:
    """What a step was then."""

    seq: int
    path: str
    status: str
    word: str
    attempt: int
    compensation: str
    compensation_word: str


def context(
    request: HttpRequest, execution: Execution, facts: Snapshot, lines: Sequence[Line], then: Then
) -> dict[str, Any]:
    """The parts of the page. What it has returned since is not shown: it had not, then."""
    x = past(facts, execution.created_at, [line.told for line in lines], then.at)
    steps = Paginator(x.records, STEPS).get_page(request.GET.get("steps"))
    shown = {} if x.status == Status.COMPLETED else {"output": ""}
    return shown | {
        "was": x,
        "was_word": messages.status_word(x.status),
        "was_rollback": messages.rollback_word(x.rollback_status),
        "was_reason": messages.reason_word(x.stuck_reason) if x.stuck_reason else "",
        "was_at": readable(x.failing_path),
        "steps": steps,
        "then_rows": [_row(record) for record in steps.object_list],
        **pictures.context(request, execution, x, then.at, pictures.Addresses(x, STEPS, then.at)),
    }


def _row(record: Record) -> Row:
    back = record.compensation_status
    return Row(
        seq=record.seq,
        path=readable(record.path),
        status=record.status,
        word=messages.step_word(record.status),
        attempt=record.attempt,
        compensation=back,
        compensation_word=messages.compensation_word(back),
    )
