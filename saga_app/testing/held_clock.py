"""A clock for tests: it stands still, and moves when it is told to."""

from __future__ import annotations

import fcntl
import json
import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

from saga_app import clock as real_clock

_T = TypeVar("_T")
_SHARED = "SAGA_TEST_CLOCK"


class _State(NamedTuple):
    """Where a Clock stands: `moment` None while time runs; `monotonic` is what it shows, or how far it runs ahead."""

    moment: datetime | None
    monotonic: float


class Clock:
    """A clock to hold in the hand. It runs until `set` or `forward` stop it; `release` lets it run again.

    While it is stopped, all of saga_app goes by it: what is due, when to try again, timestamps, leases. A step that
    waits for its next attempt waits until the clock is moved. Time limits of bodies stay real: the system alarms them.

    Args:
        shared: a file through which all processes hold the same clock; None for this process alone.
    """

    def __init__(self, shared: Path | None = None) -> None:
        self._shared = shared
        self._own = _State(None, 0.0)
        self._lock = threading.RLock()
        self._in_force = False

    def now(self) -> datetime:
        """The moment it shows, aware, in UTC."""
        return self._read().moment or self._real(real_clock.now)

    def set(self, moment: datetime) -> None:
        """Stop at an aware moment, earlier or later than now. Raises ValueError for a naive one."""
        if moment.tzinfo is None:
            raise ValueError(f"{moment!r} is naive: write datetime(…, tzinfo=UTC)")
        self._move(lambda _now: moment.astimezone(UTC))

    def forward(self, by: float | timedelta) -> None:
        """Stop, that many seconds (or a timedelta) later than now. Raises ValueError for less than none."""
        step = by if isinstance(by, timedelta) else timedelta(seconds=by)
        if step < timedelta():
            raise ValueError(f"{by!r} is backwards: use set() to go back")
        self._move(lambda now: now + step)

    def release(self) -> None:
        """Let time run again, from the real moment on."""
        with self._held():
            ahead = max(0.0, self.monotonic() - self._real(real_clock.monotonic))
            self._write(_State(None, ahead))
            if self._shared is None:
                self._in_force = False
                real_clock.replace(None)

    def put_in_force(self) -> None:
        """Let this process go by it, also while time runs: others may stop it."""
        self._in_force = True
        real_clock.replace(self)

    def monotonic(self) -> float:
        """Seconds that never go back, whatever `set` does."""
        state = self._read()
        return state.monotonic if state.moment else self._real(real_clock.monotonic) + state.monotonic

    def sleep(self, seconds: float) -> None:
        """Wait, or move on by that much while it is stopped."""
        if self._read().moment:
            self.forward(timedelta(microseconds=math.ceil(max(0.0, seconds) * 1e6)))  # rounded down, it might not move
        else:
            threading.Event().wait(seconds)

    def _move(self, to: Callable[[datetime], datetime]) -> None:
        with self._held():
            now, monotonic = self.now(), self.monotonic()
            moment = to(now)
            passed = max(0.0, (moment - now).total_seconds())
            self._write(_State(moment, monotonic + passed))
            self.put_in_force()

    def _real(self, read: Callable[[], _T]) -> _T:
        """Ask the real clock, also while this one stands in its place. Only done while time runs: both say the same."""
        with self._lock:
            if not self._in_force:
                return read()
            real_clock.replace(None)
            try:
                return read()
            finally:
                real_clock.replace(self)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Nobody else moves it meanwhile, in this process or another."""
        with self._lock:
            if self._shared is None:
                yield
                return
            with self._shared.with_suffix(".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield

    def _read(self) -> _State:
        if self._shared is None:
            return self._own
        try:
            moment, monotonic = json.loads(self._shared.read_text())
        except FileNotFoundError:
            return _State(None, 0.0)
        return _State(datetime.fromisoformat(moment) if moment else None, monotonic)

    def _write(self, state: _State) -> None:
        if self._shared is None:
            self._own = state
            return
        written = self._shared.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps([state.moment and state.moment.isoformat(), state.monotonic]))
        written.replace(self._shared)  # at once: a reader sees the old or the new


def clock_of_this_process() -> Clock:
    """The clock of this process; where SAGA_TEST_CLOCK names a file, one for all processes, and in force at once."""
    path = os.environ.get(_SHARED)
    if path is None:
        return Clock()
    shared = Clock(Path(path))
    shared.put_in_force()
    return shared
