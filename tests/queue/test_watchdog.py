"""The heartbeat goes on while user code runs, and interrupts it when the lease is lost."""

from __future__ import annotations

import multiprocessing
import threading
import time

import pytest
from django.db import connection

from saga_app.core.errors import StepInterrupted
from saga_app.timeouts import bounded
from saga_app.watchdog import watching


def until(true: object, limit: float = 10) -> None:
    end = time.monotonic() + limit
    while not true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)


def test_it_beats_while_a_body_runs_and_not_after() -> None:
    beats: list[int] = []
    with watching(lambda: beats.append(threading.get_ident()) or True, 0.05), bounded(10):
        until(lambda: len(beats) >= 3)
    after = len(beats)
    time.sleep(0.2)
    assert len(beats) <= after + 1  # one may have been under way
    assert threading.get_ident() not in beats
    assert len(set(beats)) == 1, "one thread serves them all"


def test_a_lost_lease_interrupts_the_body() -> None:
    began = time.monotonic()

    def body() -> None:
        time.sleep(20)

    with pytest.raises(StepInterrupted), watching(lambda: False, 0.05), bounded(60):
        body()
    assert time.monotonic() - began < 5


def test_a_lost_lease_is_said_again_to_the_next_body() -> None:
    """The first heartbeat found no body running; that must not be the last word."""

    def drive() -> None:
        with watching(lambda: False, 0.05):
            time.sleep(0.2)
            with bounded(60):
                time.sleep(20)

    with pytest.raises(StepInterrupted):
        drive()


def test_a_drive_that_is_over_interrupts_nobody() -> None:
    """Its last heartbeat comes back late, when the body of another drive runs."""
    asked, answer = threading.Event(), threading.Event()

    def slow() -> bool:
        asked.set()
        answer.wait(10)
        return False

    with watching(slow, 0.02):
        asked.wait(10)
    with watching(lambda: True, 10), bounded(10):
        answer.set()
        time.sleep(0.3)


def test_an_error_is_not_a_loss(caplog: pytest.LogCaptureFixture) -> None:
    beats: list[int] = []

    def broken() -> bool:
        beats.append(1)
        raise OSError("the database is away")

    with watching(broken, 0.05), bounded(10):
        until(lambda: len(beats) >= 2)
    assert "A heartbeat failed" in caplog.text


def test_the_drive_of_an_outer_body_is_watched_too() -> None:
    """A saga driven from a step of another: when the outer lease is lost, the inner body has to make way."""

    def inner() -> None:
        with watching(lambda: True, 0.05), bounded(60):
            time.sleep(20)

    with pytest.raises(StepInterrupted), watching(lambda: False, 0.1), bounded(60):
        inner()


def test_outside_the_main_thread_it_only_says_so(caplog: pytest.LogCaptureFixture) -> None:
    def drive() -> None:
        with watching(lambda: False, 0.05), bounded(10):
            time.sleep(0.3)

    thread = threading.Thread(target=drive)
    thread.start()
    with bounded(10):  # another drive, which has lost nothing
        thread.join()
    assert "only the main thread can be interrupted" in caplog.text


def _in_a_child(told: object) -> None:
    beats: list[int] = []
    with watching(lambda: beats.append(1) or True, 0.05):
        until(lambda: len(beats) >= 2)
    told.put(len(beats))


def test_a_forked_child_has_a_watchdog_of_its_own() -> None:
    """django-q2 forks its workers; a thread does not survive that, and its locks may be held for ever."""
    beats: list[int] = []
    context = multiprocessing.get_context("fork")
    told = context.SimpleQueue()
    with watching(lambda: beats.append(1) or True, 0.02):
        until(lambda: beats)
        child = context.Process(target=_in_a_child, args=(told,))
        child.start()
        child.join(20)
    assert child.exitcode == 0
    assert told.get() >= 2


@pytest.mark.django_db(transaction=True)
def test_it_leaves_no_connection_open() -> None:
    """It opens one of its own for the heartbeats and closes it when there is nothing to watch."""
    seen: list[object] = []

    def beat() -> bool:
        connection.ensure_connection()
        seen.append(connection.connection)
        return True

    with watching(beat, 0.05):
        until(lambda: len(seen) >= 2)
    assert seen[0] is not connection.connection
    assert seen[0] is seen[1]
    until(lambda: _is_closed(seen[0]))


def _is_closed(raw: object) -> bool:
    if connection.vendor == "postgresql":
        return bool(raw.closed)
    try:
        return raw.total_changes < 0
    except Exception as error:  # noqa: BLE001 - its own way to say it, from any thread
        return "closed" in str(error)
