"""Something of everything that the console has pages for; and the same with hostile text in every stored column."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, models, transaction

from saga_app import Approval, Child, Saga, Wait, batches, clock, testing
from saga_app.core import registry
from saga_app.core.graph import graph_of
from saga_app.core.status import Status
from saga_app.models import Execution, OperatorBatch, SagaVersion, Worker
from saga_app.queue import schedules
from tests.doors import every_state

EVIL = "\"'><img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}}{% now 'Y' %}\u202e\x00"
"""Breaks out of attributes, elements and templates where anything can."""

PART_OF_ADDRESSES = ("saga",)  # no saga of such a name can be written down, but the row might be somebody's work
CODES = ("direction", "outcome", "kind", "type", "id", "from", "to", "group", "parent")  # the engine's own, in JSON

SOME = ("waiting", "stuck going back", "stuck held", "completed")


@dataclass
class Ruling:
    limit: int
    fast: bool = False
    note: str = EVIL


@dataclass
class World:
    """What there is.

    Attributes:
        operator: who did all that.
        states: an execution by the state that it was made in.
        gated: waits for a decision.
        listening: waits for a signal, and has one of another name.
        parent: waits for its child.
        batches: by status.
        sagas: some of their names.
        scheduled: one of them, on a timetable.
    """

    operator: User
    states: dict[str, Execution]
    gated: Execution
    listening: Execution
    parent: Execution
    scheduled: schedules.Planned
    sagas: tuple[str, ...] = ("gated", "parent", "listening", "order")
    batches: dict[str, OperatorBatch] = field(default_factory=dict)


def make(states: Iterable[str] = SOME) -> World:
    """A world in which people and workers did what they do."""
    operator = User.objects.create_superuser(EVIL.rstrip("\x00"), password="operator")
    made = {state: every_state.make(state) for state in states}
    every_state.down.clear()
    gate = Approval("boss", permission="saga_app.rerun_execution", timeout=86_400, input=Ruling)
    saga = Saga("gated", every_state.act("reserve"), gate, title=EVIL)
    gated = testing.run(saga, note=EVIL)
    timing = schedules.Timing("I", first=clock.now() + timedelta(days=1), minutes=5)
    scheduled = schedules.add(saga, {"note": EVIL}, timing, name=EVIL[:60])
    listening = testing.run(
        Saga("listening", Wait("go", timeout=86_400), Wait("other")), key=f"go {EVIL}".rstrip("\x00")
    )
    listening.signal("other", {"a": EVIL}, key=EVIL.rstrip("\x00"), actor=operator, reason=EVIL.rstrip("\x00"))
    parent = testing.run(Saga("parent", Child(Saga("kid", Wait("go")))))
    world = World(operator, made, gated, listening, parent, scheduled)
    work()
    shapes()
    world.batches = select(operator)
    return world


def work() -> None:
    """One worker that is at work, and one that has not been seen for long."""
    now = clock.now()
    Worker.objects.bulk_create(
        Worker(
            id=f"{name}:1", host=name, pid=1, cluster=EVIL.rstrip("\x00"), started_at=now, seen_at=now, wedged_at=wedged
        )
        for name, wedged in (("here", None), (EVIL[:60], now))
    )


def shapes() -> None:
    """What is kept of each saga, and of one whose code is gone. A process keeps them once, for one database."""
    now, found = clock.now(), [(saga.name, saga) for saga in registry.all()]
    SagaVersion.objects.bulk_create(
        [
            SagaVersion(
                saga=name,
                revision=saga.revision,
                fingerprint=saga.fingerprint,
                graph_text=json.dumps(graph_of(saga)),
                seen_at=now,
            )
            for name, saga in [*found, ("gone", found[0][1])]
        ],
        ignore_conflicts=True,
    )


def select(operator: User) -> dict[str, OperatorBatch]:
    """A batch that is only looked at, one that runs, one that was cancelled."""
    stuck = Execution.objects.filter(status=Status.STUCK)
    frozen = [batches.freeze("resume", stuck, actor=operator, chosen=EVIL.rstrip("\x00")) for _ in range(3)]
    for batch in frozen[1:]:
        batches.begin(batch, actor=operator, reason=EVIL.rstrip("\x00"))
    batches.cancel(frozen[2], actor=operator)
    return {batch.status: batch for batch in OperatorBatch.objects.all()}


def poison() -> None:
    """Put hostile text into every stored column that takes it: what a CHECK refuses cannot be there."""
    for model in apps.get_app_config("saga_app").get_models():
        columns = [
            column for column in model._meta.concrete_fields if isinstance(column, models.CharField | models.TextField)
        ]
        for number, row in enumerate([] if model._meta.proxy else model._base_manager.all()):
            for column in columns:
                old = getattr(row, column.attname)
                if column.primary_key or old is None:
                    continue
                evil = EVIL.replace("/", "") if column.name in PART_OF_ADDRESSES else EVIL
                new = poisoned(old, f"{number}{evil}")[: column.max_length]
                try:
                    with transaction.atomic():
                        model._base_manager.filter(pk=row.pk).update(**{column.attname: new})
                except IntegrityError:
                    continue


def poisoned(old: str, evil: str) -> str:
    """Where a column holds JSON, each text in it; else the whole."""
    try:
        kept = json.loads(old)
    except ValueError:
        kept = None
    if isinstance(kept, dict | list):
        return json.dumps(inside(kept, evil))
    return evil if connection.vendor == "sqlite" else evil.replace("\x00", "")


def inside(value: Any, evil: str) -> Any:
    match value:
        case dict():
            return {key: one if key in CODES else inside(one, evil) for key, one in value.items()}
        case list():
            return [inside(one, evil) for one in value]
        case str() if not is_moment(value):
            return evil
        case _:
            return value


def is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
