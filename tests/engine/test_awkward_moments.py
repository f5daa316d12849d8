"""A database that fails at an awkward moment: what is believed then, what is called again, and who is held up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection

from saga_app import Backoff, Context, Saga, clock, engine, executor, step
from saga_app.models import Execution
from saga_app.store import checkpoint
from saga_app.store.checkpoint import Write
from saga_app.store.transactions import durable
from tests.engine.drives import DATABASES, drive, refusing, writes_to
from tests.engine.standing import begun
from tests.harness import DONE, NOTHING_OWED, calls, do, end, error, events, fail, held, lapse, now, ok, rec
from tests.settings import ENGINE
from tests.store.conftest import claimed, failing_commit
from tests.threads import at_once

pytestmark = [pytest.mark.django_db(transaction=True, databases=DATABASES), pytest.mark.usefixtures("case")]


@pytest.mark.parametrize("landed", [True, False], ids=["landed", "lost"])
def test_a_lease_is_renewed_when_that_is_committed(landed: bool) -> None:
    """Design §7.6. Nobody goes by a lease that the table does not have: a renewal counts when its write is through."""
    x = Saga("s", do("a")).start()
    claim, facts = claimed(x)
    worn = claim.lease_ends = clock.monotonic() + 5
    with suppress(OperationalError), durable(claim.using):
        checkpoint.write(claim, Write(facts, facts, facts))
        raise OperationalError
    assert claim.lease_ends == worn
    with failing_commit(1, landed=landed):
        written = checkpoint.checkpoint(claim, Write(facts, facts, facts))
    assert claim.lease_ends == worn
    checkpoint.committed(claim, written)
    assert worn < claim.lease_ends <= clock.monotonic() + (now(x).due_at - clock.now()).total_seconds() + 0.5


def test_a_result_that_landed_is_not_late() -> None:
    """Design §7.9. Its commit was not answered, and somebody went on before we asked: it is recorded, so no word of it.

    Hazard B56.
    """
    soon = Backoff(first=20, jitter=0)
    x = Saga("s", do("a", fail(OSError), ok(), attempts=2, backoff=soon)).start()
    real, seen = connection._commit, []

    def commit() -> None:
        real()
        seen.append(1)
        if len(seen) == 2:  # the outcome, and the end of the claim
            at_once(lambda: engine.resume(x))
            raise OperationalError("the connection is lost")

    connection._commit = commit
    try:
        executor.drive(x.pk, holder="host:1")
    finally:
        connection._commit = real
    assert len(seen) >= 2 and rec(x, "a").status == "waiting" and not events(x, "late_result")
    assert end(drive(x)) == DONE and calls("a") == 2


@contextmanager
def refusing_records_of(x: Execution) -> Iterator[None]:
    """The database takes no step record of that execution, for a reason that does not pass."""

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if writes_to("steprecord")(sql) and any(str(one).replace("-", "") == x.pk.hex for one in params):
            raise IntegrityError("a constraint of somebody's own")
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield


def test_one_whose_first_write_is_refused_holds_nobody_up() -> None:
    """Hazard R19, Hazard B88. The next one is driven by the same worker; the bad one ends in front of an operator."""
    saga = Saga("s", do("a"))
    bad, good = saga.using(priority=-5).start(), saga.start()
    with refusing_records_of(bad):
        executor.drive_next(holder="host:1")
        assert end(good) == DONE
        for _ in range(4):
            lapse()
            executor.drive_next(holder="host:1")
        assert end(bad) == held("worker_lost") and calls("a") == 1
    engine.resume(bad)
    assert end(drive(bad)) == DONE


@pytest.mark.skipif(ENGINE != "postgres", reason="SQLite has no limit for a statement")
def test_a_statement_that_takes_too_long_is_not_run_again_at_once() -> None:
    """Design §8.7. It is a failed attempt like any timeout, and no error that passes; no alarm is needed for it."""

    @step(attempts=1, timeout=0.5, atomic=True)
    def a(ctx: Context) -> None:
        tried.append(ctx.attempt)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(3)")

    tried: list[int] = []
    x = Saga("s", a).start()
    at_once(lambda: drive(x))
    assert end(x) == NOTHING_OWED and tried == [1]
    assert "statement timeout" in error(x, "a")


def test_progress_that_is_refused_in_an_atomic_body() -> None:
    """Design §8.3. Its transaction is broken with it, and an error that passes runs the whole of it again."""
    told: list[int] = []

    @step(attempts=1, atomic=True)
    def a(ctx: Context) -> None:
        told.append(ctx.attempt)
        if len(told) > 1:
            return
        with refusing(writes_to("steprecord")):
            ctx.progress(1, "done")

    assert end(begun(a)) == DONE and told == [1, 1]
