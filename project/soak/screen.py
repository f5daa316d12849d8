"""What the soak shows: a bar on stderr while it runs, and a table on stdout when it is over."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping

WIDTH = 30
QUIET_EVERY = 10.0  # seconds between two lines when nobody watches a terminal


class Bar:
    """A progress bar: redrawn in place on a terminal, a line now and then elsewhere."""

    def __init__(self, title: str, total: int) -> None:
        self.title = title
        self.total = total
        self.began = time.monotonic()
        self.drawn = 0.0

    def draw(self, done: int, counts: Mapping[str, int], note: str = "") -> None:
        """Show how many are done, and how many are in which state."""
        is_terminal = sys.stderr.isatty()
        if not is_terminal and done < self.total and time.monotonic() - self.drawn < QUIET_EVERY:
            return
        self.drawn = time.monotonic()
        filled = WIDTH * done // max(self.total, 1)
        states = " ".join(f"{name} {count}" for name, count in sorted(counts.items()) if count)
        seconds = int(time.monotonic() - self.began)
        text = f"{self.title} [{'█' * filled}{'·' * (WIDTH - filled)}] {done}/{self.total} {seconds}s {states} {note}"
        sys.stderr.write(f"\r\x1b[2K{text}" if is_terminal else f"{text}\n")
        sys.stderr.flush()

    def end(self) -> None:
        """Leave the bar where it is and go on below."""
        if sys.stderr.isatty():
            sys.stderr.write("\n")


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Two columns: what, and how much."""
    texts = [(what, str(much)) for what, much in rows]
    left = max(len(what) for what, _ in texts)
    right = max(len(much) for _, much in texts)
    lines = [f"{what:<{left}}  {much:>{right}}" for what, much in texts]
    return "\n".join([title, "─" * max(len(title), left + right + 2), *lines])
