"""Batches: one verb for many executions. The selection is frozen and shown before anything runs; workers carry it out.

What people do to a batch happens, inside a transaction of theirs, when that commits. Each item is done in one
transaction with its verb: a worker that dies between two neither repeats a verb nor loses one.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet

from saga_app import acting, clock, engine, messages
from saga_app.core import batching
from saga_app.core.batching import BATCH_VERBS, MOST, MOST_AT_ONCE, TELLING, Act, BatchStatus, ItemStatus
from saga_app.core.errors import BatchError, SagaError, VerbRefused
from saga_app.core.failures import describe
from saga_app.core.previewing import Preview
from saga_app.core.previewing import preview as previewed
from saga_app.core.verbs import GUARDED, REASON_REQUIRED, Refused
from saga_app.models import Execution, OperatorBatch, OperatorBatchItem
from saga_app.store import batch_reads
from saga_app.store import batches as store
from saga_app.store.batches import Outcome
from saga_app.store.claims import holder_for
from saga_app.store.events import readable
from saga_app.store.transactions import (
    DatabaseFault,
    Passing,
    alias,
    drop_broken_connection,
    durable,
    refuse_inside_transaction,
)

logger = logging.getLogger("saga_app")

PERMISSION = "saga_app.batch_execution"


def permissions(verb: str) -> tuple[str, str]:
    """What somebody needs to let a batch run."""
    return PERMISSION, f"saga_app.{verb}_execution"


def has_all(user: Any, permissions: Iterable[str]) -> bool:
    """Whether somebody has all of them. A user model of the site's own may know `has_perm` alone."""
    return all(user.has_perm(permission) for permission in permissions)


# what people do


def freeze(verb: str, executions: QuerySet[Execution], *, actor: Any, chosen: str = "") -> OperatorBatch:
    """Freeze a selection into a draft, with the version that each execution has now. Nothing is done to them yet.

    Args:
        verb: one of BATCH_VERBS.
        executions: which; those that begin to fit the same filters later are not added.
        actor: who selected them, a user.
        chosen: how, for people.

    Raises:
        BatchError: nothing was selected, or more than MOST.
    """
    if verb not in BATCH_VERBS:
        raise BatchError(f"{verb!r} is no verb for many executions: {', '.join(BATCH_VERBS)}")
    using = alias()
    with transaction.atomic(using=using):
        some = executions.using(using)[: MOST + 1]
        batch = store.freeze(verb, some, actor=actor, told=chosen, using=using)
        if not batch.size:
            raise BatchError(messages.sentence("nothing_selected"))
        if batch.size > MOST:
            raise BatchError(messages.sentence("too_many_selected", {"most": MOST}))
    return batch


def preview(batch: OperatorBatch) -> Preview:
    """What the verb would do to the executions of a draft, as they are now."""
    return previewed(batch.verb, batch_reads.groups(batch, alias()))


def begin(
    batch: OperatorBatch,
    *,
    actor: Any,
    reason: str = "",
    canary: int = 0,
    rate: float | None = None,
    version: int | None = None,
) -> OperatorBatch:
    """Let a draft run.

    Args:
        batch: the draft.
        actor: in whose name the verbs are used. What they may do is asked again when it runs.
        reason: why, for the history of each execution.
        canary: stop when so many were not refused, for somebody to look before the rest follows; 0: go on.
        rate: executions per second; None: as fast as it can.
        version: the version that was seen; refused (`batch_changed`) where it has moved on.
    """
    if canary < 0 or not (rate is None or 0 < rate < math.inf):
        raise BatchError(f"canary={canary!r} and rate={rate!r}: a number of executions, and executions per second")
    if batch.verb in REASON_REQUIRED and not reason.strip():
        raise acting.refused(Refused("reason_required"))
    first = min(canary, batch.size)  # more than there are is all of them, and no number too large for its column
    columns = {"reason": readable(reason), "canary": first, "rate": rate, "started_at": clock.now()}
    return _act(batch, Act.BEGIN, actor, reason, version, {**store.person(actor), **columns})


def pause(batch: OperatorBatch, *, actor: Any, reason: str = "", version: int | None = None) -> OperatorBatch:
    """Stop after the item that runs now, until somebody lets it go on."""
    return _act(batch, Act.PAUSE, actor, reason, version)


def go_on(batch: OperatorBatch, *, actor: Any, reason: str = "", version: int | None = None) -> OperatorBatch:
    """Let it go on, after a pause or to the rest after its first few; from now on in this actor's name."""
    return _act(batch, Act.GO_ON, actor, reason, version, {**store.person(actor), "halted_because": ""})


def cancel(batch: OperatorBatch, *, actor: Any, reason: str = "", version: int | None = None) -> OperatorBatch:
    """End it: what is done stays done, the rest is left alone."""
    return _act(batch, Act.CANCEL, actor, reason, version)


def discard(batch: OperatorBatch, *, version: int | None = None) -> None:
    """Throw a draft away."""
    using = alias()
    with transaction.atomic(using=using):
        row = _locked(batch, using, version)
        if row.status != BatchStatus.DRAFT:
            raise acting.refused(_was_first(row))
        store.discard(row, using)


