"""Claims of queued steps: one holder, under the execution's lock, and no more read than is needed (design §8.10)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from saga_app import Parallel, Saga, clock, engine, executor, step
from saga_app.conf import settings
from saga_app.core.arranging import intend
from saga_app.core.snapshot import Snapshot
from saga_app.models import Execution, StepRecord
from saga_app.store import claims, row_claims, row_writes
from saga_app.store.row_claims import RowClaim
from saga_app.store.transactions import alias, durable
from tests.gates import somebody
from tests.settings import ENGINE
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

OF_A_CLAIM = {"row_epoch", "row_holder", "row_due_at", "row_deaths"}


def group(*names: str, name: str = "group", **options: Any) -> Saga[Any]:
    """A saga of steps that stand side by side."""
    return Saga(name, Parallel(**{each: step(name=each, **{"attempts": 1} | options)(lambda: None) for each in names}))


def queued(*names: str, **options: Any) -> Execution:
    """An execution whose steps are in the queue."""
    x = group(*names, **options).start()
    executor.drive(x.pk, holder="host:0")
    assert StepRecord.objects.filter(execution=x, status="queued").count() == len(names)
    return x


def take(holder: str = "host:1", *, hold: bool = True, **where: Any) -> tuple[RowClaim, Snapshot] | None:
    """Claim a row and hold it, in a transaction of its own."""
    with durable(alias()):
        taken = row_claims.take(claims.holder_for(holder), alias(), **where)
        if taken is not None and hold:
            row_writes.hold(taken[0], taken[1], taken[1])
    return taken


def claimed(**where: Any) -> tuple[RowClaim, Snapshot]:
    taken = take(**where)
    assert taken is not None
    return taken


def columns(claim: RowClaim) -> dict[str, Any]:
    return StepRecord.objects.filter(pk=claim.row).values().get()


def row(x: Execution, path: str) -> StepRecord:
    return StepRecord.objects.get(execution=x, path=path)


def lapse(claim: RowClaim) -> None:
    StepRecord.objects.filter(pk=claim.row).update(row_due_at=clock.now() - timedelta(seconds=1))


def test_a_claim_takes_one_row_and_its_lease_columns() -> None:
    """The other row, and the execution's own lease and due time, stay as they are."""
    x = queued("a", "b")
    before = {one.path: one for one in StepRecord.objects.all()}
    execution = Execution.objects.values().get()
    claim, _ = claimed()
    after = columns(claim)
    changed = {name for name, value in after.items() if value != before[claim.path].__dict__[name]}
    assert changed == OF_A_CLAIM
    assert (after["row_epoch"], after["row_deaths"]) == (1, 1)
    other = row(x, "b" if claim.path == "a" else "a")
    assert other.row_holder is None
    now = Execution.objects.values().get()
    assert {name for name in now if now[name] != execution[name]} == {"wakes", "version", "updated_at"}


def test_a_held_row_is_not_claimed() -> None:
    """A living holder's row is nobody else's."""
    queued("a")
    claimed()
    assert take("host:2") is None
    assert not row_claims.is_due(alias())


def test_eight_workers_five_rows() -> None:
    """Of eight that claim at once, each of five rows has exactly one."""
    x = queued(*"abcde")
    seen: list[str] = []

    def one(number: int) -> None:
        while (taken := take(f"host:{number}")) is not None or row_claims.is_due(alias()):
            seen.extend([taken[0].path] if taken else [])

    at_once(*[lambda n=n: one(n) for n in range(8)])
    assert sorted(seen) == list("abcde")
    assert set(x.steps.values_list("row_epoch", flat=True)) == {1}


def test_a_lapsed_lease_is_taken_over() -> None:
    """Under a new epoch. Nobody's intent is written, so there is nobody to wait for: whoever is late is fenced."""
    queued("a")
    first, _ = claimed()
    lapse(first)
    again, facts = claimed()
    assert (again.epoch, columns(again)["row_deaths"]) == (2, 2)
    assert facts.known("a").row_quiet_at is None


def test_who_lost_a_row_inside_its_body_is_waited_for() -> None:
    """Design §8.8. Where an intent is written, whoever held the row may be inside until the hard stop."""
    x = queued("a")
    with durable(alias()):
        claim, facts = row_claims.take("host:1:token", alias())
        saga = group("a", name="other")
        row_writes.hold(claim, facts, intend(facts, saga.step("a"), "a", None, claim.moment()))
    lapse(claim)
    ended = row(x, "a").row_due_at
    _, facts = claimed()
    assert facts.known("a").row_quiet_at == ended + timedelta(seconds=settings.HARD_STOP_GRACE)
    assert row(x, "a").row_quiet_at == facts.known("a").row_quiet_at, "it is written down for the claims that follow"


