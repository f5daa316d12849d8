"""What there is of each saga: the code that this process has, the shapes that once ran, and what is open of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from saga_app.core.saga import Saga
from saga_app.queue import schedules
from saga_app.store.shapes import latest, revisions


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of the list.

    Attributes:
        saga: the code of its highest revision; None: this process has none.
        revisions: each with how many executions of it are open, the highest first.
    """

    name: str
    saga: Saga[Any] | None
    revisions: list[tuple[int, int]]
    schedules: int

    @property
    def open(self) -> int:
        """How many executions of any revision are open."""
        return sum(count for _, count in self.revisions)


def listed() -> list[Listed]:
    """All sagas: those of the code, those that once ran, those on a timetable."""
    counts = revisions()
    planned = Counter(one.saga for one in schedules.planned())
    return [
        Listed(
            name,
            latest(name),
            [(number, counts[name, number]) for number in _numbers(name, counts)],
            planned[name],
        )
        for name in sorted({name for name, _ in counts} | planned.keys())
    ]


def _numbers(name: str, known: Iterable[tuple[str, int]]) -> list[int]:
    return sorted((number for each, number in known if each == name), reverse=True)
