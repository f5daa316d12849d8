"""The rows of worker processes, and driving without any of them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from saga_app import clock
from saga_app.core.errors import NotReady
from saga_app.models import Execution, Worker
from saga_app.queue import inline
from saga_app.store import workers
from tests.queue.works import sagas

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("notes")]


class Moved:
    """The clock of this process, moved."""

    def __init__(self, by: timedelta) -> None:
        self.by = by

    def now(self):
        from datetime import UTC, datetime

        return datetime.now(UTC) + self.by

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody sleeps here")


def test_they_are_seen_claim_and_are_forgotten() -> None:
    workers.seen("here", [1, 2], "c@1")
    first = Worker.objects.get(pk="here:1")
    with clock.replaced(Moved(timedelta(seconds=20))):
        workers.seen("here", [1], "c@1")
        workers.claimed("here:2")
    again = Worker.objects.get(pk="here:1")
    assert again.started_at == first.started_at
    assert again.seen_at > first.seen_at
    assert again.claimed_at is None
    assert Worker.objects.get(pk="here:2").claimed_at is not None
    with clock.replaced(Moved(timedelta(hours=2))):
        workers.seen("here", [3], "c@1")
    assert [worker.pk for worker in Worker.objects.all()] == ["here:3"]


def test_a_number_that_another_cluster_had_is_a_new_worker() -> None:
    workers.seen("here", [1], "old@7")
    workers.claimed("here:1")
    workers.wedged("here", "old@7", is_so=True)
    workers.seen("here", [1], "new@9")
    found = Worker.objects.get()
    assert (found.cluster, found.claimed_at, found.wedged_at) == ("new@9", None, None)


def test_a_wedge_is_a_cluster_s_and_passes_with_a_claim() -> None:
    workers.seen("here", [1, 2], "a@1")
    workers.seen("here", [3], "b@1")
    workers.wedged("here", "a@1", is_so=True)
    assert set(Worker.objects.filter(wedged_at__isnull=False).values_list("pid", flat=True)) == {1, 2}
    workers.claimed("here:1")
    assert Worker.objects.get(pk="here:1").wedged_at is None
    workers.wedged("here", "a@1", is_so=False)
    assert not Worker.objects.filter(wedged_at__isnull=False).exists()


def test_driving_here_until_nothing_is_due() -> None:
    for number in range(3):
        sagas.quick.start(name=f"n{number}")
    assert inline.run_until_idle(limit=2) == 2
    assert Execution.objects.filter(status="completed").count() == 2
    assert inline.run_until_idle() == 1
    assert inline.run_until_idle() == 0


def test_driving_here_is_refused_inside_a_transaction() -> None:
    """Case C10: the caller's transaction is left alone."""
    execution = sagas.quick.start(name="n")
    with transaction.atomic():
        for drive in (lambda: sagas.quick.run(name="m"), lambda: inline.drive(execution), inline.run_until_idle):
            with pytest.raises(NotReady, match="inside a transaction"):
                drive()
    assert Execution.objects.count() == 1
    assert inline.drive(execution).status == "completed"
