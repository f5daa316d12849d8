"""Queued steps, decided one by one: what a claim is worth, and what is kept of an attempt whose worker was lost."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from saga_app import Parallel, Saga, step
from saga_app.core import registry
from saga_app.core.arranging import Call, queue_up
from saga_app.core.decide import decide
from saga_app.core.decisions import Park, Suspend
from saga_app.core.snapshot import Record, Snapshot
from saga_app.core.status import Status, StepStatus

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def saga(**options: Any) -> Saga[Any]:
    """Two steps side by side."""
    with registry.isolate():
        return Saga("side", Parallel(step(name="x", **options)(lambda: 1), step(name="y")(lambda: 1)))


def picture(one: Saga[Any], **facts: Any) -> Snapshot:
    """An execution of it with a record of `x`."""
    return Snapshot(saga="side", revision=1, fingerprint=one.fingerprint, records=(record(**facts),), next_seq=1)


def record(**facts: Any) -> Record:
    return Record(**({"seq": 0, "path": "x", "name": "x", "attempt_limit": 2} | facts))


@pytest.mark.parametrize("atomic", [False, True])
def test_an_orphan_that_is_queued_again_may_have_happened(atomic: bool) -> None:
    """Design §9.2. Nobody knows what the attempt of a dead worker did; waiting for the next is no answer."""
    one = saga(atomic=atomic)
    orphan = picture(one, status=StepStatus.RUNNING, attempt=1)
    queued = queue_up(orphan, one.steps[0], "x", None, NOW).known("x")
    assert (queued.status, queued.may_have_happened) == (StepStatus.QUEUED, not atomic)


def test_a_pause_is_not_slept_over() -> None:
    """Promise P6. Nobody claims a queued step while a pause is asked for: who waits for one pauses, too."""
    one, asked = saga(), {"suspend_requested_at": NOW, "status": Status.RUNNING}
    lost = picture(one, status=StepStatus.RUNNING, attempt=1, row_due_at=NOW, row_holder="gone")
    assert decide(one, lost.but(cancel_requested_at=NOW, **asked), NOW) == Suspend()
    assert decide(one, lost.but(deaths=9, **asked), NOW) == Suspend()
    assert decide(one, lost.but(deaths=9, status=Status.RUNNING), NOW) == Park(None)


def test_a_step_that_is_queued_for_the_first_time_has_not_happened() -> None:
    """Nothing of it was called."""
    one = saga()
    empty = Snapshot(saga="side", revision=1, fingerprint=one.fingerprint)
    queued = queue_up(empty, one.steps[0], "x", Call("{}", "key"), NOW).known("x")
    assert (queued.status, queued.attempt, queued.may_have_happened) == (StepStatus.QUEUED, 0, False)
