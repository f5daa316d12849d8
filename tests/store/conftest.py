"""What the store's tests share: a saga of plain steps, claims by hand, and a database that fails on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connections

from saga_app import Backoff, Saga, VerbRefused, Wait, engine, step
from saga_app.core import registry
from saga_app.core.snapshot import Snapshot
from saga_app.models import Execution
from saga_app.queue import inline
from saga_app.store import claims
from saga_app.store.claims import Claim
from saga_app.store.transactions import alias, durable


@pytest.fixture(autouse=True)
def sagas() -> Iterator[None]:
    """Each test has a registry of its own."""
    with registry.isolate():
        yield


def plain(*names: str, name: str = "plain", **options: Any) -> Saga[Any]:
    """A saga of steps that do nothing."""
    options = {"attempts": 1, "backoff": Backoff(first=0, jitter=0)} | options
    return Saga(name, *[step(name=each, **options)(lambda: None) for each in names])


def take(holder: str = "host:1", execution: Execution | None = None) -> tuple[Claim, Snapshot] | None:
    """Claim in a transaction of its own, as a worker does that decides after it."""
    with durable(alias()):
        taken = claims.take(claims.holder_for(holder), alias(), execution.pk if execution else None)
    if taken is not None:
        taken[0].fresh = False
    return taken


def claimed(execution: Execution) -> tuple[Claim, Snapshot]:
    """A claim of that execution, which is due."""
    taken = take(execution=execution)
    assert taken is not None
    return taken


def now(execution: Execution) -> Execution:
    """The execution as the table has it."""
    return Execution.objects.get(pk=execution.pk)


def values(execution: Execution) -> dict[str, Any]:
    """All columns of the execution's row."""
    return Execution.objects.filter(pk=execution.pk).values().get()


def waiting(*waits: Wait, **options: Any) -> Execution:
    """An execution that waits for a signal, and nobody drives it."""
    nodes = waits or (Wait("go"),)
    return inline.drive(Saga("w", *nodes, step(name="b")(lambda: None), **options).start())


def told(x: Execution, *args: Any, **options: Any) -> str:
    """The code with which a signal was refused; nothing where it was taken."""
    try:
        engine.signal(x, *args, **options)
    except VerbRefused as refusal:
        return refusal.code
    return ""


@contextmanager
def failing_commit(which: int, *, landed: bool, using: str = "default") -> Iterator[list[str]]:
    """The `which`-th COMMIT from now on loses its connection: after the server has committed, or before it has."""
    connection = connections[using]
    real: Callable[[], None] = connection._commit
    seen: list[str] = []

    def commit() -> None:
        seen.append("commit")
        if len(seen) != which:
            return real()
        if landed:
            real()
        connection.close() if landed else connection._rollback()
        raise OperationalError("the connection is lost")

    connection._commit = commit
    try:
        yield seen
    finally:
        connection._commit = real
