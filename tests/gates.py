"""Stops a worker at a chosen place, so that somebody else can act meanwhile, each on connections of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from django.db import connections

PATIENCE = 20.0  # seconds


class Gate:
    """Who comes to it first stops until it is opened; others go through."""

    def __init__(self) -> None:
        self._somebody, self._opened = threading.Event(), threading.Event()

    def __call__(self, *_: Any) -> bool:
        """Stop here. True, so that it can stand for `go_on`."""
        if self._somebody.is_set():
            return True
        self._somebody.set()
        assert self._opened.wait(PATIENCE), "nobody opened the gate"
        return True

    def reached(self) -> None:
        """Wait until somebody is at it."""
        assert self._somebody.wait(PATIENCE), "nobody came to the gate"

    def open(self) -> None:
        """Let them go on."""
        self._opened.set()


@contextmanager
def somebody(does: Callable[[], Any]) -> Iterator[Future[Any]]:
    """Somebody does it at the same time, in a thread; what becomes of it, which is waited for in the end."""

    def work() -> Any:
        try:
            return does()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        yield future
        future.result(PATIENCE)
