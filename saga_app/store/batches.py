"""Batches: a frozen selection, who may work through it until when, and what became of each execution of it.

Whoever has claimed a batch writes under a fence: the first statement of each item's transaction locks the batch's row
where the claim is still ours. So an item is done in one transaction with its verb, or neither is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import F, QuerySet

from saga_app import clock
from saga_app.conf import settings
from saga_app.core.batching import ENDED, MOST_DEATHS, TELLING, Act, BatchStatus, ItemStatus, moved
from saga_app.models import Execution, OperatorBatch, OperatorBatchItem
from saga_app.store import sql
from saga_app.store.events import check_actor, readable

DRAFTS_KEPT = timedelta(days=1)  # one that nobody begins is no record of anything


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one item.

    Attributes:
        status: accepted, refused or failed.
        code: of a refusal or a failure.
        params: what its sentence is made of.
    """

    status: ItemStatus
    code: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)


def freeze(verb: str, chosen: QuerySet[Execution], *, actor: Any, told: str, using: str) -> OperatorBatch:
    """Insert a draft of the chosen executions, inside a transaction of the caller's.

    One statement: no row of them comes to this process. Each is kept with the version that it has in it.
    """
    check_actor(actor)
    batches, now = OperatorBatch.objects.using(using), clock.now()
    _forget_drafts(now - DRAFTS_KEPT, using)
    draft = {"verb": verb, "status": BatchStatus.DRAFT, "size": 0, "chosen": readable(told)[:255], "created_at": now}
    batch = OperatorBatch(**draft, **person(actor))
    batches.bulk_create([batch])
    batch.size = _insert_items(batch, chosen, using)
    batches.filter(pk=batch.pk).update(size=batch.size)
    return batch


def _forget_drafts(before: datetime, using: str) -> None:
    """Remove old drafts. Locked first: Django deletes by key what it has read, and one may have begun since then."""
    drafts = OperatorBatch.objects.using(using).filter(status=BatchStatus.DRAFT, created_at__lt=before)
    old = list(drafts.select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True))
    if old:
        OperatorBatch.objects.using(using).filter(pk__in=old).delete()


def _insert_items(batch: OperatorBatch, chosen: QuerySet[Execution], using: str) -> int:
    """In the order in which they were chosen; one that a join has brought twice is inserted once."""
    try:
        text, params = chosen.values_list("pk", "version").query.get_compiler(using).as_sql()
    except EmptyResultSet:
        return 0
    columns = sql.columns(OperatorBatchItem, ("batch", "execution", "seen_version", "status", "code", "params_text"))
    insert = (
        f"WITH chosen (pk, version) AS ({text}) INSERT INTO {sql.table(OperatorBatchItem)} ({columns}) "
        "SELECT %s, pk, version, %s, '', '{}' FROM chosen WHERE 1 = 1 ON CONFLICT DO NOTHING"
    )
    key = sql.prepared(OperatorBatchItem, using, "batch", batch.pk)
    with connections[using].cursor() as cursor:
        cursor.execute(insert, [*params, key, ItemStatus.PENDING])
    return OperatorBatchItem.objects.using(using).filter(batch=batch).count()  # SQLite does not say how many


def lock(batch_id: UUID, using: str) -> OperatorBatch | None:
    """Lock a batch until the transaction ends; None where there is none (a draft may have been discarded)."""
    return OperatorBatch.objects.using(using).select_for_update(no_key=True).filter(pk=batch_id).first()


def discard(batch: OperatorBatch, using: str) -> None:
    """Remove a draft, which is locked."""
    OperatorBatch.objects.using(using).filter(pk=batch.pk, status=BatchStatus.DRAFT).delete()


