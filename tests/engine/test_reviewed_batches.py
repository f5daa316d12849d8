"""Batches in awkward company: drafts that begin while they are cleared away, rows that are deleted, mute errors."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from saga_app import batches, clock, engine
from saga_app.models import Execution, OperatorBatch
from tests.selections import again, begun, draft, drive, once_each, operator, outcomes
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time")
def test_an_old_draft_that_begins_is_not_thrown_away() -> None:
    """Whoever freezes another selection at that moment neither waits for it nor removes it."""
    batch, bert = draft(), operator("resume", name="bert")
    OperatorBatch.objects.update(created_at=clock.now() - timedelta(days=2))
    with transaction.atomic():
        batches.begin(batch, actor=batch.actor)
        at_once(lambda: batches.freeze("resume", Execution.objects.all(), actor=bert))
    assert drive(batch).status == "completed" and once_each(batch, "resume")


def test_executions_that_are_deleted_leave_nothing_to_do() -> None:
    """A site may delete rows that are over: the batch goes on without them, and ends."""
    batch = begun(count=3, rate=0.5)
    drive(batch)
    Execution.objects.filter(status="stuck").delete()
    OperatorBatch.objects.update(due_at=clock.now())
    assert drive(batch).status == "completed" and outcomes(batch) == {"accepted": 1}


def test_an_error_without_a_text_ends_its_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """Promise P11, for items: an exception that raises when it is read is told as such, and the next item is done."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def resume(*_: Any, **__: Any) -> Execution:
        raise Mute

    batch = begun(count=2)
    monkeypatch.setattr(engine, "resume", resume)
    assert drive(batch).status == "completed" and outcomes(batch) == {"Mute": 2}


def test_a_canary_larger_than_the_batch_is_all_of_it() -> None:
    """Also one that no column of the database can hold."""
    batch = begun(count=2, canary=10**30)
    assert again(batch).canary == 2 and drive(batch).status == "completed"
