"""The steps of one execution as rows of a page: what is undone, what the unwind would do, what ran and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Left, Length
from django.utils.translation import ngettext

from saga_app import acting, messages
from saga_app.admin.cause import CALLED
from saga_app.admin.values import MAX_ATTEMPTS, MAX_VALUE, Failure, failure, took, value
from saga_app.core import registry
from saga_app.core.failures import readable
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Snapshot
from saga_app.core.unwind import Action, Planned, plan_unwind, undone
from saga_app.models import Execution, StepRecord
from saga_app.redacting import provided

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


def rows(records: Iterable[StepRecord], saga: Saga[Any] | None = None) -> list[Row]:
    """Each record as the page shows it. The records come from `with_values`; `saga` says what an output is called."""
    return [_row(record, provided(saga, record.path)) for record in records]


def _row(record: Any, provides: str) -> Row:
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
        output=value(record.output_shown, record.output_length, record.name, provides),
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
        delay=messages.seconds(entry["delay"], 1) if entry.get("delay") else "",
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _took(started: datetime | None, ended: datetime | None) -> str:
    if started is None or ended is None:
        return ""
    return took((ended - started).total_seconds())


def plan_of(execution: Execution, facts: Snapshot | None = None) -> Plan:
    """The unwind of an execution as it would go now; `facts`, where they have been read."""
    saga = registry.get(execution.saga, execution.revision)
    if saga is None:
        return Plan([], error=messages.sentence("unknown_saga"))
    planned = plan_unwind(saga, facts or acting.facts_of(execution))
    first = next((i for i, line in enumerate(planned) if line.action not in SETTLED), 0)
    before = max(first - BEFORE, 0) if len(planned) > MAX_ROWS else 0
    shown = planned[before : before + MAX_ROWS]
    return Plan(list(_lines(shown)), before, len(planned) - before - len(shown))


def _lines(planned: Iterable[Planned]) -> Iterator[PlanLine]:
    for line in planned:
        reason = messages.word(messages.PLAN_REASON, line.reason)
        yield PlanLine(line.path, line.action, messages.word(messages.ACTION, line.action), reason)


def undone_of(execution: Execution, facts: Snapshot | None = None) -> Undone:
    """The steps whose effect still stands in the world, the latest first: the unwind takes them in that order."""
    facts = facts or acting.facts_of(execution)
    saga = registry.get(execution.saga, execution.revision)
    found = undone(saga, facts)
    shown = execution.steps.filter(seq__in=[record.seq for record in found[:MAX_ROWS]])
    return Undone(rows(with_values(shown).order_by("-seq"), saga) if found else [], max(len(found) - MAX_ROWS, 0))