def act(
    batch: OperatorBatch,
    what: Act,
    using: str,
    *,
    actor: Any = None,
    reason: str = "",
    columns: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Do what is legal with a batch that is locked: its status, its history, and whose claim it is: nobody's."""
    check_actor(actor)
    status, now = moved(what, batch.status), clock.database_now(using)
    assert status is not None, (what, batch.status)  # noqa: S101 - asked under the same lock
    running = status == BatchStatus.RUNNING
    changes = {
        "status": status,
        "due_at": now if running else None,
        "lease_holder": None,
        "epoch": F("epoch") + 1,
        "deaths": 0,
        "version": F("version") + 1,
        **({"canary": 0} if batch.status == BatchStatus.HOLDING else {}),  # nobody is asked about the rest twice
        "history_text": json.dumps([*batch.history, _line(what, actor, reason, columns)]),
        **({"finished_at": now} if status in ENDED else {}),
        **columns,
    }
    OperatorBatch.objects.using(using).filter(pk=batch.pk).update(**changes)


def person(actor: Any) -> dict[str, Any]:
    """The columns that say in whose name the verbs are used; the name outlives the user."""
    return {"actor_id": actor.pk, "actor_name": str(actor.get_username())[:255]}


def _line(what: Act, actor: Any, reason: str, columns: Mapping[str, Any]) -> dict[str, str]:
    by = "" if actor is None else str(actor.get_username())[:255]
    why = readable(reason) or str(columns.get("halted_because", ""))
    return {"at": clock.now().isoformat(), "what": str(what), "by": by, "why": why}


# claims


def is_due(using: str) -> bool:
    """Whether a batch is due: a plain look."""
    return due(using).exists()


def due(using: str) -> QuerySet[OperatorBatch]:
    """Those that a worker should claim now, lapsed leases included; who has waited longest first."""
    return OperatorBatch.objects.using(using).filter(due_at__lte=clock.database_now(using)).order_by("due_at")


def take(holder: str, using: str) -> OperatorBatch | None:
    """Claim a due batch, inside a transaction of the caller's; None where there is none, or its workers die of it."""
    batch = due(using).select_for_update(no_key=True, skip_locked=True).first()
    if batch is None:
        return None
    if batch.deaths >= MOST_DEATHS:
        act(batch, Act.HALT, using, columns={"halted_because": "worker_lost"})
        return None
    lease = clock.database_now(using, plus=settings.LEASE)
    changes = {"epoch": batch.epoch + 1, "lease_holder": holder, "deaths": batch.deaths + 1}
    OperatorBatch.objects.using(using).filter(pk=batch.pk).update(**changes, due_at=lease)
    for name, value in changes.items():
        setattr(batch, name, value)
    return batch


def hold(batch: OperatorBatch, using: str) -> bool:
    """Renew the lease and lock the row for the rest of the transaction; False: the batch is not ours any more."""
    renewed = {"due_at": clock.database_now(using, plus=settings.LEASE), "deaths": 0}
    return bool(_ours(batch, using).update(**renewed))


def give_back(batch: OperatorBatch, using: str, *, after: float = 0.0) -> None:
    """Let the next worker go on, after so many seconds."""
    due_at = clock.database_now(using, plus=after)
    _ours(batch, using).update(lease_holder=None, due_at=due_at, deaths=0)


def _ours(batch: OperatorBatch, using: str) -> QuerySet[OperatorBatch]:
    mine = {"pk": batch.pk, "epoch": batch.epoch, "lease_holder": batch.lease_holder}
    return OperatorBatch.objects.using(using).filter(**mine)


def pending(batch: OperatorBatch, using: str, count: int, *, after: int = 0) -> list[OperatorBatchItem]:
    """The next items, in the order in which they were selected.

    `after`: one up to which all are done. An index keeps what was pending for as long as anybody's transaction may
    still see it so; from the first on, each look would pass by all of that.
    """
    rows = OperatorBatchItem.objects.using(using).filter(batch=batch, status=ItemStatus.PENDING, id__gt=after)
    return list(rows.order_by("id")[:count])


def done(batch: OperatorBatch, using: str, most: int) -> int:
    """How many items are done and tell something, counted no further than that."""
    rows = OperatorBatchItem.objects.using(using).filter(batch=batch, status__in=TELLING)
    return len(rows.values_list("pk")[:most])


def settle(item: OperatorBatchItem, outcome: Outcome, using: str) -> None:
    """Write what became of an item, in the transaction of its verb."""
    params = json.dumps(dict(outcome.params), default=str)
    changes = {"status": outcome.status, "code": outcome.code[:40], "params_text": params}
    rows = OperatorBatchItem.objects.using(using).filter(pk=item.pk)
    rows.update(**changes, at=clock.database_now(using))
