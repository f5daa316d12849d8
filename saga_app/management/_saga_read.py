"""What `manage.py saga` prints of executions: a table, one in full, or either as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import F

from saga_app import codec, engine, messages
from saga_app.core.failures import ErrorInfo
from saga_app.core.status import Status
from saga_app.core.verbs import Refused
from saga_app.management._saga_waits import as_json, waits
from saga_app.models import Event, Execution, StepRecord
from saga_app.store import transactions

LINE = 100  # characters of an error in a table
GOING_WELL = frozenset(Status) - {Status.STUCK, Status.COMPENSATING, Status.FAILED, Status.CANCELLED}


def printable(text: object) -> str:
    """The text with control characters and lone surrogates escaped: stored text must not steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def say(command: BaseCommand, *lines: object) -> None:
    """Print lines."""
    for line in lines:
        command.stdout.write(printable(line))


def say_json(command: BaseCommand, value: Any) -> None:
    """Print one JSON value, in ASCII."""
    command.stdout.write(json.dumps(value, indent=2))


def table(command: BaseCommand, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows in columns."""
    lines = [list(head), *([printable("" if cell is None else cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        command.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def find(text: str) -> Execution:
    """The execution of an id, or CommandError."""
    execution = Execution.objects.using(transactions.alias()).filter(pk=as_id(text)).first()
    if execution is None:
        raise CommandError(f"No execution has the id {text}.")
    return execution


def as_id(text: str) -> UUID:
    """The text as an id, or CommandError."""
    try:
        return UUID(text)
    except ValueError:
        raise CommandError(f'"{printable(text)}" is no id of an execution: `saga executions` lists them.') from None


def executions(command: BaseCommand, options: dict[str, Any]) -> None:
    """List executions."""
    if options["limit"] < 1:
        raise CommandError("--limit takes a number from 1 on.")
    wanted = {name: options[name] for name in ("saga", "status", "stuck_reason", "key") if options[name] is not None}
    found = Execution.objects.using(transactions.alias()).light().filter(**wanted).order_by("-created_at", "-pk")
    if options["stuck_reason"] is not None:
        found = found.stuck()  # nothing else has one, and those that are stuck have an index of their own
    rows = found[: options["limit"]]
    if options["json"]:
        say_json(command, [summary(row) for row in rows])
    elif not rows:
        say(command, "No executions.")
    else:
        table(command, ("ID", "SAGA", "KEY", "STATUS", "CREATED", "WHY"), _lines(list(rows)))


def show(command: BaseCommand, options: dict[str, Any]) -> None:
    """Show one execution."""
    execution = find(options["id"])
    steps, events = list(execution.steps.light()), list(execution.events.all())
    nothing = execution.status in GOING_WELL or execution.pivoted_at is not None  # past the pivot nothing is undone
    undone = [] if nothing else [step.path for step in execution.steps.undone().light()]
    verbs = engine.eligibility(execution)
    if options["json"]:
        value = summary(execution) | {
            "input": codec.plain(execution.input_text),
            "output": None if execution.output_text is None else codec.plain(execution.output_text),
            "still_undone": undone,
            "waits_for": as_json(execution),
            "steps": [_step(step) for step in steps],
            "events": [_event(event) for event in events],
            "verbs": {verb: answer.code if isinstance(answer, Refused) else None for verb, answer in verbs.items()},
        }
        say_json(command, value)
        return
    _show_head(command, execution)
    if lines := waits(execution):
        say(command, "Waits for:", *lines, "")
    if undone:
        say(command, f"Still undone: {', '.join(undone)}", "")
    head = ("STEP", "STATUS", "ATTEMPT", "COMPENSATION", "ERROR")
    table(command, head, [_step_line(step) for step in steps])
    say(command, "", "History:", *(_event_line(event) for event in events), "", "Verbs:")
    for verb, answer in verbs.items():
        sentence = messages.sentence(answer.code, answer.params) if isinstance(answer, Refused) else "allowed"
        say(command, f"  {messages.verb_word(verb)}: {sentence}")


def summary(execution: Execution) -> dict[str, Any]:
    """An execution as JSON values, without what may be large."""
    error = execution.error
    return {
        "id": str(execution.pk),
        "saga": execution.saga,
        "revision": execution.revision,
        "key": execution.key,
        "status": execution.status,
        "rollback_status": execution.rollback_status,
        "stuck_reason": execution.stuck_reason,
        "error": None if error is None else {"type": error.type, "message": error.message},
        "failing_path": execution.failing_path,
        "version": execution.version,
        "resume_count": execution.resume_count,
        **{name: _moment(getattr(execution, name)) for name in ("due_at", "created_at", "started_at", "finished_at")},
    }


def _moment(at: Any) -> str | None:
    return None if at is None else at.isoformat()


def _errors(found: Sequence[Execution]) -> dict[UUID, ErrorInfo | None]:
    """What each of them stopped with: on the way back that is an error of the step, not what it went back for."""
    back = [row.pk for row in found if row.status == Status.STUCK and row.unwinding_at is not None]
    errors = {row.pk: row.error for row in found} | dict.fromkeys(back)
    if back:
        records = StepRecord.objects.using(transactions.alias()).light()
        for record in records.filter(execution__in=back, path=F("execution__failing_path")):
            compensated = record.compensation_attempt > 0
            errors[record.execution_id] = record.compensation_error if compensated else record.error
    return errors


def _why(execution: Execution, error: ErrorInfo | None) -> str:
    reason = messages.reason_word(execution.stuck_reason) if execution.stuck_reason else ""
    return ": ".join(part for part in (reason, error.text[:LINE] if error else "") if part)


def _lines(found: Sequence[Execution]) -> Iterator[tuple[object, ...]]:
    errors = _errors(found)
    for row in found:
        created = row.created_at.isoformat(" ", "seconds")
        yield (row.pk, row.saga, row.key, row.status, created, _why(row, errors[row.pk]))


def _show_head(command: BaseCommand, execution: Execution) -> None:
    rollback = messages.rollback_word(execution.rollback_status) if execution.rollback_status else ""
    error = _errors([execution])[execution.pk]
    why, began = _why(execution, error), execution.error
    status = ", ".join(part for part in (messages.status_word(execution.status), rollback) if part)
    say(
        command,
        f"{execution.saga} (revision {execution.revision}) {execution.pk}",
        f"Status:  {status}",
        f"Version: {execution.version}",
        *([f"Key:     {execution.key}"] if execution.key is not None else []),
        f"Created: {_moment(execution.created_at)}",
        *([f"Due:     {_moment(execution.due_at)}"] if execution.due_at else []),
        *([f"Ended:   {_moment(execution.finished_at)}"] if execution.finished_at else []),
        *([f"Why:     {why}"] if why else []),
        *([f"Went back because: {began.text[:LINE]}"] if began and began != error else []),
        *([f"Cure:    {messages.cure(execution.stuck_reason)}"] if execution.stuck_reason else []),
        f"Input:   {json.dumps(codec.plain(execution.input_text))}",
        *([f"Output:  {json.dumps(codec.plain(execution.output_text))}"] if execution.output_text is not None else []),
        "",
    )


def _step(step: StepRecord) -> dict[str, Any]:
    errors = {"error": step.error, "compensation_error": step.compensation_error}
    return {
        "path": step.path,
        "status": step.status,
        "attempt": step.attempt,
        "attempt_limit": step.attempt_limit,
        "idempotency_key": step.idempotency_key,
        "compensation_status": step.compensation_status,
        "compensation_attempt": step.compensation_attempt,
        **{name: None if error is None else error.text for name, error in errors.items()},
    }


def _step_line(step: StepRecord) -> tuple[object, ...]:
    error = step.compensation_error or step.error
    attempt = f"{step.attempt} of {step.attempt_limit}"
    text = error.text[:LINE] if error else ""
    compensation = messages.compensation_word(step.compensation_status)
    return (step.path, messages.step_word(step.status), attempt, compensation, text)


def _event(event: Event) -> dict[str, Any]:
    at = _moment(event.at)
    return {"at": at, "type": event.type, "actor": event.actor_name, "reason": event.reason, "data": event.data}


def _event_line(event: Event) -> str:
    who = f" by {event.actor_name}" if event.actor_name else ""
    why = f": {event.reason}" if event.reason else ""
    return f"  {event.at.isoformat(' ', 'seconds')}  {messages.event_word(event.type)}{who}{why}"
