"""Workers of a batch die, race and lose their claims, and operators step in: no verb twice, none lost."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connections

from saga_app import VerbRefused, batches, clock, engine
from saga_app.batches import _Go
from saga_app.models import Execution, OperatorBatch
from saga_app.store import batches as store
from saga_app.store.claims import holder_for
from saga_app.store.transactions import alias, durable
from tests.faults import lapse
from tests.mortal import Life
from tests.selections import again, begun, drive, once_each, operator, outcomes, rows, told
from tests.store.conftest import failing_commit
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

SIZE = 4


def claimed(worker: str = "host:1") -> OperatorBatch:
    """A claim of the batch that is due."""
    with durable(alias()):
        batch = store.take(holder_for(worker), alias())
    assert batch is not None
    return batch


POINTS = 2 * (1 + SIZE)  # before and after each commit: of the claim, and of each item


@pytest.mark.parametrize("place", range(POINTS))
def test_a_worker_dies_at_every_point(place: int) -> None:
    """Hazard B53. kill -9 before and after each commit: the next worker goes on, without a verb twice or one lost."""
    batch, life = begun(count=SIZE), Life(place)
    with life.lived():
        drive(batch)
    assert life.dead and life.points[-1] == ("commit", "committed")[place % 2]
    committed = life.points.count("committed")
    assert outcomes(batch)["accepted"] == max(0, committed - 1)
    assert once_each(batch, "resume")
    lapse()
    done = drive(batch, worker="host:2")
    assert done.status == "completed" and outcomes(batch) == {"accepted": SIZE}
    assert once_each(batch, "resume")


def test_there_are_no_more_points() -> None:
    """The test above tries all of them: a claim, and one transaction for each item, the last of which ends it."""
    batch, life = begun(count=SIZE), Life()
    with life.lived():
        drive(batch)
    assert len(life.points) == POINTS


@pytest.mark.parametrize("landed", [True, False], ids=["landed", "did not"])
@pytest.mark.parametrize("which", range(1, SIZE + 2))
def test_a_commit_in_doubt(which: int, landed: bool) -> None:
    """Design §7.2. The connection is lost at a commit: what landed is not done again, what did not is."""
    batch = begun(count=SIZE)
    with failing_commit(which, landed=landed):
        try:
            drive(batch)
        except OperationalError:
            assert which == 1, "only a claim's own fault is told"
    connections["default"].close()
    lapse()
    OperatorBatch.objects.filter(status="running").update(due_at=clock.now())
    assert drive(batch).status == "completed"
    assert outcomes(batch) == {"accepted": SIZE} and once_each(batch, "resume")


def test_two_workers_share_no_item() -> None:
    """One has the claim, the others find nothing; all of them together do each once."""
    batch = begun(count=20, rate=8)  # four at one go

    def work() -> None:
        ends = time.monotonic() + 20
        while again(batch).status == "running" and time.monotonic() < ends:
            OperatorBatch.objects.filter(pk=batch.pk, lease_holder=None, status="running").update(due_at=clock.now())
            batches.drive_next(holder="host:1")

    at_once(work, work, work)
    assert again(batch).status == "completed"
    assert outcomes(batch) == {"accepted": 20} and once_each(batch, "resume")


def test_a_held_batch_is_nobody_elses() -> None:
    begun()
    claimed()
    assert batches.drive_next(holder="host:2") == 0


def test_who_was_frozen_past_the_lease_changes_nothing() -> None:
    """Promise P5. Its claim was taken over: the next item it begins is refused by the fence, verb and all."""
    batch = begun(count=3)
    late = _Go(claimed(), alias())
    assert late._one()
    lapse()
    taken = _Go(claimed("host:2"), alias())
    assert not late._one()
    assert outcomes(batch) == {"accepted": 1, "pending": 2} and told(batch, "resume").total() == 1
    late._halt("not_permitted")
    store.give_back(late.batch, alias())
    assert again(batch).lease_holder == taken.batch.lease_holder
    assert taken._one() and not taken._one()
    assert again(batch).status == "completed" and once_each(batch, "resume")


@pytest.mark.parametrize("act", [batches.pause, batches.cancel])
def test_an_operator_stops_it_while_it_runs(act: Callable[..., OperatorBatch]) -> None:
    """The item that runs is finished; no other is begun. A worker that dies then has nothing to leave."""
    batch = begun(count=6)
    asked = []

    def go_on() -> bool:
        if len(asked) == 2:
            at_once(lambda: act(batch, actor=batch.actor))  # on a connection of its own
        asked.append(1)
        return True

    batches.drive_next(holder="host:1", go_on=go_on)
    stopped = again(batch)
    assert outcomes(batch) == {"accepted": 2, "pending": 4} and once_each(batch, "resume")
    assert (stopped.status, stopped.due_at, stopped.lease_holder) == (
        ("paused", None, None) if act is batches.pause else ("cancelled", None, None)
    )
    assert batches.drive_next(holder="host:1") == 0
    if act is batches.pause:
        assert drive(batches.go_on(stopped, actor=batch.actor)).status == "completed"
        assert outcomes(batch) == {"accepted": 6}
    else:
        with pytest.raises(VerbRefused):
            batches.go_on(stopped, actor=batch.actor)


def test_operators_and_workers_at_the_same_moment() -> None:
    """A cancel and the work race, ten times: what is accepted was done, what is pending was not."""
    for _ in range(10):
        OperatorBatch.objects.all().delete()
        batch = begun_again()
        at_once(lambda b=batch: drive(b), lambda b=batch: stop(b))
        done = again(batch)
        assert done.status in ("cancelled", "completed") and done.lease_holder is None
        assert once_each(batch, "resume")
        counts = outcomes(batch)
        assert counts["accepted"] + counts["pending"] == 8
        assert not counts["pending"] or done.status == "cancelled"


def begun_again() -> OperatorBatch:
    """Another of eight, for another round."""
    User.objects.all().delete()
    anna = operator("resume")
    made = [execution.pk for execution in rows(8)]
    batch = batches.freeze("resume", Execution.objects.filter(pk__in=made), actor=anna)
    return batches.begin(batch, actor=anna)


def stop(batch: OperatorBatch) -> None:
    time.sleep(0.02)
    try:
        batches.cancel(batch, actor=batch.actor)
    except VerbRefused:
        assert again(batch).status == "completed"


def test_an_operator_is_first_at_one_execution() -> None:
    """Two people race for one execution, one of them with a batch: one verb, and the batch says who was first."""
    batch = begun(count=1)
    (x,) = Execution.objects.all()

    def by_hand() -> str:
        try:
            engine.resume(x.pk, version=x.version)
        except VerbRefused as refusal:
            return refusal.code
        return "accepted"

    by_hand_code, _ = at_once(by_hand, lambda: drive(batch))
    (code,) = outcomes(batch)
    assert sorted([by_hand_code, code]) == ["accepted", "version_changed"]
    assert x.events.filter(type="resume").count() == 1


def test_the_lease_is_renewed_by_each_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """A go may take longer than a lease; nobody takes the batch over meanwhile."""
    batch = begun(count=3)
    go = _Go(claimed(), alias())
    first = again(batch).due_at
    time.sleep(0.05)
    assert go._one()
    assert again(batch).due_at > first
    monkeypatch.setattr(batches, "MOST_AT_ONCE", 1)
    go.run(lambda: True)
    assert again(batch).lease_holder is None and outcomes(batch)["accepted"] == 2
