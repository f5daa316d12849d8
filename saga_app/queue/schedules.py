"""Sagas on a timetable: rows of django-q2's own schedules, whose task starts the saga, once for each planned time.

What django-q2 promises of a schedule is that its task comes at least once: its scheduler may be killed after it has
sent the task and before it has moved the schedule on, and the task itself may be delivered twice. So the key of the
execution is made of the schedule and of the time that was planned, and the second start finds the first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.db import router, transaction
from django.utils import timezone
from django_q.conf import croniter
from django_q.models import Schedule, Task

from saga_app import clock, codec, engine
from saga_app.core.saga import Saga

FUNCTION = f"{__name__}.start_planned"
FOREVER = -1
KINDS = (Schedule.MINUTES, Schedule.HOURLY, Schedule.DAILY, Schedule.WEEKLY, Schedule.MONTHLY, Schedule.CRON)
A_CLICK = timedelta(minutes=1)  # that a moment may be old which somebody has just chosen
_LENGTHS = {Schedule.HOURLY: timedelta(hours=1)}


def start_planned(saga: str, text: str, mark: str, *, planned: str, held: int = 0) -> None:  # noqa: ARG001 - see pause
    """Start a saga at a planned time: what django-q2 calls, at least once for each.

    What cannot be started (the saga is not known here, or takes another input by now) raises: django-q2 keeps that as
    a failed task and delivers it again as its settings say.

    Args:
        saga: its name; the highest revision is started.
        text: its input, encoded.
        mark: tells the schedule from others.
        planned: the time that was planned, which may have passed when this is called.
        held: nothing to whoever starts.
    """
    engine.start(saga, codec.decode(text), key=f"{prefix(mark)}{planned}")


def prefix(mark: str) -> str:
    """How the keys of all executions of a schedule begin."""
    return f"schedule-{mark}-"


@dataclass(frozen=True, slots=True)
class Timing:
    """When a schedule runs.

    Attributes:
        kind: one of `KINDS`.
        first: the first time; None: cron's own next.
        minutes: of every so many minutes.
        cron: the expression.
        repeats: how many times; FOREVER: without end.
    """

    kind: str
    first: datetime | None = None
    minutes: int | None = None
    cron: str = ""
    repeats: int = FOREVER


@dataclass(frozen=True, slots=True)
class Planned:
    """One schedule of a saga.

    Attributes:
        row: django-q2's own.
        saga: the name of the saga.
        text: the input, encoded.
        mark: tells it from others, in the keys of its executions.
        held: how many times were left when it was paused; None: it is not paused.
        failed: the last task could not start it.
    """

    row: Any
    saga: str
    text: str
    mark: str
    held: int | None = None
    failed: bool = False

    @property
    def is_over(self) -> bool:
        """It has run as often as it should."""
        return self.row.repeats == 0 and self.held is None

    @property
    def left(self) -> int:
        """How often it runs yet."""
        return int(self.row.repeats) if self.held is None else self.held


def available() -> bool:
    """Whether the site has django-q2's tables."""
    return apps.is_installed("django_q")


def kinds() -> list[tuple[str, Any]]:
    """What a timetable can be made of, each with django-q2's word; cron where its library is there."""
    words = dict(Schedule.TYPE)
    return [(kind, words[kind]) for kind in KINDS if kind != Schedule.CRON or croniter is not None]


def planned(saga: str | None = None) -> list[Planned]:
    """The schedules of a saga, or of all sagas; the next one to run first."""
    if not available():
        return []
    found = [one for row in Schedule.objects.filter(func=FUNCTION).order_by("next_run", "pk") for one in _read(row)]
    mine = [one for one in found if saga is None or one.saga == saga]
    tasks = Task.objects.filter(pk__in=[one.row.task for one in mine if one.row.task], success=False)
    failed = set(tasks.values_list("pk", flat=True))  # and no more of it: what it returned is a pickle
    return [
        Planned(one.row, one.saga, one.text, one.mark, one.held, failed=True) if one.row.task in failed else one
        for one in mine
    ]


def find(saga: str, pk: int) -> Planned | None:
    """That schedule of the saga."""
    return next((one for one in planned(saga) if one.row.pk == pk), None)


def is_missed(first: datetime) -> bool:
    """A first time that has passed: django-q2 makes up for it, and for each that was planned since, one by one."""
    return first < _now(first) - A_CLICK


def add(saga: Saga[Any], values: Mapping[str, Any], timing: Timing, *, name: str = "", mark: str = "") -> Planned:
    """A new schedule; the one that is there where its mark says that it was made before, by a click too many.

    Two of one mark, made at the same moment, plan the same times: they start one execution for each, as one does.
    ValidationError where django-q2 refuses it; InputError where the saga refuses its input.
    """
    text = codec.encode(saga.accept(values))
    known = next((one for one in planned(saga.name) if one.mark == mark), None)
    if known is not None:
        return known
    row = Schedule(
        name=name,
        func=FUNCTION,
        args=repr((saga.name, text, mark or clock.token())),
        schedule_type=timing.kind,
        minutes=timing.minutes,
        cron=timing.cron or None,
        repeats=timing.repeats,
        intended_date_kwarg="planned",
    )
    row.next_run = timing.first or row.next_run.replace(second=0, microsecond=0)
    row.full_clean()
    row.save()
    return next(_read(row))


def pause(pk: int) -> None:
    """Let it not run until it goes on. django-q2 passes over what has no repeats left; how many there were is kept."""

    def change(row: Any) -> None:
        if row.repeats != 0:
            row.kwargs, row.repeats = repr({"held": row.repeats}), 0

    _change(pk, change)


def go_on(pk: int) -> None:
    """Let it run again, from the next of its times on: those that passed while it was paused are not made up for."""

    def change(row: Any) -> None:
        held = _held(row)
        if held is not None:
            row.kwargs, row.repeats, row.next_run = None, held, _next(row)

    _change(pk, change)


def remove(pk: int) -> None:
    """No execution is started by it any more; those it has started stay."""
    Schedule.objects.filter(pk=pk, func=FUNCTION).delete()


def _change(pk: int, change: Any) -> None:
    """Under the lock of django-q2's own scheduler, which writes whole rows back."""
    using = router.db_for_write(Schedule)
    with transaction.atomic(using=using):
        row = Schedule.objects.using(using).select_for_update(no_key=True).filter(pk=pk, func=FUNCTION).first()
        if row is not None:
            change(row)
            row.save()


def _next(row: Any) -> Any:
    """The first of its times that has not passed."""
    at = row.next_run
    now = _now(at)
    length = timedelta(minutes=row.minutes or 1) if row.schedule_type == Schedule.MINUTES else None
    length = length or _LENGTHS.get(row.schedule_type)
    if length is not None and at <= now:
        return at + ((now - at) // length + 1) * length
    while at <= now:
        at = row.calculate_next_run(at)
    return at


def _now(like: datetime) -> datetime:
    """Now, as aware of its zone as that moment is."""
    return clock.now() if timezone.is_aware(like) else timezone.make_naive(clock.now())


def _read(row: Any) -> Iterator[Planned]:
    """What its arguments say. One that somebody has written by hand, and wrong, is none of ours."""
    with suppress(ValueError, SyntaxError, TypeError):
        saga, text, mark = ast.literal_eval(row.args)
        yield Planned(row, str(saga), str(text), str(mark), _held(row))


def _held(row: Any) -> int | None:
    try:
        held = ast.literal_eval(row.kwargs or "{}").get("held")
    except (ValueError, SyntaxError, AttributeError):
        return None
    return held if isinstance(held, int) else None
