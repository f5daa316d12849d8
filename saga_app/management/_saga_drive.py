"""`manage.py saga drain`: drive what is due in this process, and say how far it is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import translation

from saga_app import batches, clock, executor, messages
from saga_app.management._saga_read import say, say_json
from saga_app.models import Execution
from saga_app.queue.processes import me
from saga_app.store import transactions

PROGRESS_EVERY = 1.0  # seconds


class _Stop:
    """Whether somebody asked to stop: Ctrl-C or SIGTERM. The first is heard between two steps, the second at once."""

    asked = False

    def hear(self, number: int, _frame: FrameType | None) -> None:
        self.asked = True
        signal.signal(number, signal.SIG_DFL)


def drain(command: BaseCommand, options: dict[str, Any]) -> None:
    """Drive until nothing is due. What waits for a later time is left waiting."""
    claims = 0
    with _listening() as stop:
        told = clock.monotonic()
        while not stop.asked and _drive_one(lambda: not stop.asked):
            claims += 1
            if clock.monotonic() - told >= PROGRESS_EVERY:
                told = clock.monotonic()
                _progress(command, claims)
    rows = Execution.objects.using(transactions.alias())
    left = rows.count_by_status()
    if options["json"]:
        say_json(command, {"claims": claims, "stopped": stop.asked, "open": left})
        return
    with translation.override(None):  # commands are English
        still = ", ".join(f"{count} {messages.status_word(status)}" for status, count in sorted(left.items())) or "none"
    say(
        command,
        f"{'Stopped' if stop.asked else 'Nothing is due any more'} after {claims} claims. Open executions: {still}.",
    )


def _drive_one(go_on: Callable[[], bool]) -> bool:
    """Steps first: whoever drives alone calls all that wait before their execution looks at what they told."""
    if executor.drive_step(None, holder=me()) or executor.drive(None, holder=me(), go_on=go_on):
        return True
    return batches.drive_next(holder=me(), go_on=go_on) > 0


def _progress(command: BaseCommand, claims: int) -> None:
    """To standard error, so that what a program reads stays one JSON value."""
    due = Execution.objects.using(transactions.alias()).due().count()
    command.stderr.write(f"{claims} claims so far, {due} due", style_func=str)


@contextmanager
def _listening() -> Iterator[_Stop]:
    """Hear Ctrl-C and SIGTERM, in the main thread; elsewhere there is nothing to hear."""
    stop = _Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    heard = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, stop.hear) for number in heard}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
