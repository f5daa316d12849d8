"""The transactions of the engine: each begins and ends here, never inside somebody else's (design §7.10)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from django.db import DatabaseError, InterfaceError, OperationalError, connections, router, transaction

from saga_app.core.errors import NotReady
from saga_app.models import Execution

DatabaseFault = (DatabaseError, InterfaceError)
Passing = (OperationalError, InterfaceError)  # a lock, a restart, a full disk: the same statement may succeed later

_inside: ContextVar[bool] = ContextVar("saga_inside_transactions", default=False)


def alias() -> str:
    """The database of the saga tables: reads and writes both go where the router sends writes."""
    return router.db_for_write(Execution)


def durable(using: str) -> AbstractContextManager[None]:
    """A transaction that is the outermost one, so that leaving it means that it is committed."""
    return transaction.atomic(using=using, durable=True)


@contextmanager
def inside_transactions() -> Iterator[None]:
    """Let executions be driven inside a TestCase's transaction (testing kit only): nothing there is ever committed."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


def is_inside() -> bool:
    """Whether `inside_transactions` is in force."""
    return _inside.get()


@contextmanager
def contained(using: str) -> Iterator[None]:
    """Keep a database error of user code from breaking a TestCase's transaction; elsewhere there is none to break.

    What the code wrote is kept, as autocommit would keep it, unless the database has lost it with the error.
    """
    connection = connections[using]
    if not is_inside() or not connection.in_atomic_block:
        yield
        return
    create = getattr(transaction, "savepoint_create", transaction.savepoint)  # its name since Django 6.1
    savepoint = create(using)
    broken = False
    try:
        yield
    except DatabaseFault:
        broken = True
        raise
    finally:
        if broken or connection.needs_rollback:
            connection.needs_rollback = False
            transaction.savepoint_rollback(savepoint, using)
        transaction.savepoint_commit(savepoint, using)


def refuse_inside_transaction(what: str) -> None:
    """Raise NotReady where a transaction of the caller's is open: what is done there could be rolled back."""
    if connections[alias()].in_atomic_block and not is_inside():
        msg = (
            f"{what} drives executions, which cannot be done inside a transaction: move it after the atomic block, "
            "or start() the saga here and let a worker drive it once this transaction commits"
        )
        raise NotReady(msg)


def drop_broken_connection(using: str) -> None:
    """Close the connection where it is of no more use, so that the next query opens a fresh one."""
    connection = connections[using]
    if connection.connection is not None and not connection.in_atomic_block and not connection.is_usable():
        connection.close()
