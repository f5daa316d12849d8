"""The parts of an execution as JSON: redacted, moments in UTC, codes and no sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import Any

from saga_app import codec
from saga_app.core.failures import ErrorInfo
from saga_app.core.saga import Saga
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.timeline import Bar, Row
from saga_app.models import Event, Signal, StepRecord
from saga_app.models.told import EVENT, SIGNAL, STEP
from saga_app.redacting import provided, redacted

STATE = (
    "status", "rollback_status", "stuck_reason", "failing_path", "started_at", "pivoted_at", "unwinding_at",
    "cancel_requested_at", "finished_at",
)  # fmt: skip
THEN = (
    "seq",
    "path",
    "name",
    "kind",
    "status",
    "choice",
    "attempt",
    "compensation_status",
    "started_at",
    "finished_at",
)


def step(row: StepRecord, saga: Saga[Any] | None, included: Collection[str]) -> dict[str, Any]:
    """A step record, with the large parts that are asked for."""
    shown = columns(row, STEP)
    if "arguments" in included:
        shown["arguments"] = redacted(codec.plain(row.arguments_text))
    if "output" in included:
        shown["output"] = redacted(codec.plain(row.output_text), row.name, provided(saga, row.path))
    if "attempts" in included:
        shown["attempts"] = row.attempts
    if "error" in included:
        shown |= {"error": _error(row.error_text), "compensation_error": _error(row.compensation_error_text)}
    return shown


def event(row: Event) -> dict[str, Any]:
    """A line of the history."""
    return columns(row, EVENT) | {"data": redacted(row.data)}


def signal(row: Signal, included: Collection[str]) -> dict[str, Any]:
    """A signal that came."""
    payload = {"payload": redacted(codec.plain(row.payload_text), row.name)} if "payload" in included else {}
    return columns(row, SIGNAL) | payload


def row(one: Row) -> dict[str, Any]:
    """A row of a timeline; the one without a path is the execution before it began."""
    path = one.record.path if one.record else None
    return {"lane": str(one.lane), "path": path, "bars": [_bar(bar) for bar in one.bars], "earlier": one.more}


def state(x: Snapshot, at: datetime) -> dict[str, Any]:
    """What an execution was at a moment."""
    return {"at": said(at), **columns(x, STATE)}


def then(record: Record) -> dict[str, Any]:
    """What a step was at a moment."""
    return columns(record, THEN)


def columns(row: Any, names: Iterable[str]) -> dict[str, Any]:
    """What these attributes say, as JSON."""
    return {name: said(getattr(row, name)) for name in names}


def said(value: Any) -> Any:
    """A moment as the serializers write it, everything else that is no number as its text."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _bar(bar: Bar) -> dict[str, Any]:
    why = None if bar.why is None else str(bar.why)
    return {**columns(bar, ("start", "end", "outcome", "attempt")), "why": why}


def _error(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    info = ErrorInfo.from_json(text)
    return {"type": info.type, "message": info.message, "notes": list(info.notes)}
