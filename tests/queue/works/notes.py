"""Notes that outlive a killed process: one line each, appended in one go."""

from __future__ import annotations

import os
import time
from pathlib import Path

VARIABLE = "SAGA_TEST_NOTES"


def note(*words: object) -> None:
    """Append a line: what happened, and in which process."""
    line = " ".join(str(word) for word in (*words, os.getpid())) + "\n"
    handle = os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def notes(first: str = "") -> list[list[str]]:
    """Every note, or those that begin with this word."""
    path = Path(os.environ[VARIABLE])
    lines = path.read_text().splitlines() if path.exists() else []
    return [words for words in (line.split() for line in lines) if not first or words[0] == first]


def await_note(first: str, count: int = 1, limit: float = 30) -> list[list[str]]:
    """Wait until there are so many notes that begin with this word."""
    end = time.monotonic() + limit
    while len(found := notes(first)) < count:
        assert time.monotonic() < end, f"{first} was noted {len(found)} times: {notes()}"
        time.sleep(0.02)
    return found
