"""The testing kit's clock, held by all processes of one test through a file.

Until a test sets or forwards it the real clock is in force everywhere, the database's own included.
"""

from __future__ import annotations

import os

from saga_app import clock as real_clock
from saga_app.testing import Clock
from tests.settings import SCRATCH


class SharedClock(Clock):
    """One for all processes that are forked from this one, before or after it is moved."""

    def __init__(self) -> None:
        self._file = SCRATCH / f"clock-{os.getpid()}.json"
        super().__init__(self._file)

    def look(self) -> None:
        """Go by it from now on, if somebody has moved it."""
        if not self._in_force and self._file.exists():
            self.put_in_force()

    def was_moved(self) -> bool:
        """Somebody has moved it since the test began."""
        return self._file.exists()

    def reset(self) -> None:
        """The real clock is in force again."""
        self._file.unlink(missing_ok=True)
        self._in_force = False
        real_clock.replace(None)


clock = SharedClock()
