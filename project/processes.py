"""Child processes of the demo and the soak: each leads a group of its own, and ends with all of its group."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType

from django.conf import settings

PATIENCE = 15.0  # seconds a child may take to stop by itself


def interrupt_once() -> None:
    """Let a request to stop raise KeyboardInterrupt, once: whoever is stopping its children is not disturbed again."""
    requests = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup asks to go on without a terminal
        requests.append(signal.SIGHUP)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for number in requests:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in requests:
        signal.signal(number, interrupt)


class Child:
    """One `manage.py` command in the background, its output in a file."""

    def __init__(self, *arguments: str, log: Path, env: Mapping[str, str] | None = None) -> None:
        self.arguments = arguments
        self.log = log
        with log.open("ab") as output:
            # A session of its own: Ctrl-C at the terminal reaches us alone, and we stop it in good order.
            self.process = subprocess.Popen(  # noqa: S603 - our own manage.py
                [sys.executable, "manage.py", *arguments],
                cwd=settings.BASE_DIR,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def group(self) -> int:
        """The id of its process group."""
        return self.process.pid

    def has_ended(self) -> bool:
        """Whether it is gone."""
        return self.process.poll() is not None

    def stop(self) -> None:
        """Ask the child to end, wait, and end what is left of its group."""
        # To the child alone: a cluster whose workers get the signal too never ends.
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
        self.kill()

    def kill(self) -> None:
        """SIGKILL every process of its group, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.group, signal.SIGKILL)
        self.process.wait()

    def last_words(self, lines: int = 15) -> str:
        """The end of its output."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
