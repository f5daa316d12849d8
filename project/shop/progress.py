"""How far an order is, in the words of the shop's pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.utils import timezone

from project.shop.models import Order
from project.shop.sagas.labels import print_label
from project.shop.sagas.orders import charge, create_invoice, reserve, ship, thank
from project.shop.sagas.wholesale import hand_over, pack
from saga_app.models import Execution, StepRecord

PIVOT = ("", "Point of no return")
BOUGHT = ("supplier_order", "Buy at a supplier")


def _titles(*written: Any) -> list[tuple[str, str]]:
    return [one if isinstance(one, tuple) else (one.name, one.title) for one in written]


STAGES = {  # the steps of an order, as (name, title): those of a loop are told together
    Order.Way.SHELF: _titles(reserve, charge, create_invoice, PIVOT, ship, thank),
    Order.Way.WHOLESALE: _titles(reserve, pack, print_label, charge, create_invoice, PIVOT, hand_over, thank),
    Order.Way.SPECIAL: _titles(charge, BOUGHT, create_invoice, PIVOT, ship, thank),
}
HEADLINES = {  # status -> sentence, tone
    "pending": ("Waiting for a worker", "idle"),
    "running": ("On its way", "busy"),
    "waiting": ("Waiting", "wait"),
    "suspended": ("Suspended by an operator", "wait"),
    "compensating": ("Being undone", "busy"),
    "stuck": ("Stuck: an operator has to act", "bad"),
    "completed": ("Completed", "good"),
    "failed": ("Failed, and undone", "undone"),
    "cancelled": ("Cancelled, and undone", "undone"),
}
FORWARD = {
    "running": ("running", "busy"),
    "waiting": ("waiting", "wait"),
    "queued": ("waiting for a worker", "wait"),
    "completed": ("done", "good"),
    "failed": ("failed", "bad"),
    "skipped": ("skipped", "idle"),
}
BACKWARD = {
    "running": ("being undone", "busy"),
    "waiting": ("undo will be tried again", "wait"),
    "compensated": ("undone", "undone"),
    "failed": ("undo failed", "bad"),
    "abandoned": ("undo given up", "bad"),
    "resolved": ("undone by hand", "undone"),
}
TONES = ["bad", "busy", "wait", "undone", "idle", "good"]  # the worst first
NOTES = {  # how an attempt ended that has no error of its own to show
    "lost": "The worker died in the middle of it.",
    "timed_out": "No answer in time.",
    "happened": "Asked: it had happened.",
    "not_happened": "Asked: it had not happened.",
    "unknown": "Asked: not known yet.",
}


@dataclass(frozen=True)
class Stage:
    """One step of the order, or the point of no return."""

    title: str
    state: str = ""
    tone: str = "idle"
    is_pivot: bool = False
    attempt: int = 0
    attempt_limit: int = 0
    due_at: datetime | None = None
    notes: tuple[str, ...] = ()
    undo: str = ""
    undo_attempt: int = 0


@dataclass(frozen=True)
class Progress:
    """How far one order is."""

    order: Order
    execution: Execution | None
    headline: str
    tone: str
    stages: tuple[Stage, ...]
    error: str
    is_over: bool


def progress(order: Order, execution: Execution | None) -> Progress:
    """Picture an order from its execution and step records as they are now."""
    if execution is None:
        return Progress(order, None, "Not placed", "idle", tuple(_stages(order, [], pivoted=False)), "", is_over=True)
    records = list(execution.steps.all())
    headline, tone = _headline(execution, records)
    return Progress(
        order=order,
        execution=execution,
        headline=headline,
        tone=tone,
        stages=tuple(_stages(order, records, pivoted=execution.pivoted_at is not None)),
        error=execution.error.text if execution.error and execution.status != "completed" else "",
        is_over=execution.status in {"completed", "failed", "cancelled"},
    )


def _headline(execution: Execution, records: list[StepRecord]) -> tuple[str, str]:
    headline, tone = HEADLINES[execution.status]
    optional = sum(record.status == "failed" for record in records)
    if execution.status == "completed" and optional:
        return f"{headline}, {optional} optional step failed", "good"
    if execution.rollback_status == "not_applicable":
        return {"failed": "Failed, nothing to undo", "cancelled": "Cancelled, nothing to undo"}[execution.status], tone
    if execution.rollback_status == "abandoned":
        return "Failed, the undoing was given up", "bad"
    if execution.status == "pending" and execution.due_at and execution.due_at > timezone.now():
        return "Scheduled", "wait"
    return headline, tone


def _stages(order: Order, records: list[StepRecord], *, pivoted: bool) -> Iterator[Stage]:
    for name, title in STAGES[Order.Way(order.way)]:
        if not name:
            tone = "good" if pivoted else "idle"
            yield Stage(title, "passed" if pivoted else "ahead", tone, is_pivot=True)
            continue
        found = [_stage(title, record) for record in records if record.name == name]
        yield _together(title, found) if len(found) != 1 else found[0]


def _together(title: str, stages: list[Stage]) -> Stage:
    """Several of one kind as one: how many are how far, in the tone of the worst."""
    if not stages:
        return Stage(title, "not begun")
    states = Counter(stage.undo or stage.state for stage in stages)
    worst = min((stage.tone for stage in stages), key=TONES.index)
    notes = dict.fromkeys(note for stage in stages for note in stage.notes)
    return Stage(title, ", ".join(f"{count} {state}" for state, count in states.items()), worst, notes=tuple(notes))


def _stage(title: str, record: StepRecord) -> Stage:
    state, tone = FORWARD[record.status]
    undo, undo_tone = BACKWARD.get(record.compensation_status, ("", tone))
    return Stage(
        title=title,
        state=state,
        tone=undo_tone,
        attempt=record.attempt,
        attempt_limit=record.attempt_limit,
        due_at=record.due_at if record.status == "waiting" else record.compensation_due_at,
        notes=tuple(_notes(record)),
        undo=undo,
        undo_attempt=record.compensation_attempt,
    )


def _notes(record: StepRecord) -> Iterator[str]:
    """What did not go straight; the same thing several times over is told once."""
    texts = [NOTES.get(attempt["outcome"]) or attempt.get("error", "") for attempt in record.attempts]
    for text, alike in groupby(filter(None, texts)):
        times = len(list(alike))
        yield f"{text} ({times} times)" if times > 1 else text
