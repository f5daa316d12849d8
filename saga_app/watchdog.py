"""Keeps leases alive while user code runs: one thread per process that calls each driver's heartbeat."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connections

from saga_app import timeouts

logger = logging.getLogger("saga_app")


@dataclass(eq=False, slots=True)
class _Watch:
    """One drive that is to be kept alive."""

    beat: Callable[[], bool]
    every: float
    level: int  # how many bodies were running around this drive
    main: bool  # it drives in the main thread, where a body can be interrupted
    over: bool = False


@contextmanager
def watching(beat: Callable[[], bool], every: float) -> Iterator[None]:
    """Call `beat` about every so many seconds while inside, in another thread and on a database connection of its own.

    Args:
        beat: renews the lease; False means that it is lost, and the body that runs is interrupted. That it raised
            says nothing: the next one may succeed.
        every: seconds between two calls.
    """
    main = threading.current_thread() is threading.main_thread()
    watch = _Watch(beat, every, timeouts.depth() if main else 0, main)
    watchdog = _watchdog
    watchdog.add(watch)
    try:
        yield
    finally:
        watchdog.remove(watch)


class Watchdog:
    """The thread and what it watches. It sleeps, without a connection, while there is nothing to watch."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._watches: list[_Watch] = []
        self._thread: threading.Thread | None = None
        self._pause = 0.0  # how long it sleeps now; 0: until there is something to watch
        self._connected = False

    def add(self, watch: _Watch) -> None:
        """Watch it from now on."""
        with self._changed:
            self._watches.append(watch)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="saga-watchdog", daemon=True)
                self._thread.start()
            if not self._pause or watch.every < self._pause:
                self._changed.notify()

    def remove(self, watch: _Watch) -> None:
        """Watch it no longer: no heartbeat of it interrupts anything from now on."""
        with self._changed:
            watch.over = True
            self._watches.remove(watch)
            if self._connected and not self._watches:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                due = self._sleep()
            for watch in due:
                self._beat(watch)
            if not self._watches:
                self._disconnect()

    def _sleep(self) -> list[_Watch]:
        """Wait for the time of the next heartbeats. All beat together: one that comes early does no harm."""
        if not self._watches:
            self._pause = 0.0
            self._changed.wait()
            if not self._watches:
                return []
        self._pause = min(watch.every for watch in self._watches)
        notified = self._changed.wait(self._pause)
        return [] if notified else list(self._watches)

    def _beat(self, watch: _Watch) -> None:
        if watch.over:
            return
        self._connected = True
        try:
            held = watch.beat()
        except Exception:
            logger.warning("A heartbeat failed; the lease is renewed by the next one, or runs out.", exc_info=True)
            self._disconnect()
            return
        with self._changed:
            if held or watch.over:
                return
            if watch.main:
                timeouts.interrupt(watch.level)
                return
        logger.warning("The lease is lost; the step runs on, since only the main thread can be interrupted.")

    def _disconnect(self) -> None:
        if self._connected:
            self._connected = False
            connections.close_all()


_watchdog = Watchdog()


def _forget() -> None:
    """A forked child has neither the thread nor what it watched, and its locks may be held for ever."""
    global _watchdog  # noqa: PLW0603 - the process has one
    _watchdog = Watchdog()


os.register_at_fork(after_in_child=_forget)
