"""The fenced write: who may write, what an unseen request does, what a release leaves (design §7.1, §7.4)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F

from saga_app import clock, engine
from saga_app.core.arranging import Call, intend
from saga_app.core.changes import release
from saga_app.core.decisions import Finish, Park
from saga_app.core.errors import LeaseLost
from saga_app.core.snapshot import Snapshot
from saga_app.core.status import IllegalMove, Status
from saga_app.models import Execution
from saga_app.store import checkpoint
from saga_app.store.checkpoint import Write
from saga_app.store.claims import Claim
from tests.store.conftest import claimed, now, plain, values

pytestmark = pytest.mark.django_db(transaction=True)


def intent(claim: Claim, facts: Snapshot) -> Write:
    """The write that begins the first step."""
    after = intend(facts, plain("a", name="other").steps[0], "a", Call("{}", "key"), claim.moment())
    return Write(facts, facts, after)


def park(claim: Claim, facts: Snapshot, seconds: float = 3600) -> Write:
    """The write that gives the claim back until later."""
    until = claim.moment() + timedelta(seconds=seconds)
    return Write(facts, facts, release(facts, Park(until), claim.moment()), releases=True)


@pytest.mark.parametrize("column", ["epoch", "writes", "lease_holder"])
def test_each_part_of_the_fence_counts(column: str) -> None:
    """Design §7.1. One difference in epoch, holder or number of writes, and nothing is written."""
    x = plain("a").start()
    claim, facts = claimed(x)
    other = "somebody:else:x" if column == "lease_holder" else F(column) + 1
    Execution.objects.filter(pk=x.pk).update(**{column: other})
    before = values(x)
    with pytest.raises(LeaseLost):
        checkpoint.checkpoint(claim, intent(claim, facts))
    assert values(x) == before
    assert not x.steps.exists()


def test_every_write_counts_itself() -> None:
    """Design §7.1. `writes` grows by one with each, so that a write in doubt can be told from the next one."""
    x = plain("a").start()
    claim, facts = claimed(x)
    checkpoint.committed(claim, checkpoint.checkpoint(claim, intent(claim, facts)))
    assert (claim.writes, now(x).writes) == (1, 1)


def test_a_late_worker_changes_nothing() -> None:
    """Promise P5. Hazard B56. Who lost the lease cannot write, however far the new holder has come."""
    x = plain("a").start()
    late, facts = claimed(x)
    Execution.objects.filter(pk=x.pk).update(due_at=clock.now() - timedelta(seconds=1))
    new, seen = claimed(x)
    checkpoint.checkpoint(new, intent(new, seen))
    before = values(x), list(x.steps.values())
    with pytest.raises(LeaseLost):
        checkpoint.checkpoint(late, intent(late, facts))
    assert (values(x), list(x.steps.values())) == before


def test_a_request_that_was_not_seen_leaves_only_the_outcome() -> None:
    """Design §8.2. Hazard B202. A cancel accepted while a decision was made: the decision is not written."""
    x = plain("a").start()
    claim, facts = claimed(x)
    end = Write(facts, facts, release(facts, Finish(Status.COMPLETED), claim.moment()), releases=True)
    engine.cancel(x, reason="not any more")
    written = checkpoint.checkpoint(claim, end)
    assert not written.decided
    row = now(x)
    assert (row.status, row.lease_holder, row.finished_at) == (Status.PENDING, claim.holder, None)
    assert row.due_at is not None
    assert not x.events.of("completed").exists()


def test_a_wake_makes_a_park_due_now() -> None:
    """Design §7.4. Hazard A33. What arrived after the facts were read makes the parked row due at once."""
    x = plain("a").start()
    claim, facts = claimed(x)
    Execution.objects.filter(pk=x.pk).update(wakes=F("wakes") + 1)
    checkpoint.checkpoint(claim, park(claim, facts))
    row = now(x)
    assert row.due_at is not None
    assert row.due_at <= clock.now()


def test_a_park_without_a_wake_waits() -> None:
    """Design §7.4. Nothing arrived: due when it said."""
    x = plain("a").start()
    claim, facts = claimed(x)
    what = park(claim, facts)
    checkpoint.checkpoint(claim, what)
    row = now(x)
    assert (row.status, row.lease_holder, row.due_at) == (Status.WAITING, None, what.after.due_at)


def test_a_decision_from_absence_demands_that_nothing_arrived() -> None:
    """Design §7.4. What is decided because something is not there is not written once something has come."""
    x = plain("a").start()
    claim, facts = claimed(x)
    Execution.objects.filter(pk=x.pk).update(wakes=F("wakes") + 1)
    done = checkpoint.checkpoint(claim, Write(facts, facts, park(claim, facts).after, releases=True, absent=True))
    assert not done.decided
    assert now(x).lease_holder == claim.holder


def test_only_the_holder_moves_a_held_due_time() -> None:
    """Design §7.4. A verb on a held row raises `wakes` and leaves the lease alone."""
    x = plain("a").start()
    claim, _ = claimed(x)
    before = now(x)
    engine.suspend(x)
    after = now(x)
    assert (after.due_at, after.epoch, after.lease_holder) == (before.due_at, claim.epoch, claim.holder)
    assert after.wakes == before.wakes + 1


def test_deaths_are_reset_by_the_first_write_after_the_claim() -> None:
    """Design §7.3. The claim's own transaction proves nothing; the first write after it does."""
    x = plain("a").start()
    claim, facts = claimed(x)
    claim.fresh = True
    written = checkpoint.checkpoint(claim, intent(claim, facts))
    checkpoint.committed(claim, written)
    assert now(x).deaths == 1
    claim.fresh = False
    checkpoint.checkpoint(claim, Write(written.facts, written.facts, written.facts))
    assert now(x).deaths == 0


def test_a_claim_that_is_given_back_at_once_is_as_if_it_had_not_been() -> None:
    """Design §7.3. It did not die, so it adds no death; it proves nothing, so it forgets none."""
    x = plain("a").start()
    Execution.objects.filter(pk=x.pk).update(deaths=2)
    claim, facts = claimed(x)
    claim.fresh = True
    checkpoint.checkpoint(claim, park(claim, facts))
    assert now(x).deaths == 2


def test_an_illegal_move_writes_nothing() -> None:
    """The table of moves is the law: a status it does not allow is never written."""
    x = plain("a").start()
    claim, facts = claimed(x)
    before = values(x)
    with pytest.raises(IllegalMove):
        checkpoint.checkpoint(claim, Write(facts.but(status=Status.COMPLETED), facts, facts.but(status=Status.RUNNING)))
    assert values(x) == before
