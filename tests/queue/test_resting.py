"""A real cluster wakes what rests: at its time, by a signal, a decision, a child; and no worker is held meanwhile."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model

from saga_app.models import Execution
from tests.queue.clusters import await_end, now, until
from tests.queue.works import sagas

pytestmark = pytest.mark.acceptance


def rests_at(execution: Execution, path: str) -> bool:
    """Parked there, and nobody drives it."""
    row = now(execution)
    waits = row.status == "waiting" and row.lease_holder is None
    return waits and row.steps.filter(path=path, status="waiting").exists()


def test_everything_that_rests_is_woken(cluster) -> None:
    """Four executions rest at every kind of gate beside one worker, which is free for others all the while."""
    boss = get_user_model().objects.create_user("boss", is_staff=True)
    running = cluster(workers=1)
    resting = [sagas.resting.start() for _ in range(4)]
    until(lambda: all(rests_at(one, "sleep") for one in resting), running.report)
    quick = sagas.quick.start(name="world")
    assert await_end(quick, cluster=running) == ["completed"]
    until(lambda: all(rests_at(one, "word") for one in resting), running.report)
    for one in resting:
        one.signal("word", {"name": "child"}, key="once")
        one.signal("word", {"name": "nobody"}, key="once")
    until(lambda: all(rests_at(one, "fine") for one in resting), running.report)
    for one in resting:
        one.approve("fine", actor=boss)
    assert await_end(*resting, cluster=running) == ["completed"] * 4
    for one in resting:
        assert [child.output for child in one.children.all()] == ["hello child"]
        slept, word = one.steps.get(path="sleep"), one.steps.get(path="word")
        assert slept.due_at <= word.started_at, "never before its time"
        assert word.started_at - slept.due_at < timedelta(seconds=5), "and soon after it: the poll is 0.2 s"