@pytest.mark.parametrize("stop", ["suspended", "suspend asked", "stuck"])
def test_the_rows_of_what_stands_still_are_left(stop: str) -> None:
    """They are not claimable until it goes on, and stay in their queue."""
    x = queued("a")
    if stop == "stuck":
        Execution.objects.filter(pk=x.pk).update(status="stuck", stuck_reason="step_failed", due_at=None)
    else:
        engine.suspend(x)
    if stop == "suspended":
        executor.drive(x.pk, holder="host:0")
        assert Execution.objects.get().status == "suspended"
    assert take() is None
    assert not row_claims.is_due(alias())
    assert not StepRecord.objects.due().exists()
    if stop == "suspended":
        engine.resume(x)
        assert claimed()[0].path == "a"


def test_only_from_the_queues_that_are_served() -> None:
    """A row of another queue is for a worker of that one."""
    queued("a", queue="slow")
    queued("b", name="other")
    assert claimed(queues=[""])[0].path == "b"
    assert take(queues=[""]) is None
    assert claimed(queues=["slow", "other"])[0].path == "a"


def test_urgent_first() -> None:
    """Rows of an execution of a smaller priority number go first, then those that have waited longest."""
    queued("a", "b")
    y = group("c", name="urgent")
    y.using(priority=-1).start()
    executor.drive(Execution.objects.get(saga="urgent").pk, holder="host:0")
    assert [claimed()[0].path for _ in range(3)] == ["c", "a", "b"]


def test_a_claim_that_is_given_back_adds_no_death_and_forgets_none() -> None:
    """As if it had not been, but for the time."""
    x = queued("a")
    lapse(claimed()[0])
    with durable(alias()):
        claim, facts = row_claims.take("host:1:token", alias())
        row_writes.give_back(claim, facts, facts, claim.moment() + timedelta(hours=1))
    assert (row(x, "a").row_deaths, row(x, "a").row_holder) == (1, None)
    assert take() is None


def test_one_record_is_read_of_a_thousand() -> None:
    """Not even of ten, as long as nothing has failed; then all of them, since a failure may be why it is refused."""
    x = queued(*"abcdefghij")
    with CaptureQueriesContext(connection) as captured:
        claim, facts = claimed()
    assert [one.path for one in facts.records] == [claim.path]
    assert len([query for query in captured.captured_queries if "SELECT" in query["sql"]]) == 2
    StepRecord.objects.filter(execution=x, path="j").update(status="failed", row_due_at=None)
    assert len(claimed()[1].records) == 10


def test_a_beat_renews_a_worn_lease_only() -> None:
    """A heartbeat writes nothing while more than half of the lease is left, and the row's lease alone after that."""
    queued("a")
    claim, _ = claimed()
    before = columns(claim)
    assert row_claims.beat(claim)
    assert columns(claim) == before
    claim.lease_ends = clock.monotonic() + 1
    assert row_claims.beat(claim)
    assert {name for name, value in columns(claim).items() if value != before[name]} == {"row_due_at"}
    assert claim.lease_ends > clock.monotonic() + settings.LEASE / 2


def test_a_beat_says_when_the_lease_is_lost() -> None:
    """No row: it is somebody else's."""
    queued("a")
    claim, _ = claimed()
    claim.lease_ends = clock.monotonic() + 1
    StepRecord.objects.filter(pk=claim.row).update(row_epoch=claim.epoch + 1)
    assert not row_claims.beat(claim)


def test_a_claim_in_doubt_is_found_by_its_token() -> None:
    """Design §7.2. A claim whose COMMIT was not answered is ours if the holder's unique name is there."""
    queued("a")
    claim, _ = claimed()
    assert row_claims.is_there(claim)
    StepRecord.objects.filter(pk=claim.row).update(row_holder="somebody:else")
    assert not row_claims.is_there(claim)


@pytest.mark.skipif(ENGINE != "postgres", reason="SQLite has one lock: nobody writes while somebody writes")
def test_a_locked_execution_is_passed_over() -> None:
    """A view that has signalled in a long transaction holds up the rows of that execution, and no worker."""
    first, second = queued("a"), queued("b", name="other")
    with transaction.atomic():
        Execution.objects.select_for_update(no_key=True).get(pk=first.pk)
        with somebody(lambda: (claimed()[0].execution_id, take())) as taken:
            assert taken.result() == (second.pk, None)
    assert claimed()[0].execution_id == first.pk
