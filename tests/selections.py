"""What the tests of batches share: executions in quantity, those who may act on them, and what became of each."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Permission, User
from django.db import connections

from saga_app import batches, clock
from saga_app.models import Event, Execution, OperatorBatch
from saga_app.store.transactions import alias, inside_transactions


def operator(*verbs: str, name: str = "anna") -> User:
    """Somebody who may use these verbs, on many executions at once."""
    user = User.objects.create_user(name, is_staff=True)
    names = [f"{verb}_execution" for verb in ("view", "batch", *verbs)]
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="saga_app", codename__in=names))
    return user


def rows(count: int, status: str = "stuck", **columns: Any) -> list[Execution]:
    """Executions of a saga that nobody knows, without steps: enough for verbs to be used on them."""
    now = clock.now()
    reason = {"stuck_reason": "step_failed"} if status == "stuck" else {}
    made = [
        Execution(
            saga="order", revision=1, fingerprint="", status=status, input_text="{}",
            created_at=now + timedelta(microseconds=number), updated_at=now, status_at=now, **{**reason, **columns},
        )
        for number in range(count)
    ]  # fmt: skip
    Execution.objects.bulk_create(made)
    return made


def draft(verb: str = "resume", actor: User | None = None, count: int = 3, **columns: Any) -> OperatorBatch:
    """A frozen selection of so many, oldest first."""
    if count:
        rows(count, **columns)
    actor = actor or operator(verb)
    return batches.freeze(verb, Execution.objects.order_by("created_at"), actor=actor, chosen="all of them")


def begun(verb: str = "resume", count: int = 3, **options: Any) -> OperatorBatch:
    """One that runs."""
    batch = draft(verb, count=count)
    return batches.begin(batch, actor=batch.actor, reason="mended", **options)


def again(batch: OperatorBatch) -> OperatorBatch:
    return OperatorBatch.objects.get(pk=batch.pk)


def outcomes(batch: OperatorBatch) -> Counter[str]:
    """How many items have come to what."""
    return Counter(item.code or item.status for item in batch.items.all())


def told(batch: OperatorBatch, verb: str) -> Counter[str]:
    """How often the verb is in the history of each execution, as part of that batch."""
    lines = Event.objects.filter(type=verb)
    return Counter(str(line.execution_id) for line in lines if line.data.get("batch") == str(batch.pk))


def drive(batch: OperatorBatch, *, worker: str = "host:1", most: int = 200) -> OperatorBatch:
    """Let one worker go on until nothing of it is due; inside a test's transaction, too."""
    with inside_transactions() if connections[alias()].in_atomic_block else nullcontext():
        for _ in range(most):
            if not batches.drive_next(holder=worker):
                break
    return again(batch)


def once_each(batch: OperatorBatch, verb: str) -> bool:
    """Every accepted item has the verb in its execution's history once, and no other item has it."""
    accepted = [str(item.execution_id) for item in batch.items.filter(status="accepted")]
    return told(batch, verb) == Counter(accepted)
