"""Processes forked from the test itself, so that the sagas and functions defined in it come along.

A child never uses a connection of its parent's. The parent closes its own before the fork; inside a transaction it
cannot, and then the child leaves them alone, which PostgreSQL allows and SQLite does not: there the two would share
locks that only one of them holds.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections

RAISED = 70  # how a child ends whose function raised

_inherited: list[Any] = []  # kept, so that nothing closes them


def fork(function: Callable[[], int | None]) -> int:
    """Run a function in a forked child, which ends with what it returns; its number."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
        elif connection.vendor == "sqlite":
            raise AssertionError("a process cannot be forked inside a transaction on SQLite")
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads are asleep, or the test is wrong
        pid = os.fork()
    if pid:
        return pid
    code = RAISED
    try:
        _forget_the_parent()
        code = function() or 0
    except BaseException:
        logging.getLogger("tests").exception("A forked process ended.")
    finally:
        os._exit(code)


def _forget_the_parent() -> None:
    for connection in connections.all(initialized_only=True):
        _inherited.append(connection)
        del connections[connection.alias]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)


def elsewhere(call: Callable[[], Any]) -> Any:
    """Call it in another process, now; its result.

    Inside a transaction on SQLite in another thread, where it has its own connection: see above.
    """
    if any(one.in_atomic_block and one.vendor == "sqlite" for one in connections.all(initialized_only=True)):
        return _in_thread(call)
    reading, writing = os.pipe()

    def child() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(pickle.dumps(_tried(call)))

    pid = fork(child)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    return _said(*pickle.loads(answer))  # noqa: S301 - from our own child


@contextmanager
def background(call: Callable[[], Any]) -> Iterator[int]:
    """Call it again and again in another process; its number."""

    def child() -> None:
        parent = os.getppid()
        while os.getppid() == parent:
            call()

    pid = fork(child)
    try:
        yield pid
    finally:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            raise AssertionError(f"what ran in the background ended with {os.waitstatus_to_exitcode(status)}")
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def race(*calls: Callable[[], Any]) -> list[Any]:
    """All at once, each in a thread and on its own connection; their results."""
    start = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def runner(place: int, call: Callable[[], Any]) -> None:
        start.wait()
        results[place] = _tried(call)

    threads = [threading.Thread(target=runner, args=each) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [_said(*result) for result in results]


def _in_thread(call: Callable[[], Any]) -> Any:
    return race(call)[0]


def _tried(call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return call(), None
    except Exception as error:  # noqa: BLE001 - raised again where somebody waits for it
        return None, error
    finally:
        connections.close_all()


def _said(value: Any, error: BaseException | None) -> Any:
    if error is not None:
        raise error
    return value
