"""Whether a process is still the one that is meant: a number alone may have been given to another."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """A process of this machine, by its number and the moment it started (0: the system does not say)."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Process:
        """The process that has this number now."""
        return cls(pid, _look(pid)[1])

    def is_alive(self) -> bool:
        """It runs: it has not ended, and its number is not another's."""
        state, started = _look(self.pid)
        return state not in "XZ" and started == self.started


def me() -> str:
    """This process among those of all machines, as `host:pid`."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _look(pid: int) -> tuple[str, int]:
    """The state of a process as one letter (X: there is none, Z: ended and not yet waited for), and its start."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _ask(pid), 0
    fields = stat.rpartition(")")[2].split()  # the name before may contain anything
    return fields[0], int(fields[19])


def _ask(pid: int) -> str:
    """The same where /proc says nothing."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return "X"
    except PermissionError:
        pass
    return "?"
