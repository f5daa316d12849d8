"""Signals against whoever drives: the park, the count, the deadline, each on connections of their own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from saga_app import Saga, Wait, clock, engine, executor, step, testing
from saga_app.core import registry
from saga_app.core.changes import advance, release
from saga_app.core.decisions import Park
from saga_app.core.snapshot import Snapshot
from saga_app.models import Execution, Signal
from saga_app.queue import inline
from saga_app.store import changes, checkpoint, claims
from saga_app.store.checkpoint import Write
from saga_app.store.claims import Claim
from tests.gates import Gate, somebody
from tests.store.conftest import claimed, now, told, waiting
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def running() -> Iterator[None]:
    """The clock runs again when the test is over."""
    yield
    testing.clock.release()


def decided(claim: Claim, facts: Snapshot) -> Snapshot:
    """What is decided from those facts, by whoever has the claim."""
    saga = registry.get(facts.saga, facts.revision)
    assert saga is not None
    after, _ = advance(saga, facts, claim.moment())
    return after


def what(facts: Snapshot, after: Snapshot) -> Write:
    """The write of what was decided, as a drive makes it."""
    return Write(facts, facts, after.but(presuming=False), absent=after.presuming)


def claimed_early(x: Execution) -> tuple[Claim, Snapshot]:
    """A claim of an execution that waits: something has woken it."""
    Execution.objects.filter(pk=x.pk).update(due_at=clock.now())
    return claimed(x)


def test_a_signal_between_the_facts_and_the_park() -> None:
    """It came after the facts were read: the row that parks for ever is due at once."""
    x = Saga("w", Wait("go")).start()
    claim, facts = claimed(x)
    after = release(decided(claim, facts), Park(None), claim.moment())
    at_once(lambda: engine.signal(x.pk, "go"))
    checkpoint.checkpoint(claim, Write(facts, facts, after, releases=True))
    row = now(x)
    assert (row.status, row.lease_holder) == ("waiting", None) and row.due_at is not None
    assert inline.drive(row).status == "completed"


def test_a_park_for_ever_is_not_due() -> None:
    """P6. Nothing came: it waits for a signal, and for no time."""
    x = Saga("w", Wait("go")).start()
    claim, facts = claimed(x)
    after = release(facts, Park(None), claim.moment())
    checkpoint.checkpoint(claim, Write(facts, facts, after, releases=True))
    assert (now(x).status, now(x).due_at) == ("waiting", None)


def test_the_count_is_written_as_a_difference() -> None:
    """A signal that came after the facts were read is not forgotten by the write that consumes another."""
    x = waiting()
    x.signal("go", 1)
    claim, facts = claimed(x)
    after = decided(claim, facts)
    assert after.consumed and after.unread == 1
    engine.signal(x.pk, "go", 2)
    written = checkpoint.checkpoint(claim, Write(facts, facts, after))
    assert (now(x).unread, written.facts.unread, written.facts.consumed) == (1, 0, ())
    assert [one.consumed_by for one in Signal.objects.order_by("id")] == ["go", ""]


def test_a_decision_that_is_taken_back_has_consumed_nothing() -> None:
    """Design §8.2. A cancel came meanwhile: only the outcome is written, and the signal is still there."""
    x = waiting()
    x.signal("go", 1)
    claim, facts = claimed(x)
    after = decided(claim, facts)
    engine.cancel(x)
    written = checkpoint.checkpoint(claim, Write(facts, facts, after))
    assert not written.decided and now(x).unread == 1
    assert Signal.objects.get().consumed_by == "" and x.steps.get(path="go").status == "waiting"


def test_a_timeout_that_waits_for_a_signal_decides_again() -> None:
    """The signal was stamped in time and committed late: the timeout has not seen it."""
    x = waiting(Wait("go", timeout=1.2))
    claim, facts = claimed_early(x)
    stamped = Gate()

    def send() -> None:
        with transaction.atomic():
            engine.signal(x.pk, "go", "in time")
            stamped()

    with somebody(send):
        stamped.reached()
        clock.sleep(max(0.0, (x.due_at - clock.now()).total_seconds()) + 0.1)
        after = decided(claim, facts)
        assert after.known("go").choice == "timeout"
        threading.Timer(0.3, stamped.open).start()
        written = checkpoint.checkpoint(claim, what(facts, after))
    assert not written.decided and now(x).status == "waiting"
    checkpoint.committed(claim, written)
    facts = claims.look(claim)
    after = decided(claim, facts)
    assert after.known("go").output_text == '"in time"'
    assert checkpoint.checkpoint(claim, what(facts, after)).decided


def test_a_signal_that_waits_for_a_timeout_is_late() -> None:
    """Its moment is that of the insert, under the lock, and not that at which it began to wait for the lock."""
    x = waiting()
    locked = Gate()

    def hold() -> datetime:
        with transaction.atomic():
            changes.lock_row(x.pk, "default")
            locked()
            return changes.moment_of(changes.lock_row(x.pk, "default"))

    with somebody(hold) as holding:
        locked.reached()
        threading.Timer(0.3, locked.open).start()
        engine.signal(x.pk, "go")
        assert Signal.objects.get().received_at >= holding.result(10)


@pytest.mark.parametrize("milliseconds", [-20, -1, 0, 1, 20])
def test_the_deadline_is_judged_by_when_it_came(milliseconds: int) -> None:
    """Whenever it is driven: in time opens this gate, and late opens the next one of that name."""
    begun = datetime(2024, 5, 1, tzinfo=UTC)
    testing.clock.set(begun)
    late = step(name="late")(lambda: None)
    x = waiting(Wait("go", timeout=1, on_timeout=[late]).named("one"), Wait("go", timeout=100).named("two"))
    testing.clock.set(begun + timedelta(seconds=1, milliseconds=milliseconds))
    x.signal("go", "A")
    testing.clock.forward(3)
    x = inline.drive(x)
    took = Signal.objects.get().consumed_by
    assert (took, x.steps.filter(path="late").exists()) == (("one", False) if milliseconds <= 0 else ("two", True))
    assert x.status == ("waiting" if milliseconds <= 0 else "completed")


def test_a_signal_and_a_timeout_at_once() -> None:
    """Design §12. At the very moment of the deadline either may win; one does, and nothing is lost."""
    for _ in range(10):
        testing.clock.set(clock.now())
        x = waiting(Wait("go", timeout=1, on_timeout=[step(name="late")(lambda: None)]))
        testing.clock.forward(1)
        codes = at_once(lambda x=x: told(x, "go", "A"), lambda x=x: executor.drive(x.pk, holder="host:1"))
        x = inline.drive(x)
        gate = x.steps.get(path="go")
        late = x.steps.filter(path="late").exists()
        assert x.status == "completed"
        assert (gate.status, x.unread, late, codes[0]) in {
            ("completed", 0, False, ""),
            ("skipped", 1, True, ""),
            ("skipped", 0, True, "terminal"),
        }
