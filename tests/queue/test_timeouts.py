"""One call of user code is bounded: interrupted when late, and never when it is not running."""

from __future__ import annotations

import asyncio
import faulthandler
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import pytest

from saga_app import bodies, timeouts
from saga_app.core.errors import StepInterrupted, StepTimeout
from saga_app.timeouts import bounded


def busy(seconds: float) -> str:
    """Python code that runs on until then."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return "done"


def sleeps(seconds: float) -> str:
    time.sleep(seconds)
    return "done"


@pytest.mark.parametrize("body", [busy, sleeps, time.sleep])
def test_a_late_body_is_interrupted(body: object) -> None:
    """Python code, a system call, and a call that is C code all the way."""
    began = time.monotonic()
    with pytest.raises(StepTimeout), bounded(0.2):
        body(20)
    assert time.monotonic() - began < 5


def test_what_a_body_in_time_returns_or_raises_comes_through() -> None:
    with bounded(5):
        result = sleeps(0.01)
    assert result == "done"
    with pytest.raises(ValueError, match="its own"), bounded(5):
        raise ValueError("its own")


def test_a_swallowed_alarm_comes_again() -> None:
    """A bare except in a retry loop does not make a step endless."""
    swallowed = []

    def body() -> None:
        for _ in range(2):
            try:
                busy(20)
            except BaseException as error:  # noqa: BLE001
                swallowed.append(type(error))
        busy(20)

    with pytest.raises(StepTimeout), bounded(0.1):
        body()
    assert swallowed == [StepTimeout, StepTimeout]


@pytest.mark.parametrize("by_the_engine", [False, True])
def test_a_result_that_came_before_the_alarm_is_not_lost(by_the_engine: bool) -> None:
    """The alarm may come at any instruction; whatever the body finished must be there, over thousands of tries."""
    finished: list[int] = []
    got: list[int] = []

    def body(number: int) -> int:
        busy(0.0001 * (number % 12))
        finished.append(number)
        return number

    for number in range(1500):
        with suppress(StepTimeout):
            with bounded(0.0005) as bound:
                result = bodies.run(bound, body, {"number": number}) if by_the_engine else body(number)
            got.append(result)
    lost = set(finished) - set(got)
    assert len(finished) > 100
    # An alarm may strike between the last statement of the body and its return: that is inside. Nothing else may.
    assert len(lost) < len(finished) * 0.01


def test_an_alarm_outside_the_call_does_nothing() -> None:
    """Before the call and after it only the block's own frame runs: there an alarm is no timeout."""
    with bounded(0.05):
        end, turns = time.monotonic() + 0.3, 0
        while time.monotonic() < end:
            turns += 1
    assert turns > 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_an_alarm_in_the_engine_s_own_code_does_nothing() -> None:
    """Between the block and the body stand a few frames of the engine, which have a result in their hands."""
    engine: dict[str, Any] = {"__name__": "saga_app.anything", "time": time}
    exec(  # noqa: S102 - a function of the engine
        "def call(seconds):\n    end = time.monotonic() + seconds\n    while time.monotonic() < end: pass\n", engine
    )
    with bounded(0.05):
        engine["call"](0.3)
    with pytest.raises(StepTimeout), bounded(0.05):
        engine["call"](20)  # found there twice, it is what runs too long


def test_somebody_else_s_alarm_is_no_timeout() -> None:
    """The same signal may come from anywhere."""
    with bounded(60):
        signal.raise_signal(signal.SIGALRM)
        result = sleeps(0.01)
    assert result == "done"


def test_the_alarm_that_was_there_before_is_restored() -> None:
    """django-q2 and test runners use the same signal."""
    rang = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with bounded(10):
            sleeps(0.1)
        left = signal.getitimer(signal.ITIMER_REAL)[0]
        assert 0.1 < left < 0.45
        time.sleep(0.6)
        assert rang == [True]
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with bounded(10):
            sleeps(0.4)  # the other alarm is due while the body runs: it comes in time
            assert rang == [True, True]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_body_within_a_body_keeps_both_limits() -> None:
    """A saga driven from a step of another: the outer step's time runs on."""
    began = time.monotonic()

    def outer() -> None:
        with suppress(StepTimeout), bounded(60):
            sleeps(20)
        sleeps(20)

    with pytest.raises(StepTimeout), bounded(0.3):
        outer()
    assert time.monotonic() - began < 5
    assert timeouts.depth() == 0


