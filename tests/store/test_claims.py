"""Claims: one holder, lease columns only, deaths counted (design §7.3)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError

from saga_app import clock
from saga_app.conf import settings
from saga_app.core.arranging import Call, intend
from saga_app.core.status import Status
from saga_app.models import Execution
from saga_app.store import checkpoint, claims
from saga_app.store.checkpoint import Write
from tests.store.conftest import claimed, now, plain, take, values
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

LEASE_COLUMNS = {"epoch", "lease_holder", "due_at", "deaths", "updated_at"}


def test_a_claim_takes_one_row() -> None:
    """With two due, a claim takes the more urgent one and leaves the other as it was."""
    first, second = plain("a").start(), plain("a").start()
    before = values(second)
    claim, _ = take() or pytest.fail("nothing was due")
    assert claim.execution_id == first.pk
    assert values(second) == before


def test_a_claim_touches_lease_columns_only() -> None:
    """Design §6. Claims touch lease columns only, never the status."""
    x = plain("a").start()
    before = values(x)
    claimed(x)
    after = values(x)
    assert {name for name in before if before[name] != after[name]} == LEASE_COLUMNS
    assert (after["epoch"], after["deaths"]) == (before["epoch"] + 1, 1)


def test_a_held_row_is_not_claimed() -> None:
    """Hazard B51. A living holder's row is nobody else's."""
    x = plain("a").start()
    claimed(x)
    assert take("host:2") is None


def test_a_lapsed_lease_is_taken_over() -> None:
    """Hazard B53. A lease that ran out is due again, under a new epoch; there is nothing to wait for outside a body."""
    x = plain("a").start()
    claim, _ = claimed(x)
    Execution.objects.filter(pk=x.pk).update(due_at=clock.now() - timedelta(seconds=1))
    again, facts = claimed(x)
    assert again.epoch == claim.epoch + 1
    assert facts.quiet_at is None


def test_who_lost_a_lease_inside_a_body_is_waited_for() -> None:
    """Design §8.8. Where a step is running, whoever held it may be inside until the hard stop."""
    x = plain("a").start()
    claim, facts = claimed(x)
    after = intend(facts, plain("a", name="other").steps[0], "a", Call("{}", "key"), claim.moment())
    checkpoint.checkpoint(claim, Write(facts, facts, after))
    lapsed = clock.now() - timedelta(seconds=1)
    Execution.objects.filter(pk=x.pk).update(due_at=lapsed)
    _, facts = claimed(x)
    assert facts.quiet_at == lapsed + timedelta(seconds=settings.HARD_STOP_GRACE)


def test_an_unheld_row_needs_no_quiet() -> None:
    """Only a row that was held can have somebody inside a body."""
    _, facts = claimed(plain("a").start())
    assert facts.quiet_at is None


def test_two_workers_one_row() -> None:
    """Hazard B51. Of eight workers that claim at once, each of five rows has exactly one."""
    xs = [plain("a").start() for _ in range(5)]
    taken = [claim for claim in at_once(*[lambda n=n: take(f"host:{n}") for n in range(8)]) if claim]
    assert sorted(str(claim.execution_id) for claim, _ in taken) == sorted(str(x.pk) for x in xs)


def test_urgent_first() -> None:
    """Smaller priority numbers go first, then who has waited longest."""
    saga = plain("a")
    late, urgent = saga.using(priority=5).start(), saga.using(priority=-1).start()
    assert [claim.execution_id for claim, _ in (take(), take())] == [urgent.pk, late.pk]


def test_not_before_it_is_due() -> None:
    """`using(due=…)` holds a start back."""
    plain("a").using(due=clock.now() + timedelta(hours=1)).start()
    assert take() is None


def test_a_claim_in_doubt_is_found_by_its_token() -> None:
    """Design §7.2. A claim whose COMMIT was not answered is ours if the holder's unique name is there."""
    x = plain("a").start()
    claim, _ = claimed(x)
    assert claims.is_there(claim)
    Execution.objects.filter(pk=x.pk).update(lease_holder="somebody:else", epoch=claim.epoch + 1)
    assert not claims.is_there(claim)


def test_a_beat_renews_a_worn_lease_only() -> None:
    """Design §7.6. A heartbeat writes nothing while more than half of the lease is left."""
    x = plain("a").start()
    claim, _ = claimed(x)
    before = values(x)
    assert claims.beat(claim)
    assert values(x) == before
    claim.lease_ends = clock.monotonic() + 1
    assert claims.beat(claim)
    assert now(x).due_at > before["due_at"]
    assert now(x).writes == before["writes"]


def test_a_beat_says_when_the_lease_is_lost() -> None:
    """Design §7.6. No row: it is somebody else's."""
    x = plain("a").start()
    claim, _ = claimed(x)
    claim.lease_ends = clock.monotonic() + 1
    Execution.objects.filter(pk=x.pk).update(epoch=claim.epoch + 1)
    assert not claims.beat(claim)


def test_status_of_a_stopped_row_never_due() -> None:
    """The table refuses a stopped row that is due, and an open one that is not (P6)."""
    x = plain("a").start()
    rows = Execution.objects.filter(pk=x.pk)
    for broken in ({"status": Status.COMPLETED}, {"due_at": None}, {"status": Status.STUCK, "due_at": None}):
        with pytest.raises(IntegrityError, match="saga_execution"):
            rows.update(**broken)
