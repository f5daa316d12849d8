"""Writes whose COMMIT was not answered, and writes that the database refuses (design §7.2, §8.4)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from django.db import OperationalError, connection

from saga_app import Backoff, Context, Saga, engine, step
from saga_app.core.changes import release
from saga_app.core.decisions import Park
from saga_app.core.errors import LeaseLost
from saga_app.queue import inline
from saga_app.store import checkpoint
from saga_app.store.checkpoint import Write
from tests.site.models import Tag
from tests.store.conftest import claimed, failing_commit, now, plain, values
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

ALWAYS = range(1, 8)


class Ledger(list[str]):
    """The names of the bodies that were called, in order."""


def noted(ledger: Ledger, *names: str, fails: str = "", **options: Any) -> Saga[Any]:
    """A saga whose bodies note that they were called; the one called `fails` raises."""
    options = {"attempts": 1, "backoff": Backoff(first=0, jitter=0)} | options

    def make(name: str) -> Any:
        def body(ctx: Context) -> str:
            ledger.append(name)
            if name == fails:
                raise ValueError(name)
            if options.get("atomic"):
                Tag.objects.create(name=f"{name} {ctx.execution_id}")
            return name

        made = step(name=name, **options)(body)

        @made.compensate(backoff=Backoff(first=0, jitter=0))
        def undo(ctx: Context) -> None:
            ledger.append(f"~{name}")

        return made

    return Saga("noted", *[make(name) for name in names])


@pytest.mark.parametrize("landed", [True, False], ids=["landed", "lost"])
@pytest.mark.parametrize("which", ALWAYS)
def test_every_commit_may_lose_its_answer(which: int, landed: bool) -> None:
    """Design §7.2. Hazard R2. Whichever COMMIT loses its connection, each body is called once and nothing is lost."""
    ledger = Ledger()
    x = noted(ledger, "a", "b", "c", fails="c").start()
    with failing_commit(which, landed=landed), suppress(OperationalError):  # a claim that was lost is the next ticket's
        inline.run_until_idle()
    inline.run_until_idle()
    assert (now(x).status, now(x).rollback_status) == ("failed", "completed")
    assert ledger == ["a", "b", "c", "~c", "~b", "~a"]


@pytest.mark.parametrize("landed", [True, False], ids=["landed", "lost"])
@pytest.mark.parametrize("which", range(1, 5))
def test_atomic_steps_happen_once_whatever_commit_is_in_doubt(which: int, landed: bool) -> None:
    """Promise P3. An atomic body's rows are there exactly once, whether its COMMIT landed unanswered or was lost."""
    ledger = Ledger()
    x = noted(ledger, "a", "b", "c", atomic=True).start()
    with failing_commit(which, landed=landed), suppress(OperationalError):  # a claim that was lost is the next ticket's
        inline.run_until_idle()
    inline.run_until_idle()
    assert now(x).status == "completed"
    assert Tag.objects.filter(name__endswith=str(x.pk)).count() == 3


def test_a_release_in_doubt_then_resumed_by_somebody_is_dropped() -> None:
    """Design §7.2. A park landed unanswered and an operator went on: the old holder writes nothing more."""
    x = plain("a").start()
    claim, facts = claimed(x)
    what = Write(facts, facts, release(facts, Park(claim.moment()), claim.moment()), releases=True)

    real = connection._commit

    def commit() -> None:
        connection._commit = real
        real()
        at_once(lambda: engine.suspend(x))
        raise OperationalError("the connection is lost")

    connection._commit = commit
    with pytest.raises(LeaseLost):
        checkpoint.checkpoint(claim, what)
    assert now(x).suspend_requested_at is not None


@pytest.mark.parametrize("which", range(1, 25))
def test_a_refused_statement_never_calls_a_body_again(which: int) -> None:
    """Design §8.4. Hazard R2. Whichever write the database refuses once, the write is tried again, never the body."""
    ledger, seen = Ledger(), []

    def refuse(execute: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        if sql.lstrip().startswith(("UPDATE", "INSERT", "WITH")):
            seen.append(sql)
            if len(seen) == which:
                raise OperationalError("refused for a moment")
        return execute(sql, params, many, context)

    x = noted(ledger, "a", "b", "c", fails="c").start()
    with connection.execute_wrapper(refuse):
        for _ in range(3):  # a claim that was refused is a claim for the next ticket
            try:
                inline.run_until_idle()
            except OperationalError as error:
                assert str(error) == "refused for a moment"  # noqa: PT017 - the real one, not a masked one
    assert (now(x).status, now(x).rollback_status) == ("failed", "completed")
    assert ledger == ["a", "b", "c", "~c", "~b", "~a"]


@pytest.mark.parametrize("which", range(1, 15))
def test_a_refused_statement_reruns_an_atomic_transaction_whole(which: int) -> None:
    """Design §8.3. A transient error reruns body and record together; the rows are there once."""
    ledger, seen = Ledger(), []

    def refuse(execute: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        if sql.lstrip().startswith(("UPDATE", "INSERT", "WITH")):
            seen.append(sql)
            if len(seen) == which:
                raise OperationalError("refused for a moment")
        return execute(sql, params, many, context)

    x = noted(ledger, "a", "b", "c", atomic=True).start()
    with connection.execute_wrapper(refuse):
        for _ in range(3):
            try:
                inline.run_until_idle()
            except OperationalError as error:
                assert str(error) == "refused for a moment"  # noqa: PT017
    assert now(x).status == "completed"
    assert Tag.objects.filter(name__endswith=str(x.pk)).count() == 3
    assert [entry["outcome"] for record in x.steps.all() for entry in record.attempts] == ["returned"] * 3


def test_a_database_that_stays_away_leaves_the_attempt_to_the_next_claim(settings: Any) -> None:
    """Design §8.4. Refused until the lease is over: the attempt is left as unknown; the first error is the cause."""
    settings.SAGA = {"LEASE": 0.3}
    x = plain("a").start()
    claim, facts = claimed(x)
    before = values(x)

    def refuse(execute: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        if sql.lstrip().startswith("UPDATE"):
            raise OperationalError("the disk is full")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse), pytest.raises(LeaseLost, match="the disk is full"):
        checkpoint.checkpoint(claim, Write(facts, facts, facts))
    assert values(x) == before