def test_interrupted_when_the_lease_is_lost() -> None:
    """Another thread says so; the body in the main thread hears it at once, and again if it does not listen."""
    threading.Timer(0.2, timeouts.interrupt).start()
    began = time.monotonic()

    def body() -> None:
        with suppress(BaseException):
            sleeps(20)
        sleeps(20)

    with pytest.raises(StepInterrupted), bounded(60):
        body()
    assert time.monotonic() - began < 5


def test_interrupting_nobody_does_nothing() -> None:
    timeouts.interrupt()
    with bounded(60):
        timeouts.interrupt(level=1)
        sleeps(0.05)


def test_outside_the_main_thread_it_says_that_it_was_late(caplog: pytest.LogCaptureFixture) -> None:
    """A signal cannot reach it there; the result is kept."""
    results = []

    def run() -> None:
        with bounded(0.05):
            results.append(sleeps(0.2))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert results == ["done"]
    assert "past its timeout" in caplog.text


async def naps(seconds: float, cleaned: list[str]) -> str:
    try:
        await asyncio.sleep(seconds)
    finally:
        cleaned.append("cleaned")
    return "rested"


def test_a_late_coroutine_is_cancelled_and_cleans_up() -> None:
    cleaned: list[str] = []
    with pytest.raises(StepTimeout), bounded(0.2) as bound:
        bound.run_coroutine(naps, 20, cleaned)
    assert cleaned == ["cleaned"]
    with bounded(5) as bound:
        assert bound.run_coroutine(naps, 0.01, cleaned) == "rested"


def test_a_coroutine_is_cancelled_in_any_thread() -> None:
    caught: list[type[BaseException]] = []

    def run() -> None:
        try:
            with bounded(0.1) as bound:
                bound.run_coroutine(naps, 20, [])
        except BaseException as error:  # noqa: BLE001
            caught.append(type(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(10)
    assert caught == [StepTimeout]


def test_a_timeout_of_the_coroutine_s_own_is_its_own() -> None:
    async def body() -> None:
        raise TimeoutError("the provider's")

    with pytest.raises(TimeoutError, match="provider"), bounded(5) as bound:
        bound.run_coroutine(body)


def test_a_coroutine_that_blocks_its_thread_is_left_behind() -> None:
    """It cannot be interrupted; the driver goes on without it."""
    began = time.monotonic()

    async def body() -> None:
        time.sleep(4)  # noqa: ASYNC251 - the mistake that is tested

    with pytest.raises(StepTimeout), bounded(0.1) as bound:
        bound.run_coroutine(body)
    assert time.monotonic() - began < 3.5


def test_the_hard_stop_is_armed_in_workers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    armed: list[float] = []
    monkeypatch.setattr(faulthandler, "dump_traceback_later", lambda seconds, **_: armed.append(seconds))
    monkeypatch.setattr(faulthandler, "cancel_dump_traceback_later", lambda: armed.append(0))
    with bounded(7):
        pass
    assert armed == []
    monkeypatch.setattr(timeouts, "hard_stop", True)
    with bounded(7, lease=3):
        timeouts.prolong(30)
    assert armed == [pytest.approx(8), pytest.approx(12, abs=0.1), 0]  # the grace is 5 s
    armed.clear()
    with bounded(7):  # its lease is the write lock it holds (SQLite): no heartbeat tells how long
        timeouts.prolong(3)
    assert armed == [pytest.approx(12), 0]


def test_the_hard_stop_ends_a_body_that_no_signal_reaches() -> None:
    """C code that never gives the interpreter back: neither an alarm nor a thread would do."""
    script = """
from django.conf import settings
settings.configure(SAGA={"HARD_STOP_GRACE": 0.5})
from saga_app import timeouts
timeouts.hard_stop = True
with timeouts.bounded(0.2):
    sum(range(10**11))
"""
    began = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    assert "Timeout" in ended.stderr
    assert time.monotonic() - began < 20