def _act(
    batch: OperatorBatch,
    what: Act,
    actor: Any,
    reason: str,
    version: int | None,
    columns: Mapping[str, Any] = MappingProxyType({}),
) -> OperatorBatch:
    using = alias()
    with transaction.atomic(using=using):
        row = _locked(batch, using, version)
        if batching.moved(what, row.status) is None:
            raise acting.refused(_was_first(row))
        store.act(row, what, using, actor=actor, reason=reason, columns=columns)
    return OperatorBatch.objects.using(using).get(pk=row.pk)


def _locked(batch: OperatorBatch, using: str, version: int | None) -> OperatorBatch:
    row = store.lock(batch.pk, using)
    if row is None:
        raise acting.refused(Refused("batch_gone"))
    if version is not None and row.version != version:
        raise acting.refused(_was_first(row))
    return row


def _was_first(row: OperatorBatch) -> Refused:
    """Who did what to it, so that it is not the batch any more that somebody saw."""
    last = row.history[-1] if row.history else {}
    params = {"status": row.status, "by": last.get("by", ""), "what": last.get("what", "")}
    return Refused("batch_changed", params)


# what workers do


def drive_next(*, holder: str, go_on: Callable[[], bool] = lambda: True) -> int:
    """Claim a due batch and do its next items; how many batches were claimed, none or one.

    Args:
        holder: this process, as `host:pid`.
        go_on: asked before each item; False gives the batch back.
    """
    refuse_inside_transaction("batches.drive_next()")
    using = alias()
    if not store.is_due(using):
        return 0
    with durable(using):
        batch = store.take(holder_for(holder), using)
    if batch is None:
        return 0
    try:
        _Go(batch, using).run(go_on)
    except DatabaseFault:
        logger.exception("Batch %s is left to the next claim.", batch.pk)
        drop_broken_connection(using)
    except Exception:
        logger.exception("Batch %s could not be driven; its lease runs out.", batch.pk)
    return 1


class _Go:
    """One claim of a batch: so many items, one transaction each."""

    def __init__(self, batch: OperatorBatch, using: str) -> None:
        self.batch, self.using = batch, using
        self.actor = _user(batch.actor_id)
        self.done = store.done(batch, using, batch.canary) if batch.canary else 0
        self.after = 0

    def run(self, go_on: Callable[[], bool]) -> None:
        batch, began = self.batch, clock.monotonic()
        if halted_because := self._may_not():
            self._halt(halted_because)
            return
        count = batching.at_once(done=self.done, canary=batch.canary, rate=batch.rate)
        before, items = self.done, 0
        while self.done - before < count and items < MOST_AT_ONCE and go_on():
            if not self._one():
                return
            items += 1
        with durable(self.using):
            spent = clock.monotonic() - began
            rest = max(0.0, batching.pause_after(self.done - before, batch.rate) - spent)
            store.give_back(batch, self.using, after=rest)

    def _may_not(self) -> str:
        """Why it does not go on in the name of whoever let it run; empty where it does."""
        if self.actor is None:
            return "actor_gone"
        allowed = self.actor.is_active and has_all(self.actor, permissions(self.batch.verb))
        return "" if allowed else "not_permitted"

    def _halt(self, halted_because: str) -> None:
        with durable(self.using):
            if store.hold(self.batch, self.using):
                store.act(self.batch, Act.HALT, self.using, columns={"halted_because": halted_because})

    def _one(self) -> bool:
        """Do the next item, in one transaction; whether there may be another."""
        with durable(self.using):
            if not store.hold(self.batch, self.using):
                return False
            items = store.pending(self.batch, self.using, 2, after=self.after)
            for item in items[:1]:  # none, where what was left of the executions has been deleted
                self._settle(item)
            then = batching.after_item(done=self.done, canary=self.batch.canary, more=len(items) > 1)
            if then is not None:
                store.act(self.batch, then, self.using)
        return then is None

    def _settle(self, item: OperatorBatchItem) -> None:
        outcome = self._outcome(item)
        store.settle(item, outcome, self.using)
        self.done += outcome.status in TELLING
        self.after = item.pk

    def _outcome(self, item: OperatorBatchItem) -> Outcome:
        """Use the verb; what it wrote is kept only where it was accepted.

        A fault of the database that may pass is the next claim's to try again; any other error is the item's.
        """
        try:
            with transaction.atomic(using=self.using), acting.part_of(batch=str(self.batch.pk)):
                self._use_verb(item.execution_id, item.seen_version)
        except VerbRefused as refusal:
            return Outcome(ItemStatus.REFUSED, refusal.code, refusal.params)
        except SagaError as error:
            return _failed(error)
        except Passing:
            raise
        except Exception as error:
            logger.exception("Batch %s: %s of execution %s.", self.batch.pk, self.batch.verb, item.execution_id)
            return _failed(error)
        return Outcome(ItemStatus.ACCEPTED)

    def _use_verb(self, execution_id: UUID, seen: int) -> None:
        verb, reason = self.batch.verb, self.batch.reason
        version = seen if verb in GUARDED else None  # what runs changes all the time, and may be stopped all the same
        getattr(engine, verb)(execution_id, actor=self.actor, reason=reason, version=version)


def _user(pk: Any) -> Any:
    return None if pk is None else get_user_model()._default_manager.filter(pk=pk).first()  # noqa: SLF001


def _failed(error: Exception) -> Outcome:
    """Also of one that raises when it is asked for its text: the item would be tried until the batch is given up."""
    return Outcome(ItemStatus.FAILED, type(error).__name__, {"text": describe(error).message})
