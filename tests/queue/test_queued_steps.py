"""Real clusters drive queued steps: side by side, by whichever worker is free, through kills, on named queues."""

from __future__ import annotations

from collections import Counter

import pytest
from django.core.checks import run_checks

from saga_app.models import StepRecord
from saga_app.store import workers
from saga_app.store.transactions import alias
from tests.queue.clusters import await_end, now, until
from tests.queue.works import sagas
from tests.queue.works.notes import await_note, notes

pytestmark = pytest.mark.acceptance

SLOW = {"slow": {"workers": 1, "queue_limit": 1}}


def test_fifty_rows_on_three_workers(cluster) -> None:
    """Each is called once, by one of several workers; the execution itself holds none of them."""
    running = cluster(workers=3)
    execution = sagas.many.start(items=list(range(50)), seconds=0.05)
    assert await_end(execution, cluster=running) == ["completed"]
    assert Counter(words[1] for words in notes("walk")) == Counter(f"item[{i}]/walk" for i in range(50))
    assert {words[2] for words in notes("walk")} == {"1"}, "first attempts only"
    assert len({words[-1] for words in notes("walk")}) == 3
    rows = StepRecord.objects.filter(execution=execution, kind="step")
    assert set(rows.values_list("row_epoch", "row_deaths", "row_holder")) == {(2, 0, None)}


def test_one_worker_is_enough(cluster) -> None:
    """Nobody waits inside a worker for the others."""
    running = cluster(workers=1)
    execution = sagas.side_by_side.start(seconds=0.05)
    assert await_end(execution, cluster=running) == ["completed"]
    assert [words[1] for words in notes("walked")][-1] == "last"
    assert len(notes("walk")) == 4


def test_a_worker_killed_in_a_queued_body(cluster) -> None:
    """The row is taken over when its lease is over; its sibling is done long before."""
    running = cluster(workers=2, saga={"LEASE": 1, "HARD_STOP_GRACE": 0.5})
    execution = sagas.deadly_group.start()
    assert await_end(execution, cluster=running) == ["completed"]
    assert [words[1] for words in notes("die")] == ["1", "2"]
    assert len({words[2] for words in notes("die")}) == 1, "both attempts carry one key"
    assert len(notes("walk")) == 1
    assert notes("die")[0][-1] != notes("die")[1][-1]


def test_a_queued_body_longer_than_its_lease_runs_once(cluster) -> None:
    """Its heartbeat renews the lease of the row; idle workers beside it take nothing over."""
    running = cluster(workers=3, saga={"LEASE": 1}, retry=2, timeout=1)
    execution = sagas.side_by_side.start(seconds=3)
    await_end(execution, cluster=running)
    assert sorted(words[1] for words in notes("walk")) == ["first", "last", "second", "third"]
    assert set(execution.steps.values_list("row_deaths", flat=True)) == {0}


def test_a_named_queue_is_served_by_the_cluster_of_its_name(cluster) -> None:
    """The default cluster leaves it, and says so; with `Q_CLUSTER_NAME=slow` it is driven there, and only there."""
    default = cluster(workers=1, ALT_CLUSTERS=SLOW)
    labelled, torn, whole = sagas.labelled.start(), sagas.torn.start(), sagas.whole.start()
    until(lambda: StepRecord.objects.filter(status="queued").count() == 2, default.report)
    until(lambda: workers.served(alias()) == {""}, default.report)
    assert workers.unserved(alias()) == ["slow"]
    found = [message for message in run_checks(tags=["saga"], databases=["default"]) if message.id == "saga_app.W011"]
    assert "Q_CLUSTER_NAME=slow manage.py qcluster" in found[0].hint
    assert not notes("print") and now(whole).status == "pending"
    slow = cluster(workers=1, ALT_CLUSTERS=SLOW, name="slow")
    assert await_end(labelled, torn, whole, cluster=slow) == ["completed", "failed", "completed"]
    until(lambda: workers.served(alias()) == {"", "slow"}, slow.report)
    assert workers.unserved(alias()) == []
    there = {str(pid) for pid in slow.worker_pids()}
    on_slow = [*await_note("print", 2), *notes("tear-up"), *[one for one in notes("walk") if one[1] == "alone"]]
    assert len(on_slow) == 4 and {words[-1] for words in on_slow} == there
    elsewhere = [*notes("refuse"), *[one for one in notes("walk") if one[1] == "after"]]
    assert len(elsewhere) == 2 and not {words[-1] for words in elsewhere} & there
    assert slow.stop() < 6
