"""The steps of one execution as rows of a page: what is undone, what the unwind would do, what ran and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Left, Length
from django.utils.translation import ngettext

from saga_app import engine, messages
from saga_app.admin.cause import CALLED
from saga_app.admin.values import MAX_ATTEMPTS, MAX_VALUE, Failure, failure, value
from saga_app.core import registry
from saga_app.core.failures import readable
from saga_app.core.outcomes import CUT
from saga_app.core.unwind import Action, Planned
from saga_app.models import Execution, StepRecord

SETTLED = (Action.DONE, Action.NOTHING)

MAX_ROWS = 20  # of a plan, and of what is undone: more than a person reads at once; the steps below are all there
BEFORE = 2  # settled lines shown before the first that is not


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of one of a step's functions."""

    direction: str
    number: int | None
    started_at: datetime | None
    took: str
    outcome: str
    error: str
    delay: str


@dataclass(frozen=True, slots=True)
class Row:
    """One step record as the page shows it."""

    record: StepRecord
    kind: str
    choice: str
    is_called: bool
    status: str
    compensation: str
    took: str
    arguments: str
    output: str
    failure: Failure | None
    compensation_failure: Failure | None
    attempts: list[Attempt]
    earlier: int


@dataclass(frozen=True, slots=True)
class PlanLine:
    """What the unwind does about one step."""

    path: str
    action: str
    word: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The unwind as it would go now.

    Attributes:
        lines: some of its lines, from shortly before the first that is not settled.
        before: settled lines before those.
        more: lines after those.
        error: why nobody can tell.
    """

    lines: list[PlanLine]
    before: int = 0
    more: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Undone:
    """The steps whose effect still stands in the world."""

    rows: list[Row]
    more: int = 0


def with_values(records: QuerySet[StepRecord]) -> QuerySet[StepRecord]:
    """The records with the beginnings of their large values only: one may be a megabyte."""
    return records.defer("arguments_text", "output_text").annotate(
        arguments_shown=Left("arguments_text", MAX_VALUE + 1),
        arguments_length=Length("arguments_text"),
        output_shown=Left("output_text", MAX_VALUE + 1),
        output_length=Length("output_text"),
    )


def rows(records: Iterable[StepRecord]) -> list[Row]:
    """Each record as the page shows it. The records come from `with_values`."""
    return [_row(record) for record in records]


def _row(record: Any) -> Row:
    attempts = record.attempts
    return Row(
        record=record,
        kind=_kind(record),
        choice=_choice(record.choice),
        is_called=record.kind in CALLED,
        status=messages.step_word(record.status),
        compensation=messages.compensation_word(record.compensation_status),
        took=_took(record.started_at, record.finished_at),
        arguments=value(record.arguments_shown, record.arguments_length),
        output=value(record.output_shown, record.output_length),
        failure=failure(record.error_text),
        compensation_failure=failure(record.compensation_error_text),
        attempts=[_attempt(entry) for entry in attempts[-MAX_ATTEMPTS:]],
        earlier=max(len(attempts) - MAX_ATTEMPTS, 0),
    )


def _kind(record: StepRecord) -> str:
    if record.kind == "compute" and not record.choice:
        return ""
    return messages.word(messages.KIND, record.kind) if record.kind != "step" else ""


def _choice(choice: str) -> str:
    """What was chosen; of a loop over items, how many there are."""
    if choice.isdecimal():
        return ngettext("%(count)d item", "%(count)d items", int(choice)) % {"count": int(choice)}
    return messages.word(messages.CHOICE, choice) if choice else ""


def _attempt(entry: Mapping[str, Any]) -> Attempt:
    started, ended = _moment(entry.get("started_at")), _moment(entry.get("ended_at"))
    return Attempt(
        direction=messages.word(messages.DIRECTION, entry.get("direction", "")),
        number=entry.get("attempt"),
        started_at=started,
        took=_took(started, ended),
        outcome=messages.word(messages.OUTCOME, entry.get("outcome", "running")),
        error=readable(entry.get("error") or ""),
        delay=f"{entry['delay']:.1f} s" if entry.get("delay") else "",
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _took(started: datetime | None, ended: datetime | None) -> str:
    if started is None or ended is None:
        return ""
    seconds = (ended - started).total_seconds()
    return f"{seconds:.2f} s" if seconds < 60 else messages.span(seconds)  # noqa: PLR2004 - a minute


def plan_of(execution: Execution) -> Plan:
    """The unwind of an execution as it would go now."""
    if registry.get(execution.saga, execution.revision) is None:
        return Plan([], error=messages.sentence("unknown_saga"))
    planned = engine.plan(execution)
    first = next((i for i, line in enumerate(planned) if line.action not in SETTLED), 0)
    before = max(first - BEFORE, 0) if len(planned) > MAX_ROWS else 0
    shown = planned[before : before + MAX_ROWS]
    return Plan(list(_lines(shown)), before, len(planned) - before - len(shown))


def _lines(planned: Iterable[Planned]) -> Iterator[PlanLine]:
    for line in planned:
        reason = messages.word(messages.PLAN_REASON, line.reason)
        yield PlanLine(line.path, line.action, messages.word(messages.ACTION, line.action), reason)


def undone_of(execution: Execution) -> Undone:
    """The steps whose effect still stands in the world, the latest first: the unwind takes them in that order.

    What lies before the milestone at which an unwind rests stands because it shall.
    """
    stops = execution.steps.filter(Q(kind="milestone") | Q(kind="child") & ~Q(choice__in=["", CUT]))
    stop = stops.order_by("-seq").values_list("seq", flat=True).first()
    undone = execution.steps.undone() if stop is None else execution.steps.undone().filter(seq__gte=stop)
    records = list(with_values(undone).order_by("-seq")[: MAX_ROWS + 1])
    more = undone.count() - MAX_ROWS if len(records) > MAX_ROWS else 0
    return Undone(rows(records[:MAX_ROWS]), more)
